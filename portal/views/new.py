"""The form of a new job: fill in, check, review, keep as a draft, submit.

One idea: one address and one POST; `action` says what the button wanted. With htmx an action answers with its fragment,
without JavaScript with the whole page, and what was typed is kept in either case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs import lifecycle, stored
from jobs.models import AuditEntry, SoftwareVersion, Workload
from portal import samples
from portal.forms import InputRow, JobForm, fixes, read_inputs, usual
from portal.forms import draft as drafts
from portal.forms.job import check_inputs, fresh, new_key, rows_of
from portal.forms.walltime import say
from portal.presenters import cards, review

from . import taking
from .access import address, job_changed, may_make

PICKS = 50


@dataclass
class Filled:
    """The form as it stands in one request."""

    form: JobForm
    inputs: list[InputRow]
    draft: Workload | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return self.form.is_valid() and not any(row.error for row in self.inputs) and not self.notes


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, _first(request))
    may_make(request)
    filled = _read(request)
    action = request.POST.get("action", "submit")
    if filled.draft and filled.draft.status != lifecycle.DRAFT:
        if action in ("submit", "draft"):
            return _again(request, filled, filled.draft)
        filled.draft = None  # nothing is saved
    if action == "check":
        return _check(request, filled)
    if action in ("submit", "draft"):
        return _save(request, filled, action)
    if action == "review" and request.htmx:  # type: ignore[attr-defined]
        filled.form.is_valid()
        return render(request, "jobs/_review.html", {"review": review.review(filled.form, filled.inputs)})
    if action.startswith("fix:"):
        return _fix(request, filled, action.removeprefix("fix:"))
    if action.startswith("remove:"):
        filled.inputs = [row for row in filled.inputs if row.key != action.removeprefix("remove:")]
    return _page(request, filled)


@login_required
@require_safe
def new_input(request: HttpRequest) -> HttpResponse:
    """The row of one file, for a page that has just uploaded or picked it."""
    found = stored.files_of(request.user)
    if "upload" in request.GET:
        file = get_object_or_404(found, upload__public_id=request.GET["upload"], upload__owner=request.user)
    else:
        file = get_object_or_404(found, public_id=request.GET.get("file", ""))
    return render(request, "jobs/_input.html", {"row": fresh(file)})


@login_required
@require_POST
def sample(request: HttpRequest) -> HttpResponse:
    """A draft of the built-in sample, opened in the form."""
    version = SoftwareVersion.objects.filter(software__code="shell", software__active=True).first()
    kind = usual.hardware(request.user)
    if version is None or kind is None:
        messages.error(request, "There is no hardware or no shell in the catalogue yet; an admin can add them.")
        return redirect("jobs")
    draft = samples.plate(request.user, version, kind)
    return redirect(f"{reverse('job-new')}?draft={draft.public_id}")


# --- private: reading -------------------------------------------------------------------------------------------------
def _first(request: HttpRequest) -> Filled:
    """The form of a GET: empty, or a draft."""
    if request.GET.get("draft"):
        draft = job_changed(request, request.GET["draft"])
        if draft.status == lifecycle.DRAFT:
            initial = drafts.initial_of(draft)
            return Filled(JobForm(request.user, initial={**initial, "key": initial["key"] or new_key()}), rows_of(draft.job), draft)
    version, kind, project = usual.software(), usual.hardware(request.user), usual.project(request.user)
    initial = {"nodes": 1, "pipefail": True, "key": new_key(), "coretype": kind and kind.pk, "software": version and version.pk}
    initial["walltime"] = say(kind.walltime_default) if kind else "1 h"
    initial["command"] = (version.command or version.software.command) if version else ""
    picked = stored.files_of(request.user).filter(public_id__in=request.GET.getlist("file"))
    return Filled(JobForm(request.user, initial={**initial, "project": project and project.pk}), [fresh(file) for file in picked])


def _read(request: HttpRequest) -> Filled:
    """The form of a POST, with the files that came along or were picked from My files."""
    draft = _draft(request)
    allowed = [use.file for use in draft.job.inputs.select_related("file")] if draft else []
    rows = read_inputs(request.POST, request.user, allowed)
    filled = Filled(JobForm(request.user, request.POST), rows, draft)
    known = {row.key for row in rows}
    if gone := [key for key in request.POST.getlist("input") if key not in known]:
        named = ", ".join(dict.fromkeys(request.POST.get(f"path-{key}", key)[:80] for key in gone[:5]))
        filled.notes.append(f"No longer among your files: {named}. Upload it again, or go on without it.")
    picks = [pick for pick in request.POST.getlist("pick") if pick and pick not in known]
    rows += [fresh(file) for file in stored.files_of(request.user).filter(public_id__in=picks)]
    for sent in request.FILES.getlist("upload"):
        _take(request, sent, filled)
    check_inputs(rows)
    return filled


def _draft(request: HttpRequest) -> Workload | None:
    if request.POST.get("draft"):
        return job_changed(request, request.POST["draft"])
    key = request.POST.get("key", "")[:80]
    return Workload.objects.filter(owner=request.user, submit_key=key).first() if key else None  # type: ignore[misc]


def _take(request: HttpRequest, sent: Any, filled: Filled) -> None:
    """A file that a form without JavaScript brought."""
    try:
        filled.inputs.append(fresh(taking.keep(request, sent)))
    except ValidationError as error:
        filled.notes.append(error.messages[0])


# --- private: answering -----------------------------------------------------------------------------------------------
def _check(request: HttpRequest, filled: Filled) -> HttpResponse:
    """The checks of Validating Input, now."""
    context: dict[str, Any] = {"checked": filled.good}
    if filled.good:
        context["findings"] = cards.finding_rows(drafts.findings(filled.form, filled.inputs))
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "jobs/_check.html", {**context, "form": filled.form, "inputs": filled.inputs})
    return _page(request, filled, **context)


def _fix(request: HttpRequest, filled: Filled, asked: str) -> HttpResponse:
    """Mend one finding, then check again."""
    code, _, name = asked.partition(cards.FIX_SIGN)
    trouble = fixes.apply(code, name, filled.inputs, request.user)
    check_inputs(filled.inputs)
    if trouble:
        filled.notes.append(trouble)
    return _check(request, filled)


def _save(request: HttpRequest, filled: Filled, action: str) -> HttpResponse:
    if not filled.good:
        return _page(request, filled, status=422)
    key = filled.form.cleaned_data.get("key", "")
    try:
        with transaction.atomic():
            work = drafts.save(filled.form, filled.inputs, filled.draft, key)
            if action == "submit" and work.submit(request.user):
                AuditEntry.note(request.user, "submit", work, address(request), id=work.public_id)
    except IntegrityError:
        work = get_object_or_404(Workload, owner=request.user, submit_key=key)
    if action == "draft":
        messages.success(request, "Kept as a draft; nothing is spent.")
    return redirect("job", work.public_id)


def _again(request: HttpRequest, filled: Filled, sent: Workload) -> HttpResponse:
    """What was submitted already, in another tab or by a second click: its page, unless something else is asked for now."""
    if filled.good and drafts.same(filled.form, filled.inputs, sent):
        return redirect("job", sent.public_id)
    text = "{} was submitted already, as it was then. What you typed is below, as a job of its own."
    filled.notes.append(format_html(text, format_html('<a href="{}">{}</a>', reverse("job", args=[sent.public_id]), sent.name)))
    data = request.POST.copy()
    data["key"] = new_key()
    filled.form, filled.draft = JobForm(request.user, data), None
    return _page(request, filled, status=409)


def _page(request: HttpRequest, filled: Filled, status: int = 200, **more: Any) -> HttpResponse:
    picked = {row.key for row in filled.inputs}
    mine = stored.files_of(request.user)[:PICKS]
    if filled.form.is_bound:
        filled.form.is_valid()
    context = {
        "form": filled.form,
        "inputs": filled.inputs,
        "draft": filled.draft,
        "notes": filled.notes,
        "cards": review.cards(filled.form),
        "economy": review.economy(filled.form),
        "review": review.review(filled.form, filled.inputs) if filled.form.is_bound else _unsent(request, filled),
        "mine": [file for file in mine if file.public_id not in picked],
        "chunk": settings.UPLOAD_CHUNK,
        **more,
    }
    return render(request, "jobs/new.html", context, status=status)


def _unsent(request: HttpRequest, filled: Filled) -> review.Review:
    """The review of a form that was not posted yet: its first values, checked as if they were, without their messages."""
    values = {name: value for name, value in filled.form.initial.items() if value not in (None, "", False)}
    tried = JobForm(request.user, values)  # type: ignore[arg-type]
    tried.is_valid()
    tried.errors.clear()
    return review.review(tried, filled.inputs)


urlpatterns = [
    path("new/", new, name="job-new"),
    path("new/input/", new_input, name="job-new-input"),
    path("sample/", sample, name="job-sample"),
]

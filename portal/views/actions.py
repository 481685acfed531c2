"""What people do with a job: submit, stop, clone, resubmit, archive, delete. By POST only, each written to the audit log."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_POST

from jobs import lifecycle
from jobs.models import AuditEntry, Workload
from portal import removal
from portal.presenters import questions
from portal.presenters.facts import Facts

from .access import address, job_changed, job_seen
from .asking import ask, went


@login_required
@require_POST
def submit(request: HttpRequest, public_id: str) -> HttpResponse:
    work = job_changed(request, public_id)
    with transaction.atomic():
        if work.status == lifecycle.DRAFT and work.submit(request.user):
            AuditEntry.note(request.user, "submit", work, address(request), id=work.public_id)
    return went(request, reverse("job", args=[public_id]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, public_id: str) -> HttpResponse:
    """GET asks, POST does. With force=1 nothing more is saved."""
    work = job_changed(request, public_id)
    force = request.POST.get("force", request.GET.get("force")) == "1"
    if request.method != "POST":
        if not work.is_active:
            return redirect("job", public_id)
        return ask(request, questions.stop(Facts(work), force))
    with transaction.atomic():
        if work.stop(request.user, force=force):
            AuditEntry.note(request.user, "force stop" if force else "stop", work, address(request), id=work.public_id)
        else:
            messages.info(request, "It was stopping already." if work.is_active else "It was over already; nothing was changed.")
    return went(request, reverse("job", args=[public_id]))


@login_required
@require_POST
def clone(request: HttpRequest, public_id: str) -> HttpResponse:
    """A draft that asks for the same, opened in the form."""
    draft = _copy(request, job_seen(request, public_id), "clone")
    return went(request, f"{reverse('job-new')}?draft={draft.public_id}")


@login_required
@require_POST
def resubmit(request: HttpRequest, public_id: str) -> HttpResponse:
    """The same once more, at once. Two clicks are one job."""
    work = job_seen(request, public_id)
    key = request.POST.get("key", "")[:80]
    made = Workload.objects.filter(owner=request.user, submit_key=key).first() if key else None
    if made is None:
        try:
            made = _copy(request, work, "resubmit", key)
        except IntegrityError:
            made = Workload.objects.get(owner=request.user, submit_key=key)
    return went(request, reverse("job", args=[made.public_id]))


@login_required
@require_POST
def archive(request: HttpRequest, public_id: str) -> HttpResponse:
    work = job_changed(request, public_id)
    archived = request.POST.get("archived", "1") == "1"
    if work.is_active:
        messages.warning(request, "A job that is not over can't be archived.")
        return went(request, reverse("job", args=[public_id]))
    with transaction.atomic():
        work.archive(request.user, archived)
        AuditEntry.note(request.user, "archive" if archived else "unarchive", work, address(request), id=work.public_id)
    messages.success(request, f"{work.name} is in the archive." if archived else f"{work.name} is back in the list.")
    return went(request, reverse("jobs"))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    """Job, outputs and logs go; what it cost and who did it stay."""
    work = job_changed(request, public_id)
    if work.is_active:
        messages.warning(request, "A job that is not over can't be deleted; stop it first.")
        return redirect("job", public_id)
    if request.method != "POST":
        return ask(request, questions.delete(Facts(work)))
    name = work.name
    removal.delete(work, request.user, address(request))
    messages.success(request, f"{name} was deleted. What it cost stays in the ledger.")
    return went(request, reverse("jobs"))


# --- private ----------------------------------------------------------------------------------------------------------
def _copy(request: HttpRequest, work: Workload, action: str, key: str = "") -> Workload:
    with transaction.atomic():
        draft = work.clone(request.user)
        if key:
            Workload.objects.filter(pk=draft.pk).update(submit_key=key)
        if action == "resubmit":
            draft.submit(request.user)
        AuditEntry.note(request.user, action, work, address(request), id=work.public_id, made=draft.public_id)
    return draft


urlpatterns = [
    path("<str:public_id>/submit/", submit, name="job-submit"),
    path("<str:public_id>/stop/", stop, name="job-stop"),
    path("<str:public_id>/clone/", clone, name="job-clone"),
    path("<str:public_id>/resubmit/", resubmit, name="job-resubmit"),
    path("<str:public_id>/archive/", archive, name="job-archive"),
    path("<str:public_id>/delete/", delete, name="job-delete"),
]

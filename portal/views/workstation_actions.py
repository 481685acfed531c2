"""What people do with a workstation: start, suspend, resume, end, keep on, clone, delete. By POST only, each in the audit log.

A verb that makes no sense now changes nothing and says why, in the words of the domain.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from jobs import lifecycle
from jobs.models import AuditEntry, Workload
from portal import removal
from portal.numbers import whole
from portal.presenters.workstations import questions
from portal.presenters.workstations.facts import WorkstationFacts

from .access import address, workstation_changed, workstation_seen
from .asking import ask, went

LONGEST_KEEP = 24 * 90


@login_required
@require_POST
def submit(request: HttpRequest, public_id: str) -> HttpResponse:
    work = workstation_changed(request, public_id)
    return _done(request, work, "start workstation", lambda: "" if work.submit(request.user) else "It was started already.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def suspend(request: HttpRequest, public_id: str) -> HttpResponse:
    work = workstation_changed(request, public_id)
    if request.method != "POST":
        if why := work.workstation.can_suspend:
            return _told(request, work, why)
        return ask(request, questions.suspend(WorkstationFacts(work)))
    return _done(request, work, "suspend", lambda: work.workstation.suspend(request.user))


@login_required
@require_POST
def resume(request: HttpRequest, public_id: str) -> HttpResponse:
    work = workstation_changed(request, public_id)
    return _done(request, work, "resume", lambda: work.workstation.resume(request.user))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, public_id: str) -> HttpResponse:
    """GET asks, POST does. With force=1 nothing more is saved."""
    work = workstation_changed(request, public_id)
    force = request.POST.get("force", request.GET.get("force")) == "1"
    if request.method != "POST":
        if work.status in (lifecycle.DRAFT, *lifecycle.REST_CODES):
            return redirect("workstation", public_id)
        return ask(request, questions.end(WorkstationFacts(work), force))
    verb = "force stop" if force else "stop"
    return _done(request, work, verb, lambda: work.workstation.stop(request.user, force=force))


@login_required
@require_POST
def keep(request: HttpRequest, public_id: str) -> HttpResponse:
    """Not suspended for being idle for so many hours from now; hours=0 takes that back."""
    work = workstation_changed(request, public_id)
    hours = min(whole(request.POST.get("hours", "")) or 0, LONGEST_KEEP)
    until = timezone.now() + timedelta(hours=hours) if hours else None
    return _done(request, work, "keep", lambda: work.workstation.keep(request.user, until), hours=hours)


@login_required
@require_POST
def stay(request: HttpRequest, public_id: str) -> HttpResponse:
    """Somebody is here: the time without work begins anew."""
    work = workstation_changed(request, public_id)
    return _done(request, work, "stay", lambda: work.workstation.stay(request.user))


@login_required
@require_POST
def clone(request: HttpRequest, public_id: str) -> HttpResponse:
    """A draft of the same kind on the same hardware, with a home of its own."""
    work = workstation_seen(request, public_id)
    with transaction.atomic():
        draft = work.clone(request.user)
        AuditEntry.note(request.user, "clone", work, address(request), id=work.public_id, made=draft.public_id)
    return went(request, reverse("workstation", args=[draft.public_id]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    """The workstation, its home and its logs go; what it cost and who did it stay."""
    work = workstation_changed(request, public_id)
    if work.status not in (lifecycle.DRAFT, *lifecycle.REST_CODES):
        return _told(request, work, "One that is not over can't be deleted; end it first.")
    if request.method != "POST":
        return ask(request, questions.delete(WorkstationFacts(work)))
    name = work.name
    removal.delete(work, request.user, address(request))
    messages.success(request, f"{name} was deleted. What it cost stays in the ledger.")
    return went(request, reverse("workstations"))


# --- private ----------------------------------------------------------------------------------------------------------
def _done(request: HttpRequest, work: Workload, verb: str, act: Callable[[], str], **more: Any) -> HttpResponse:
    """Do it and write it down, or say why not; back to its page in either case.

    A resume tries again while the engine looks at the row, so it must hold no lock meanwhile.
    """
    with nullcontext() if verb == "resume" else transaction.atomic():
        why = act()
        if not why:
            AuditEntry.note(request.user, verb, work, address(request), id=work.public_id, **more)
    return _told(request, work, why) if why else went(request, _back(request, work))


def _told(request: HttpRequest, work: Workload, why: str) -> HttpResponse:
    messages.warning(request, why)
    return went(request, _back(request, work))


def _back(request: HttpRequest, work: Workload) -> str:
    """To its page; to the list for who came from there."""
    if request.POST.get("back") == "list":
        return reverse("workstations")
    return reverse("workstation", args=[work.public_id])


urlpatterns = [
    path("<str:public_id>/submit/", submit, name="workstation-submit"),
    path("<str:public_id>/suspend/", suspend, name="workstation-suspend"),
    path("<str:public_id>/resume/", resume, name="workstation-resume"),
    path("<str:public_id>/stop/", stop, name="workstation-stop"),
    path("<str:public_id>/keep/", keep, name="workstation-keep"),
    path("<str:public_id>/stay/", stay, name="workstation-stay"),
    path("<str:public_id>/clone/", clone, name="workstation-clone"),
    path("<str:public_id>/delete/", delete, name="workstation-delete"),
]

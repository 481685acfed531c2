"""Workstations: create, list, read, suspend, resume, stop, keep on, share, delete.

A verb that makes no sense now changes nothing and is answered with 409 and the reason in words.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone
from ninja import Body, Query, Router, Status
from ninja.errors import HttpError

from jobs import lifecycle
from jobs.models import AuditEntry, Coretype, Workload, Workstation, WorkstationKind
from portal import removal

from . import making
from .auth import address_of
from .moments import when
from .once import once
from .paging import Paging, listed, page
from .schemas import KeepIn, StationIn, StationShareIn, StopIn
from .shapes import Page, answers
from .shapes.workstations import Done, KindOut, ShareMade, WorkstationOut, WorkstationShort
from .stations import kind_shown, short, whole

router = Router(tags=["workstations"])
AFTER_IT: Any = Body(None)
RELATED = ("owner", "project", "coretype", "workstation__kind")


# --- reading ----------------------------------------------------------------------------------------------------------
@router.get("/workstation-kinds/", response=answers(Page[KindOut]), summary="Kinds of workstations that the caller may have")
def kinds(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    rows = list(WorkstationKind.objects.offered_to(request.user).prefetch_related("coretypes"))
    offered = list(Coretype.objects.offered_to(request.user))
    return listed(request, paging, rows, lambda kind: kind_shown(kind, offered))


@router.get("/workstations/", response=answers(Page[WorkstationShort]), summary="Workstations that one may see, newest first")
def workstations(request: HttpRequest, paging: Query[Paging], status: str = "", search: str = "") -> dict[str, Any]:
    """`status` is one of the words that answers have; `search` looks into names."""
    rows = _seen(request).filter(archived=False)
    if status:
        rows = rows.filter(status__in=_codes(status))
    if search:
        rows = rows.filter(name__icontains=search)
    return page(request, paging, rows, short)


@router.get("/workstations/{station_id}/", response=answers(WorkstationOut, 404), summary="One workstation, whole")
def workstation(request: HttpRequest, station_id: str) -> dict[str, Any]:
    return whole(visible(request, station_id), request)


# --- what one does with it --------------------------------------------------------------------------------------------
@router.post("/workstations/", response=answers(WorkstationOut, 403, 422, status=201), summary="Create one and start it")
def create(request: HttpRequest, payload: StationIn) -> Status:
    """With `start` false it stays a draft. With the header `Idempotency-Key` a repeat makes no second one."""
    public_id = once(request, "create workstation", lambda: _make(request, payload))
    return Status(201, whole(visible(request, public_id), request))


@router.post("/workstations/{station_id}/start/", response=answers(Done, 403, 404, 409), summary="Start a draft")
def start(request: HttpRequest, station_id: str) -> dict[str, Any]:
    work = _changeable(request, station_id)
    return _done(request, work, "start workstation", lambda: "" if work.submit(request.user) else "It was started before.")


@router.post("/workstations/{station_id}/suspend/", response=answers(Done, 403, 404, 409, status=202), summary="Save the home and pause")
def suspend(request: HttpRequest, station_id: str) -> Status:
    work = _changeable(request, station_id)
    return Status(202, _done(request, work, "suspend", lambda: work.workstation.suspend(request.user)))


@router.post(
    "/workstations/{station_id}/resume/", response=answers(Done, 403, 404, 409, status=202), summary="Start it again with its home"
)
def resume(request: HttpRequest, station_id: str) -> Status:
    work = _changeable(request, station_id)
    return Status(202, _done(request, work, "resume", lambda: work.workstation.resume(request.user)))


@router.post("/workstations/{station_id}/stop/", response=answers(Done, 403, 404, 409, status=202), summary="End it for good")
def stop(request: HttpRequest, station_id: str, payload: StopIn | None = AFTER_IT) -> Status:
    """The home is saved before; with `force` nothing is. A suspended one ends without being resumed."""
    work, force = _changeable(request, station_id), bool(payload and payload.force)
    verb = "force stop" if force else "stop"
    return Status(202, _done(request, work, verb, lambda: work.workstation.stop(request.user, force=force)))


@router.post("/workstations/{station_id}/keep/", response=answers(Done, 403, 404, 409), summary="Not suspended for being idle, for so long")
def keep(request: HttpRequest, station_id: str, payload: KeepIn) -> dict[str, Any]:
    """For `hours` from now, within the limit of its kind; 0 takes that back."""
    work = _changeable(request, station_id)
    until = timezone.now() + timedelta(hours=payload.hours) if payload.hours else None
    return _done(request, work, "keep on", lambda: work.workstation.keep(request.user, until), hours=payload.hours)


@router.post("/workstations/{station_id}/share/", response=answers(ShareMade, 403, 404, 409, status=201), summary="A link for looking only")
def share(request: HttpRequest, station_id: str, payload: StationShareIn) -> Status:
    work, now = _changeable(request, station_id), timezone.now()
    if work.status in (lifecycle.DRAFT, *lifecycle.REST_CODES):
        raise HttpError(409, f"There is nothing to look at: it is {work.row.label}.")
    expires = now + timedelta(hours=payload.hours)
    with transaction.atomic():
        token = work.workstation.share(request.user, expires, signed_in=payload.signedIn, now=now)
        AuditEntry.note(
            request.user, "share", work, address_of(request), id=work.public_id, hours=payload.hours, anyone=not payload.signedIn
        )
    url = request.build_absolute_uri(reverse("workstation-shared", args=[token]))
    return Status(201, {"url": url, "expires": when(expires)})


@router.delete(
    "/workstations/{station_id}/", response=answers(None, 403, 404, 409, status=204), summary="Delete one that is over or a draft"
)
def delete(request: HttpRequest, station_id: str) -> Status:
    """With every copy of its home. 409 before it is stopped."""
    work = _changeable(request, station_id)
    try:
        removal.delete(work, request.user, address_of(request))
    except ValueError:
        raise HttpError(409, f"It is {work.row.label}; stop it first.") from None
    return Status(204, None)


# --- private ----------------------------------------------------------------------------------------------------------
def _make(request: HttpRequest, asked: StationIn) -> str:
    """Raises ValidationError with the field to blame."""
    user: Any = request.user
    kind = WorkstationKind.objects.offered_to(user).filter(code=asked.kind).first()
    coretype = Coretype.objects.offered_to(user).filter(code=asked.coreType).first()
    if kind is None:
        raise ValidationError({"kind": [f"There is no kind {asked.kind} that you may have."]})
    if coretype is None:
        raise ValidationError({"coreType": [f"There is no coretype {asked.coreType} that you may use."]})
    if why := kind.refuses(user, coretype):
        raise ValidationError({"coreType": [why]})
    cores = asked.cores or coretype.cores
    if cores > coretype.cores:
        raise ValidationError({"cores": [f"A node of {coretype} has {coretype.cores} cores."]})
    named = {"name": making.title_of(asked.name), "description": asked.description, "project": making.project_of(user, asked.projectId)}
    work = Workstation.make(user, kind, coretype, cores=cores, **named).workload
    if asked.start:
        work.submit(user)
        AuditEntry.note(user, "start workstation", work, address_of(request), id=work.public_id)
    return work.public_id


def _done(request: HttpRequest, work: Workload, verb: str, deed: Callable[[], str], **detail: Any) -> dict[str, Any]:
    """Do it, with its line in the audit log. Raises HttpError(409) with the reason why not."""
    with transaction.atomic():
        if why := deed():
            raise HttpError(409, why)
        AuditEntry.note(request.user, verb, work, address_of(request), id=work.public_id, **detail)
    now = Workload.objects.get(pk=work.pk)
    return {"id": now.public_id, "status": now.row.label, "wish": now.wish}


def _seen(request: HttpRequest) -> QuerySet[Workload]:
    return Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.WORKSTATION).select_related(*RELATED)


def visible(request: HttpRequest, public_id: str) -> Workload:
    """Raises Http404."""
    work = _seen(request).filter(public_id=public_id).first()
    if work is None:
        raise Http404("There is no such workstation.")
    return work


def _changeable(request: HttpRequest, public_id: str) -> Workload:
    work = visible(request, public_id)
    if not work.may_change(request.user):
        raise HttpError(403, "Only its owner, a lead of its project or an admin may do that.")
    return work


def _codes(word: str) -> list[str]:
    codes = [row.code for row in lifecycle.WORKSTATION.rows.values() if row.label.lower() == word.replace("_", " ").strip().lower()]
    if not codes:
        raise HttpError(400, f"status is one of {', '.join(row.label for row in lifecycle.WORKSTATION.rows.values())}.")
    return codes

"""Jobs: create, list, read, change, delete, submit, stop, clone, share, statuses."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Body, Query, Router, Status
from ninja.errors import HttpError

from jobs import lifecycle, scheduling, stored
from jobs.lifecycle import Wish
from jobs.models import AuditEntry, Workload
from portal import removal

from . import kept, making, statuses
from .auth import address_of
from .found import changeable, gather, glimpsed, in_short, listed, visible
from .moments import when
from .once import once
from .paging import Paging, page
from .paging import whole as given_whole
from .schemas import AssignIn, JobIn, JobPatch, ShareIn, StopIn
from .shapes import ClusterStatus, GateOut, JobOut, JobShort, Page, ProjectOut, Shared, StatusOut, StopAsked, Submitted, answers
from .showing import short, whole

router = Router(tags=["jobs"])
AFTER_IT: Any = Body(None)
histories = kept.Kept()


# --- lists ------------------------------------------------------------------------------------------------------------
@router.get("/jobs/", response=answers(Page[JobShort]), summary="Jobs that one may see, newest first")
def jobs(
    request: HttpRequest,
    paging: Query[Paging],
    state: Literal["completed", "not_completed"] | None = None,
    job_status: str = "",
    search: str = "",
    tag: str = "",
) -> HttpResponse:
    """`job_status` is one of the words of `statuses`, as COMPLETED or Waiting for Queue; `search` looks into names."""
    rows = listed(request).filter(archived=False)
    if state:
        rows = rows.filter(status__in=lifecycle.REST_CODES) if state == "completed" else rows.exclude(status__in=lifecycle.REST_CODES)
    if job_status:
        rows = _of_status(rows, job_status)
    if search:
        rows = rows.filter(name__icontains=search)
    if tag:
        rows = rows.filter(job__tags__normalized=tag.strip().casefold())
    found = page(request, paging, rows, short, gather)
    return kept.sent(Page[JobShort].model_validate(found).model_dump_json().encode())  # at once, not by way of dicts


def _of_status(rows: QuerySet[Workload], word: str) -> QuerySet[Workload]:
    """Those whose newest status has this name."""
    name = word.replace("_", " ").strip().lower()
    stopping = Q(status__in=lifecycle.ACTIVE_CODES, wish=Wish.STOP)
    force = Q(status__in=lifecycle.ACTIVE_CODES, wish=Wish.FORCE_STOP)
    fails = Q(status=lifecycle.STOPPING, reason__in=[code for code in lifecycle.ENDINGS if statuses.fails(code)])
    ending = stopping | force | fails
    known = {
        "pending": Q(status=lifecycle.DRAFT),
        "waiting for queue": Q(pk__in=[]),
        "waiting for cluster": Q(pk__in=[]),
        "stopping": stopping | (fails & ~force),
        "force stop": force,
        "completed": Q(status__in=lifecycle.REST_CODES),
        **{label.lower(): Q(status=code) & ~ending for code, label in statuses.WORDS.items()},
        "executing": Q(status__in=[lifecycle.RUNNING, lifecycle.STOPPING]) & ~ending,
    }
    if name not in known:
        raise HttpError(400, f"job_status is one of {', '.join(sorted(known))}.")
    return rows.filter(known[name])


# --- one job ----------------------------------------------------------------------------------------------------------
@router.post("/jobs/", response=answers(JobOut, 403, 422, status=201), summary="Create a draft")
def create(request: HttpRequest, payload: JobIn) -> Status:
    """With the header `Idempotency-Key` a repeat makes no second job and gets the same answer; with another body 422."""
    made: list[Workload] = []

    def deed() -> str:
        made.append(making.make(request.user, payload))
        return made[0].public_id

    public_id = once(request, "create", deed)
    return Status(201, whole(making.just_made(made[0]) if made else visible(request, public_id), request))


@router.get("/jobs/{job_id}/", response=answers(JobOut, 404), summary="One job, whole")
def job(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return whole(visible(request, job_id), request)


@router.patch("/jobs/{job_id}/", response=answers(JobOut, 403, 404, 409), summary="Rename or describe a job; change a draft")
def change(request: HttpRequest, job_id: str, payload: JobPatch) -> dict[str, Any]:
    """Command, hardware, inputs, project and priority are those of a draft only: 409 for a job that was submitted."""
    work = changeable(request, job_id)
    fields, fixed = _changed(request, work, payload)
    if work.status != lifecycle.DRAFT and fixed:
        raise HttpError(409, f"It was submitted; only a draft can change its {' and '.join(fixed)}. Clone it to run it differently.")
    with transaction.atomic():
        if fields:
            Workload.objects.filter(pk=work.pk).update(**fields)
        if payload.description is not None:
            type(work.job).objects.filter(pk=work.pk).update(description=payload.description)
        if payload.jobanalyses and work.status == lifecycle.DRAFT:
            making.remake(work, payload.jobanalyses[0], request.user)
        AuditEntry.note(request.user, "change", work, address_of(request), id=work.public_id, changed=sorted(payload.model_fields_set))
    return whole(visible(request, job_id), request)


@router.put("/jobs/{job_id}/", response=answers(JobOut, 403, 404, 409), summary="The same as PATCH")
def put(request: HttpRequest, job_id: str, payload: JobPatch) -> dict[str, Any]:
    return change(request, job_id, payload)


def _changed(request: HttpRequest, work: Workload, asked: JobPatch) -> tuple[dict[str, Any], list[str]]:
    """New values of the row, and what of them only a draft may change."""
    fields: dict[str, Any] = {}
    fixed = []
    if asked.name is not None:
        fields["name"] = making.title_of(asked.name)
    if asked.projectId is not None and asked.projectId != (work.project.code if work.project else None):
        fields["project"] = making.project_of(request.user, asked.projectId)
        fixed.append("project")
    if asked.isLowPriority is not None and (economy := making.offered(work.coretype, asked.isLowPriority)) != work.economy:
        fields["economy"] = economy
        fixed.append("priority")
    if asked.jobanalyses and work.status != lifecycle.DRAFT and asked.jobanalyses[0].command != work.job.command:
        fixed.append("command")
    return fields, fixed


@router.post("/organizations/{org}/jobs/{job_id}/project-assignment/", response=answers(ProjectOut, 403, 404, 409), summary="Move a draft")
def assign(request: HttpRequest, org: str, job_id: str, payload: AssignIn) -> dict[str, Any]:
    changed = change(request, job_id, JobPatch(projectId=payload.projectId))
    return {"id": changed["projectId"], "name": visible(request, job_id).project.name}  # type: ignore[union-attr]


@router.delete("/jobs/{job_id}/", response=answers(None, 403, 404, 409, status=204), summary="Delete a job that is over, or a draft")
def delete(request: HttpRequest, job_id: str, deleteInputFiles: bool = False) -> Status:
    """With `deleteInputFiles` those inputs go too that no other job uses. 409 while it runs: stop it first."""
    work = changeable(request, job_id)
    inputs = list(stored.files_of(request.user).filter(uses__job=work.job).distinct())
    try:
        removal.delete(work, request.user, address_of(request))
    except ValueError:
        raise HttpError(409, f"It is in {work.row.label}; stop it first.") from None
    for file in inputs if deleteInputFiles else []:
        if not file.uses.exists():
            stored.delete(file, timezone.now())
    return Status(204, None)


# --- what one does with it --------------------------------------------------------------------------------------------
@router.post("/jobs/{job_id}/submit/", response=answers(Submitted, 403, 404, 409, 422), summary="Submit a draft")
def submit(request: HttpRequest, job_id: str) -> dict[str, Any]:
    """A job runs once, however often this is called: 200 while it is under way, 409 once it is over."""
    work = changeable(request, job_id)
    once(request, f"submit {work.public_id}", lambda: _submit(request, work))
    if work.status == lifecycle.DRAFT:
        work.refresh_from_db()  # it was done before
    return {"id": work.public_id, "status": statuses.newest(work)}


def _submit(request: HttpRequest, work: Workload) -> str:
    if work.status == lifecycle.DRAFT and (why := making.refused(work.coretype, work.owner, work.job.software.software)):
        raise ValidationError({"jobanalyses.0.hardware.coreType": [why]})
    if work.status == lifecycle.DRAFT and work.submit(request.user):
        AuditEntry.note(request.user, "submit", work, address_of(request), id=work.public_id)
        return work.public_id
    work.refresh_from_db()
    if not work.is_active:
        raise HttpError(409, f"It was submitted before and is {work.row.label}; clone it to run it again.")
    return work.public_id


@router.post("/jobs/{job_id}/stop/", response=answers(StopAsked, 403, 404, 409, status=202), summary="Stop a job")
def stop(request: HttpRequest, job_id: str, payload: StopIn | None = AFTER_IT) -> Status:
    """Gracefully, or with `force` at once, giving up what is not saved yet. 409 for what is over or was never submitted."""
    work = changeable(request, job_id)
    end(request, work, bool(payload and payload.force))
    return Status(202, {"id": work.public_id, "wish": work.wish})


def end(request: HttpRequest, work: Workload, force: bool = False) -> None:
    """Ask for the end of a job. Raises HttpError(409) for what is over."""
    with transaction.atomic():
        if work.stop(request.user, force=force):
            AuditEntry.note(request.user, "force stop" if force else "stop", work, address_of(request), id=work.public_id)
            return
    work.refresh_from_db()
    if work.status == lifecycle.DRAFT:
        raise HttpError(409, "It was never submitted.")
    if not work.is_active:
        raise HttpError(409, f"It is over: {work.row.label}.")


@router.post("/jobs/{job_id}/clone/", response=answers(JobOut, 403, 404, 422, status=201), summary="A new draft that asks for the same")
def clone(request: HttpRequest, job_id: str) -> Status:
    work = visible(request, job_id)
    public_id = once(request, f"clone {work.public_id}", lambda: work.clone(request.user).public_id)
    return Status(201, whole(visible(request, public_id), request))


@router.post("/jobs/{job_id}/share/", response=answers(Shared, 403, 404, 409), summary="See to it that somebody may see a job")
def share(request: HttpRequest, job_id: str, payload: ShareIn) -> dict[str, Any]:
    """A job is seen by the members of its project: 409 says whom to add to it. No mail is sent."""
    work = changeable(request, job_id)
    sees = Q(username__iexact=payload.email) | Q(email__iexact=payload.email)
    if work.project is None or not work.project.members.filter(sees).exists():
        where = f"the project {work.project.code}" if work.project else "a project, and move the job there"
        raise HttpError(409, f"{payload.email[:80]} can't see it: add them to {where}.")
    return {"recipient": payload.email, "supportDesk": False}


# --- how it stands ----------------------------------------------------------------------------------------------------
@router.get("/jobs/{job_id}/statuses/", response=answers(Page[StatusOut], 404), summary="History, newest first")
def history(request: HttpRequest, job_id: str) -> HttpResponse:
    """Completed is always the last and stands for every end; `outcome` says which one it was."""
    seen = glimpsed(request, job_id)
    return kept.sent(histories.get((seen.pk, seen.public_id, seen.version), lambda: _history(seen)))


def _history(seen: Workload) -> bytes:
    work = in_short(Workload.objects.filter(pk=seen.pk)).first()
    if work is None:
        raise Http404("There is no such job.")
    return Page[StatusOut].model_validate(given_whole(statuses.of(work))).model_dump_json().encode()


@router.get("/jobs/{job_id}/cluster_statuses/", response=answers(Page[ClusterStatus], 404), summary="How its clusters stood, newest first")
def cluster_history(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return given_whole(statuses.of_clusters(visible(request, job_id)))


@router.get("/jobs/{job_id}/gates/", response=answers(list[GateOut], 404), summary="Why a queued job waits")
def gates(request: HttpRequest, job_id: str) -> list[dict[str, Any]]:
    work = visible(request, job_id)
    found = scheduling.gates(work, timezone.now()) if work.status == lifecycle.QUEUED else []
    others = [{"hardware": one["name"], "gate": one["code"], "sentence": one["sentence"]} for one in work.gate_else]
    return [_gate(gate, others if gate.holds else []) for gate in found]


def _gate(gate: scheduling.Gate, choices: list[dict[str, Any]]) -> dict[str, Any]:
    said = {"gate": gate.code, "passed": gate.passed, "holds": gate.holds, "sentence": gate.sentence}
    return {**said, "since": _date(gate.since), "choices": choices}


def _date(moment: datetime | None) -> str | None:
    return when(moment) if moment else None

"""Jobs: create, list, read, change, delete, submit, stop, clone, share, statuses."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router
from ninja.errors import HttpError

from jobs import ledger, lifecycle, scheduling
from jobs.models import AuditEntry, Membership, Workload
from portal import removal

from . import making, statuses
from .auth import address_of
from .found import changeable, visible
from .paging import page
from .schemas import JobIn, JobPatch, StopIn

router = Router(tags=["jobs"])
STATES = {"completed": lifecycle.REST_CODES, "not_completed": [code for code in lifecycle.JOB if code not in lifecycle.REST_CODES]}


# --- showing ----------------------------------------------------------------------------------------------------------
def whole(work: Workload, request: HttpRequest) -> dict[str, Any]:
    """A job as its own address answers it."""
    cost = ledger.cost(work, timezone.now())
    return {
        **_short(work),
        "description": "",
        "isLowPriority": False,
        "projectId": work.project.code if work.project else None,
        "jobanalyses": [_analysis(work)],
        "jobvariables": [],
        "expectedRuns": 1,
        "includeNominalRun": False,
        "isTemplateDryRun": False,
        "dateSubmitted": _date(work.submitted),
        "dateCompleted": _date(work.ended),
        "url": request.build_absolute_uri(f"/jobs/{work.public_id}/"),
        "cost": str(cost.spent),
        "costAtMost": str(cost.at_most),
        "verdictDetail": work.job.verdict_detail or None,
        **statuses.truth(work),
    }


def _analysis(work: Workload) -> dict[str, Any]:
    job, kind = work.job, work.coretype
    return {
        "analysis": {"code": job.software.software.code, "version": job.software.code, "name": job.software.software.name},
        "command": job.command,
        "envVars": job.environment,
        "pipefail": job.pipefail,
        "useMpi": False,
        "flags": {},
        "useRescaleLicense": False,
        "userDefinedLicenseSettings": {"featureSets": []},
        "hardware": {
            "coreType": kind.code,
            "coresPerSlot": work.total_cores,
            "cores": work.total_cores,
            "slots": 1,
            "walltime": work.walltime / 3600,
            "coreSummary": {"memoryPerNode": kind.memory, "numberOfNodes": work.nodes, "storagePerNode": 0},
        },
        "inputFiles": [{"id": use.file.public_id, "name": use.name, "decompress": use.unpack} for use in job.inputs.select_related("file")],
    }


def _short(work: Workload) -> dict[str, Any]:
    return {
        "id": work.public_id,
        "name": work.name,
        "owner": work.owner.email or work.owner.get_username(),
        "dateInserted": _date(work.made),
        "analysisNames": [work.job.software.software.name],
        "sharedWith": [],
        "storage": 0,
        "isVisible": not work.archived,
    }


def _listed(work: Workload) -> dict[str, Any]:
    newest = statuses.of(work)[0]
    content = {"content": newest["status"]}
    return {**_short(work), "jobStatus": content, "clusterStatusDisplay": {"content": work.row.label}, **statuses.truth(work)}


def _date(moment: Any) -> str | None:
    return moment.isoformat() if moment else None


# --- addresses --------------------------------------------------------------------------------------------------------
@router.get("/jobs/", summary="Jobs that one may see, newest first")
def jobs(request: HttpRequest, state: str = "", job_status: str = "", search: str = "") -> dict[str, Any]:
    rows = visible(request).filter(archived=False).prefetch_related("events")
    if state:
        if state not in STATES:
            raise HttpError(400, "state is completed or not_completed.")
        rows = rows.filter(status__in=STATES[state])
    if job_status:
        rows = rows.filter(status__in=[code for code, word in _words().items() if word == job_status.replace("_", " ").lower()])
    if search:
        rows = rows.filter(name__icontains=search.replace("\0", ""))
    return page(request, rows, _listed)


def _words() -> dict[str, str]:
    """Our status codes by the word, lower case, that the API has for them."""
    rest = dict.fromkeys(lifecycle.REST_CODES, "completed")
    return {lifecycle.DRAFT: "pending", lifecycle.STOPPING: "stopping", **rest, **{c: w.lower() for c, w in statuses.WORDS.items()}}


@router.post("/jobs/", response={201: Any}, summary="Create a draft; `Idempotency-Key` makes a repeat harmless")
def create(request: HttpRequest, payload: JobIn) -> tuple[int, dict[str, Any]]:
    key = request.headers.get("Idempotency-Key", "")[:70]
    work = making.make(request.user, payload, f"api:{key}" if key else "")
    return 201, whole(changeable(request, work.public_id), request)


@router.get("/jobs/{job_id}/", summary="One job, whole")
def job(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return whole(visible(request, job_id), request)


@router.patch("/jobs/{job_id}/", summary="Rename a job; move a draft to another project")
@router.put("/jobs/{job_id}/", include_in_schema=False)
def change(request: HttpRequest, job_id: str, payload: JobPatch) -> dict[str, Any]:
    work = changeable(request, job_id)
    fields: dict[str, Any] = {}
    if payload.name is not None:
        fields["name"] = making.names.clean_title(payload.name)
    if payload.projectId is not None:
        if work.status != lifecycle.DRAFT and payload.projectId != (work.project.code if work.project else None):
            raise HttpError(409, "Only a draft can move to another project: this job's money is held by its own.")
        fields["project"] = making.project_of(request.user, payload.projectId)
    Workload.objects.filter(pk=work.pk).update(**fields) if fields else None
    return whole(visible(request, job_id), request)


@router.delete("/jobs/{job_id}/", response={204: None}, summary="Delete a job that is over, or a draft")
def delete(request: HttpRequest, job_id: str) -> tuple[int, None]:
    work = changeable(request, job_id)
    if work.is_active:
        raise HttpError(409, f"It is in {work.row.label}; stop it first.")
    removal.delete(work, request.user)
    return 204, None


@router.post("/jobs/{job_id}/submit/", summary="Submit a draft")
def submit(request: HttpRequest, job_id: str) -> dict[str, Any]:
    work = changeable(request, job_id)
    if not work.submit(request.user):
        work.refresh_from_db()
        if not work.is_active and not request.headers.get("Idempotency-Key"):
            raise HttpError(409, f"It was submitted before and is {work.row.label}; clone it to run it again.")
    else:
        AuditEntry.note(request.user, "submit", work, address_of(request), id=work.public_id)
    return {"id": work.public_id, "status": statuses.of(work)[0]["status"]}


@router.post("/jobs/{job_id}/stop/", response={202: Any}, summary="Stop: gracefully, or with {force: true}")
def stop(request: HttpRequest, job_id: str, payload: StopIn | None = None) -> tuple[int, dict[str, Any]]:
    work = changeable(request, job_id)
    force = bool(payload and payload.force)
    if not work.is_active:
        raise HttpError(409, f"It is over: {work.row.label}." if work.status != lifecycle.DRAFT else "It was never submitted.")
    if work.stop(request.user, force=force):
        AuditEntry.note(request.user, "force stop" if force else "stop", work, address_of(request), id=work.public_id)
    return 202, {"id": work.public_id, "wish": work.wish}


@router.post("/jobs/{job_id}/clone/", response={201: Any}, summary="A new draft that asks for the same")
def clone(request: HttpRequest, job_id: str) -> tuple[int, dict[str, Any]]:
    copy = visible(request, job_id).clone(request.user)
    return 201, whole(visible(request, copy.public_id), request)


@router.post("/jobs/{job_id}/share/", summary="Who sees a job: the members of its project")
def share(request: HttpRequest, job_id: str) -> dict[str, Any]:
    work = changeable(request, job_id)
    members = Membership.objects.filter(project=work.project).select_related("user")
    return {"recipient": [row.user.email or row.user.get_username() for row in members], "supportDesk": False}


@router.get("/jobs/{job_id}/statuses/", summary="History, newest first")
def history(request: HttpRequest, job_id: str) -> dict[str, Any]:
    found = statuses.of(visible(request, job_id))
    return {"count": len(found), "next": None, "previous": None, "results": found}


@router.get("/jobs/{job_id}/cluster_statuses/", summary="How its cluster stands")
def cluster_history(request: HttpRequest, job_id: str) -> dict[str, Any]:
    found = [entry for cluster in visible(request, job_id).clusters.order_by("-attempt") for entry in _cluster_entries(cluster)]
    return {"count": len(found), "next": None, "previous": None, "results": found}


def _cluster_entries(cluster: Any) -> list[dict[str, Any]]:
    moments = [
        ("Not Started", cluster.asked),
        ("Starting", cluster.created),
        ("Started", cluster.up),
        ("Stopping", cluster.releasing),
        ("Stopped", cluster.released),
    ]
    return [{"status": word, "statusDate": _date(at), "statusReason": None} for word, at in reversed(moments) if at]


@router.get("/jobs/{job_id}/gates/", summary="Why it waits")
def gates(request: HttpRequest, job_id: str) -> list[dict[str, Any]]:
    work = visible(request, job_id)
    if work.status != lifecycle.QUEUED:
        return []
    return [
        {"gate": g.code, "passed": g.passed, "holds": g.holds, "sentence": g.sentence, "since": _date(g.since)}
        for g in scheduling.gates(work, timezone.now())
    ]

"""What a job has written: its files and its run."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Query, Router

from jobs import names
from jobs import outputs as stored
from jobs.models import Workload

from . import statuses
from .file_found import of_job, show
from .found import visible
from .moments import when
from .paging import Paging, listed
from .shapes import FileOut, Page, RunOut, answers

router = Router(tags=["outputs"])
RUN = "1"


@router.get("/jobs/{job_id}/files/", response=answers(Page[FileOut], 404), summary="Output files of the newest attempt, its log first")
def files(request: HttpRequest, job_id: str, paging: Query[Paging], search: str = "") -> dict[str, Any]:
    return _files(request, visible(request, job_id), paging, search)


def _files(request: HttpRequest, work: Workload, paging: Paging, search: str) -> dict[str, Any]:
    found = of_job(work)
    if search:
        found = [make for make in found if search.lower() in names.shown(make().path).lower()]
    return listed(request, paging, found, lambda make: show(make(), request))


@router.get("/jobs/{job_id}/runs/", response=answers(Page[RunOut], 404), summary="The run of a job")
def runs(request: HttpRequest, job_id: str, paging: Query[Paging]) -> dict[str, Any]:
    return listed(request, paging, [visible(request, job_id)], _run)


@router.get("/jobs/{job_id}/runs/{run}/", response=answers(RunOut, 404), summary="One run")
def run(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    return _run(of_run(request, job_id, run))


@router.get("/jobs/{job_id}/runs/{run}/files/", response=answers(Page[FileOut], 404), summary="Output files of a run")
def run_files(request: HttpRequest, job_id: str, run: str, paging: Query[Paging], search: str = "") -> dict[str, Any]:
    return _files(request, of_run(request, job_id, run), paging, search)


def of_run(request: HttpRequest, job_id: str, run: str) -> Workload:
    """The job whose run this is. Raises Http404."""
    work = visible(request, job_id)
    if run != RUN:
        raise Http404("A job has one run, with the id 1.")
    return work


def _run(work: Workload) -> dict[str, Any]:
    cluster, manifest = statuses.cluster_of(work), stored.manifest(work.public_id, work.attempt)
    return {
        "id": RUN,
        "dateStarted": when(cluster.started) if cluster and cluster.started else None,
        "dateCompleted": when(work.ended) if work.ended else None,
        "type": 1,
        "variables": [],
        "outputFileCount": manifest.files,
        "outputFileSize": manifest.bytes,
        "isOptimal": False,
    }

"""A look into a job that runs: its folder, the end of a file, its log by offset, its nodes and how they are.

One idea: every address works for life. What is asked for after the end is answered from what was saved.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from ninja.errors import HttpError
from pydantic import Field

from jobs import logs, names
from jobs import outputs as stored
from jobs.models import Workload
from jobs.signals import announce
from portal.consumers.log import is_stream

from . import statuses
from .file_found import REACH, STDOUT, last_lines, lines_of, of_entry
from .files import BYTES
from .found import changeable, visible
from .jobs import end
from .outputs import RUN, of_run
from .paging import Paging, listed
from .schemas import TailAsked
from .shapes import FolderEntry, NodeOut, Page, Snapshot, Tail, answers

router = Router(tags=["running"])
LONGEST_WAIT = 25
PACE, ASK_AGAIN = 0.1, 5.0
"""Seconds between two looks at the log, and at the job: an ended log says so itself, without the database."""
MOST = 4 << 20


class LogAsked(Schema):
    """`offset` in bytes, `wait` in seconds, `stream` is stdout or file:PATH."""

    offset: int = Field(0, ge=0, le=1 << 62)
    wait: int = Field(0, ge=0, le=LONGEST_WAIT)
    stream: str = "stdout"


class HealthAsked(Schema):
    """`since` in unix seconds."""

    node: int = Field(0, ge=0, le=100_000)
    since: int = Field(0, ge=0, le=1 << 40)


class LoadAsked(Schema):
    hours: float = Field(24, gt=0, le=10_000, allow_inf_nan=False)


LOG = {"responses": {200: {"description": "Bytes from the offset on, up to 4 MiB", **BYTES}}}
Records = list[dict[str, Any]]


@router.get("/jobs/{job_id}/runs/{run}/directory-contents/", response=answers(list[FolderEntry], 404, 409), summary="The job's folder")
def directory(request: HttpRequest, job_id: str, run: str) -> list[dict[str, Any]]:
    work = of_run(request, job_id, run)
    if not work.is_active or statuses.cluster_of(work) is None:
        raise HttpError(409, "Only a running job has a folder; afterwards look at its files.")
    return _folder(work)


@router.get("/jobs/{job_id}/runs/{run}/tail/{path:path}", response=answers(Tail, 404), summary="Last lines of the log or of any file")
def tail(request: HttpRequest, job_id: str, run: str, path: str, asked: Query[TailAsked]) -> dict[str, Any]:
    """A file that nobody looked at until now is fetched from its node: the first answer may be empty, ask again.

    Its path is written as it is listed: bytes that are no UTF-8 as `\\xHH`, not as %HH, which a server may lose on the way.
    """
    work = of_run(request, job_id, run)
    real = names.path(path)
    for name in dict.fromkeys((real, path)):
        if (found := _tail(work, name, asked.lines)) is not None:
            return {"fileType": "text", "lines": found}
    if not work.is_active or not is_stream(f"file:{real}"):
        raise Http404("There is no such file.")
    _look_at(work, f"file:{real}")
    return {"fileType": "text", "lines": []}


@router.get("/jobs/{job_id}/log/", response=answers(Any, 404), openapi_extra=LOG, summary="The log from an offset on, waiting for more")
def log_bytes(request: HttpRequest, job_id: str, asked: Query[LogAsked]) -> HttpResponse:
    """For those that can't open a websocket: ask with `offset` = the bytes that one has, and `wait` seconds for new ones.

    X-Log-Size says how long it is now, X-Log-Complete: 1 that no more will come. `stream` is stdout or file:PATH, as it is listed.
    Offsets count what is not kept too; the answer then starts at X-Log-Offset.
    """
    work = visible(request, job_id)
    asked.stream = names.path(asked.stream)
    if not is_stream(asked.stream):
        raise Http404("There is no such log.")
    directory = logs.attempt_dir(work.public_id, work.attempt)
    size, over = _wait(work, directory, asked)
    start = _behind_gaps(directory, asked.stream, asked.offset)
    data = logs.read(directory, asked.stream, start, min(size, start + MOST)) if start < size else b""
    answer = HttpResponse(data, content_type="application/octet-stream")
    answer["X-Content-Type-Options"] = "nosniff"
    answer["X-Log-Size"], answer["X-Log-Complete"], answer["X-Log-Offset"] = str(size), str(int(over)), str(start)
    return answer


@router.post("/jobs/{job_id}/runs/{run}/snapshot/", response=answers(Snapshot, 403, 404), summary="What is there now")
def snapshot(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    work = of_run(request, job_id, run)
    reason = None if work.is_active else "It is over: see its files."
    return {"data": _folder(work), "exitcode": 0, "lastSnapshotID": None, "reason": reason}


@router.post("/jobs/{job_id}/runs/{run}/stop/", response=answers(dict[str, Any], 403, 404, 409), summary="Stop the run, and so the job")
def stop_run(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    of_run(request, job_id, run)
    end(request, changeable(request, job_id))
    return {}


@router.get("/jobs/{job_id}/instances/", response=answers(Page[NodeOut], 404), summary="Nodes of its cluster")
def nodes(request: HttpRequest, job_id: str, paging: Query[Paging]) -> dict[str, Any]:
    cluster = statuses.cluster_of(visible(request, job_id))
    return listed(request, paging, list(cluster.nodes.all()) if cluster else [], _node)


@router.get("/jobs/{job_id}/connection_details/", response=answers(list[NodeOut], 404), summary="The same as a plain list")
def connections(request: HttpRequest, job_id: str) -> list[dict[str, Any]]:
    cluster = statuses.cluster_of(visible(request, job_id))
    return [_node(node) for node in cluster.nodes.all()] if cluster else []


@router.get("/jobs/{job_id}/health/", response=answers(Records, 404), summary="CPU, memory, disk and network of a node over time")
def health(request: HttpRequest, job_id: str, asked: Query[HealthAsked]) -> Records:
    """Records after `since` (unix seconds), oldest first: `at`, `cpu` (cores in use), `memory`, `disk_used`, `net_in`... in bytes."""
    work = visible(request, job_id)
    return list(logs.beats(logs.attempt_dir(work.public_id, work.attempt), asked.node, asked.since))


@router.get("/jobs/{job_id}/cluster-load-measurements/", response=answers(Records, 404), summary="Load of the head node")
def load(request: HttpRequest, job_id: str, asked: Query[LoadAsked]) -> Records:
    return health(request, job_id, HealthAsked(since=int(max(0.0, time.time() - asked.hours * 3600))))


# --- private ----------------------------------------------------------------------------------------------------------
def _folder(work: Workload) -> list[dict[str, Any]]:
    base = f"/api/v2/jobs/{work.public_id}/runs/{RUN}/tail/"
    found = logs.listing(logs.attempt_dir(work.public_id, work.attempt)).get("files", [])
    return [_in_folder(base, one["path"], one["size"]) for one in found]


def _in_folder(base: str, path: str, size: int) -> dict[str, Any]:
    shown = names.shown(path)
    return {"path": shown, "size": size, "resource": base + quote(shown)}


def _tail(work: Workload, path: str, count: int) -> list[str] | None:
    """From the live stream, else from what was saved; None if neither is there."""
    directory = logs.attempt_dir(work.public_id, work.attempt)
    stream = "stdout" if path in {STDOUT, "stdout"} else f"file:{path}"
    if is_stream(stream) and logs.generations(directory, stream):
        if work.is_active:
            _look_at(work, stream)
        size = logs.size(directory, stream)
        return lines_of(logs.read(directory, stream, _behind_gaps(directory, stream, max(0, size - REACH)), size), count)
    manifest = stored.manifest(work.public_id, work.attempt)
    entry = manifest.named(path)
    if entry is not None and entry.kind == "file":
        return list(last_lines(of_entry(work, work.attempt, manifest, entry), count))
    return [] if stream == "stdout" else None


def _look_at(work: Workload, stream: str) -> None:
    """The node reports this stream quickly from now on."""
    if logs.watch(logs.attempt_dir(work.public_id, work.attempt), stream):
        announce(f"orders:{work.public_id}")


def _wait(work: Workload, directory: Path, asked: LogAsked) -> tuple[int, bool]:
    """The size and whether no more comes, as soon as there is more than was asked from, or after the time to wait."""
    looked = time.monotonic()
    deadline = looked + asked.wait
    if work.is_active:
        _look_at(work, asked.stream)
    while True:
        if work.is_active and time.monotonic() - looked > ASK_AGAIN:
            work.refresh_from_db(fields=["status"])
            looked = time.monotonic()
        over = logs.complete(directory, asked.stream) is not None or not work.is_active
        size = logs.size(directory, asked.stream)
        if size > asked.offset or over or time.monotonic() >= deadline:
            return size, over and asked.offset + MOST >= size
        if not connection.in_atomic_block:
            connection.close()  # hundreds may wait; none of them keeps a connection for it
        time.sleep(PACE)


def _behind_gaps(directory: Path, stream: str, offset: int) -> int:
    return next((gap.end for gap in logs.gaps(directory, stream) if gap.start <= offset < gap.end), offset)


def _node(node: Any) -> dict[str, Any]:
    role = "MPI_MASTER" if node.index == 0 else "MPI_SLAVE"
    return {"publicIp": None, "hostname": node.hostname, "username": None, "sshPort": None, "role": role}

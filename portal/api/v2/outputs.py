"""What a job has written: its files, its run, and a look into the running job folder."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from jobs import logs
from jobs import outputs as stored
from jobs.models import AuditEntry, Workload

from .files import last_lines, of_entry, shown_path
from .files import show as show_file
from .found import changeable, visible
from .paging import listed, whole

router = Router(tags=["outputs"])
RUN = "1"
STDOUT = "process_output.log"


@router.get("/jobs/{job_id}/files/", summary="Output files of the newest attempt")
def files(request: HttpRequest, job_id: str, search: str = "") -> dict[str, Any]:
    work = visible(request, job_id)
    manifest = stored.manifest(work.public_id, work.attempt)
    found = [entry for entry in manifest.all if entry.kind == "file" and search.lower() in entry.path.lower()]
    return listed(request, found, lambda entry: show_file(of_entry(work, work.attempt, manifest, entry), request))


@router.get("/jobs/{job_id}/runs/", summary="The run of a job")
def runs(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return listed(request, [_run(visible(request, job_id))], lambda run: run)


@router.get("/jobs/{job_id}/runs/{run}/", summary="One run")
def run(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    return _run(_of_run(request, job_id, run))


def _run(work: Workload) -> dict[str, Any]:
    cluster, manifest = work.cluster, stored.manifest(work.public_id, work.attempt)
    return {
        "id": RUN,
        "dateStarted": cluster.started.isoformat() if cluster and cluster.started else None,
        "dateCompleted": work.ended.isoformat() if work.ended else None,
        "type": 1,
        "variables": [],
        "outputFileCount": manifest.files,
        "outputFileSize": manifest.bytes,
        "isOptimal": False,
    }


def _of_run(request: HttpRequest, job_id: str, run: str) -> Workload:
    if run != RUN:
        raise Http404("A job has one run, with the id 1.")
    return visible(request, job_id)


@router.get("/jobs/{job_id}/runs/{run}/files/", summary="Output files of a run")
def run_files(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    _of_run(request, job_id, run)
    return files(request, job_id, request.GET.get("search", ""))


@router.get("/jobs/{job_id}/runs/{run}/directory-contents/", summary="What lies in the job folder while it runs")
def directory(request: HttpRequest, job_id: str, run: str) -> list[dict[str, Any]]:
    work = _of_run(request, job_id, run)
    if not work.is_active or work.cluster is None:
        raise HttpError(409, "Only a running job has a folder; afterwards look at its files.")
    base = f"/api/v2/jobs/{work.public_id}/runs/{RUN}/tail/"
    found = logs.listing(logs.attempt_dir(work.public_id, work.attempt))["files"]
    return [{"path": shown_path(file["path"]), "size": file["size"], "resource": base + shown_path(file["path"])} for file in found]


@router.get("/jobs/{job_id}/runs/{run}/tail/{path:path}", summary="Last lines of the log, or of any file that is tailed or saved")
def tail(request: HttpRequest, job_id: str, run: str, path: str) -> dict[str, Any]:
    work, count = _of_run(request, job_id, run), whole(request, "lines", 100, 1, 10_000)
    directory = logs.attempt_dir(work.public_id, work.attempt)
    stream = "stdout" if path in {STDOUT, "stdout"} else f"file:{path}"
    if logs.generations(directory, stream):
        return {"fileType": "text", "lines": _log_lines(directory, stream, count)}
    manifest = stored.manifest(work.public_id, work.attempt)
    entry = manifest.named(path)
    if entry is not None and entry.kind == "file":
        return {"fileType": "text", "lines": list(last_lines(of_entry(work, work.attempt, manifest, entry), count))}
    if stream == "stdout":
        return {"fileType": "text", "lines": []}
    if work.is_active:
        logs.watch(directory, stream)  # the node reports it from now on; ask again
        return {"fileType": "text", "lines": []}
    raise Http404("There is no such file.")


def _log_lines(directory: Any, stream: str, count: int) -> list[str]:
    size = logs.size(directory, stream)
    data = logs.read(directory, stream, max(0, size - (4 << 20)), size)
    rows = data.split(b"\n")
    rows = rows[:-1] if rows and not rows[-1] else rows
    return [row.decode("utf-8", "replace") for row in rows[-count:]]


@router.get("/jobs/{job_id}/log/", response=Any, summary="Raw bytes of the log from an offset; X-Log-Size says how long it is")
def log_bytes(request: HttpRequest, job_id: str) -> HttpResponse:
    """Long polls of a few seconds by offset: the fallback for those that can't open a websocket."""
    work = visible(request, job_id)
    start = whole(request, "from", 0, 0, 1 << 62)
    directory, stream = logs.attempt_dir(work.public_id, work.attempt), request.GET.get("stream", "stdout")
    size = logs.size(directory, stream)
    answer = HttpResponse(logs.read(directory, stream, start, min(size, start + (4 << 20))), content_type="application/octet-stream")
    answer["X-Log-Size"], answer["X-Log-Complete"] = str(size), "1" if logs.complete(directory, stream) else "0"
    return answer


@router.post("/jobs/{job_id}/runs/{run}/snapshot/", summary="What is there now")
def snapshot(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    work = _of_run(request, job_id, run)
    listing = logs.listing(logs.attempt_dir(work.public_id, work.attempt))
    return {"data": listing.get("files", []), "exitcode": 0, "lastSnapshotID": None, "reason": None}


@router.post("/jobs/{job_id}/runs/{run}/stop/", summary="Stop the run, and so the job")
def stop_run(request: HttpRequest, job_id: str, run: str) -> dict[str, Any]:
    _of_run(request, job_id, run)
    work = changeable(request, job_id)
    if not work.is_active:
        raise HttpError(409, f"It is over: {work.row.label}.")
    if work.stop(request.user):
        AuditEntry.note(request.user, "stop", work, id=work.public_id)
    return {}


@router.get("/jobs/{job_id}/instances/", summary="Nodes of its cluster")
def nodes(request: HttpRequest, job_id: str) -> dict[str, Any]:
    work = visible(request, job_id)
    found = list(work.cluster.nodes.all()) if work.cluster else []
    return listed(
        request,
        found,
        lambda node: {
            "publicIp": None,
            "hostname": node.hostname,
            "username": None,
            "sshPort": None,
            "role": "MPI_MASTER" if node.index == 0 else "MPI_SLAVE",
        },
    )


@router.get("/jobs/{job_id}/health/", summary="CPU, memory, disk and network of its nodes over time")
def health(request: HttpRequest, job_id: str, node: int = 0) -> list[dict[str, Any]]:
    work = visible(request, job_id)
    since = whole(request, "since", 0, 0, 1 << 40)
    return list(logs.beats(logs.attempt_dir(work.public_id, work.attempt), max(0, min(node, 100_000)), since))

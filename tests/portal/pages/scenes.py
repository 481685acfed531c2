"""A job in every status, by direct rows: what the pages must be able to show."""

from __future__ import annotations

import hashlib
import io
import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import factories
from django.utils import timezone

from jobs import lifecycle, logs, outputs
from jobs.lifecycle import Wish
from jobs.models import Check, Cluster, Event, Job, JobInput, Node, StoredFile, Workload
from portal import storing

ROAD = [lifecycle.QUEUED, lifecycle.VALIDATING, lifecycle.STARTING, lifecycle.RUNNING, lifecycle.STOPPING]
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0f01f0005fe02fea35c1a0d0000000049454e44ae426082")


def job(owner: Any, status: str, name: str = "", *, end: str = "", reason: str = "", failed: str = "", **fields: Any) -> Workload:
    """A job that went along the road up to `status`; for one at rest, `end` is the last stage it was in."""
    start = timezone.now() - timedelta(minutes=12)
    made = factories.job(owner, fields.pop("command", "echo start\npython3 solve.py deck.inp | tee log"), name=name or f"beam-{status}", **fields)
    work = made.workload
    stored = file(owner, "deck.inp", b"*NODE\n1, 0, 0\n")
    JobInput.objects.create(job=made, file=stored, name="deck.inp")
    if status != lifecycle.DRAFT:
        _walk(work, status, end or status, start, reason, failed)
    if (end or status) in ROAD[2:]:
        _cluster(work, status, end or status, start)
    return work


def file(owner: Any, name: str, data: bytes) -> StoredFile:
    return storing.keep(owner, name, io.BytesIO(data), len(data))


def log(work: Workload, text: str, stream: str = "stdout") -> None:
    logs.write(logs.attempt_dir(work.public_id, work.attempt), stream, 0, 0, text.encode())


def beat(work: Workload, node: int = 0, ago: float = 2, **figures: Any) -> None:
    record = {"cpu": 7.4, "memory": 9 << 30, "memory_total": 16 << 30, "disk_used": 3 << 30, "disk_free": 24 << 30, "net_in": 1 << 20,
              "net_out": 2 << 20, "processes": 9, **figures}
    logs.append_beat(logs.attempt_dir(work.public_id, work.attempt), node, record, time.time() - ago)


def save(work: Workload, files: dict[str, bytes], odd: tuple[dict[str, str], ...] = ()) -> None:
    """Outputs as an agent would send them, with `odd` lines of the manifest for what was skipped or failed."""
    entries = [{"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "mode": 0o644, "mtime": time.time()}
               for path, data in files.items()]
    outputs.store_batch(work.public_id, work.attempt, entries, memoryview(b"".join(files.values())))
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in [*entries, *odd])
    outputs.write_manifest(work.public_id, work.attempt, 0, True, lines)


def checked(work: Workload, findings: list[dict[str, Any]]) -> None:
    work.job.checked = Check.objects.create(key=f"{work.public_id}", findings=findings, files=1, done=timezone.now())
    work.job.save()


def all_of_them(owner: Any, project: Any) -> dict[str, Workload]:
    """One of each, filled with output, files and findings."""
    made = {status: job(owner, status, project=project) for status in [lifecycle.DRAFT, *ROAD]}
    for status in (lifecycle.RUNNING, lifecycle.STOPPING):
        log(made[status], "".join(f"iteration {n} residual {1 / n:.5f}\n" for n in range(1, 300)))
        for ago in range(300, 0, -10):
            beat(made[status], ago=ago, cpu=4 + ago % 4, files=[{"path": "deck.inp", "size": 20}, {"path": "result.dat", "size": 4 << 20}], files_total=2, bytes_total=(4 << 20) + 20)
    made["stop asked"] = job(owner, lifecycle.RUNNING, "beam-being-stopped", project=project)
    log(made["stop asked"], "iteration 1\n")
    made["stop asked"].stop(owner)
    made["completed"] = job(owner, lifecycle.COMPLETED, end=lifecycle.STOPPING, reason="exit-0", project=project)
    save(made["completed"], {"result.dat": b"1 2 3\n" * 200, "picture.png": PNG, "a b/\U0001f680.csv": b"x,y\n", "evil.html": b"<script>alert(1)</script>"},
         ({"path": "link", "skipped": "symlink", "detail": "/etc/passwd"},))
    log(made["completed"], "done\n")
    made["converged"] = job(owner, lifecycle.COMPLETED, "beam-converged", end=lifecycle.STOPPING, reason="exit-0", project=project)
    Job.objects.filter(pk=made["converged"].pk).update(verdict="converged", verdict_detail={
        "verdict": "converged", "reason": "All residuals below 1e-5 at iteration 299.", "advice": "", "evidence": [{"file": "log", "line": 299, "text": "iteration 299 residual 0.00334"}]})
    made["failed"] = job(owner, lifecycle.FAILED, end=lifecycle.STOPPING, reason="out-of-memory", failed=lifecycle.RUNNING, project=project)
    Cluster.objects.filter(workload=made["failed"]).update(exit={"code": 137, "signal": 9, "memory_killed": True, "leftovers": 1, "ran": 300, "why": None, "pipe": [137, 0]})
    log(made["failed"], "reading deck\nfactoring 2,918,406 equations\nKilled\n")
    made["refused"] = job(owner, lifecycle.FAILED, "beam-refused", end=lifecycle.VALIDATING, reason="findings", failed=lifecycle.VALIDATING, project=project)
    checked(made["refused"], [
        {"severity": "error", "message": "solve.py is not among the inputs; did you mean deck.inp?", "file": None, "line": None, "thing": "solve.py", "remedy": "Upload it.", "fix": None},
        {"severity": "warning", "message": "Starts with a byte-order mark.", "file": "deck.inp", "line": 1, "thing": "", "remedy": "Strip it.", "fix": "strip-bom"}])
    made["stopped"] = job(owner, lifecycle.STOPPED, end=lifecycle.STOPPING, reason="stopped", project=project)
    Workload.objects.filter(pk=made["stopped"].pk).update(wish=Wish.STOP, wished_by=owner, wished_at=timezone.now())
    return made


def _walk(work: Workload, status: str, last: str, start: Any, reason: str, failed: str) -> None:
    """Events along the road, one a minute, and the row where it ends."""
    codes = ROAD[: ROAD.index(last) + 1] + ([] if status == last else [status])
    before = lifecycle.DRAFT
    for minute, code in enumerate(codes):
        at = start + timedelta(minutes=minute)
        Event.objects.create(workload=work, at=at, before=before, after=code, source="user" if code == lifecycle.QUEUED else "engine",
                             by=work.owner if code == lifecycle.QUEUED else None, reason=reason if code in lifecycle.REST_CODES else "")
        before = code
    outcome = lifecycle.ENDINGS[reason].outcome if reason else ""
    over = status in lifecycle.REST_CODES
    Workload.objects.filter(pk=work.pk).update(
        status=status, since=start + timedelta(minutes=len(codes) - 1), submitted=start, reason=reason, outcome=outcome, failed_stage=failed,
        ended=timezone.now() - timedelta(minutes=5) if over else None)
    work.refresh_from_db()


def _cluster(work: Workload, status: str, last: str, start: Any) -> None:
    at = ROAD.index(last)
    over = status in lifecycle.REST_CODES
    minute = lambda number: start + timedelta(minutes=number)  # noqa: E731
    cluster = Cluster.objects.create(
        workload=work, attempt=work.attempt, token=f"hr0000-job-{work.public_id}-{work.attempt}", secret_hash="0" * 64, backend="fake", coretype=work.coretype,
        nodes_wanted=work.nodes, cores=work.cores, price=work.coretype.price, asked=minute(2), created=minute(2), seen=minute(2), up=minute(2),
        staging={"files": 1, "of_files": 3, "bytes": 1 << 30, "of_bytes": 4 << 30}, staged=minute(3) if at > 2 else None,
        went=minute(3) if at > 2 else None, started=minute(3) if at > 2 else None, exited=minute(4) if at > 3 else None,
        exit={"code": 0, "signal": None, "memory_killed": False, "leftovers": 0, "ran": 60, "why": None, "pipe": None} if at > 3 else {},
        saving={"files": 4, "bytes": 4096, "skipped": 1, "failed": 0} if at > 3 else {}, saved=minute(5) if over else None, releasing=minute(5) if over else None,
        released=minute(6) if over else None, charged_until=minute(6) if over else None, settled=minute(6) if over else None,
        walltime_until=minute(3) + timedelta(seconds=work.walltime) if at > 2 else None,
    )
    for index in range(work.nodes if at > 2 else max(1, work.nodes - 1)):
        Node.objects.create(cluster=cluster, index=index, hostname=f"node-{index + 1:02}", nonce=f"n{index}", up=minute(2), cores=work.cores, memory=16 << 30,
                            done=minute(5) if over else None)


def here() -> Path:
    return Path(__file__).parent

"""The verdict on a job: from its stored outputs and log to the words beside its status. Never raises."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from django.core.files.storage import default_storage

from . import logs, outputs, verdicts
from .models import Cluster, Job
from .verdicts.base import Ending

log = logging.getLogger(__name__)

STDOUT = "stdout"


class Saved:
    """The job folder as the portal keeps it (verdicts.base.Files): outputs that arrived, inputs, and the log."""

    def __init__(self, job: Job, cluster: Cluster) -> None:
        work = job.workload
        self.manifest = outputs.manifest(work.public_id, cluster.attempt)
        self.entries = {entry.path: entry for entry in self.manifest.all if entry.kind == "file" and entry.key}
        self.inputs = {use.name: use.file for use in job.inputs.select_related("file")}
        log_file = logs.path_of(logs.attempt_dir(work.public_id, cluster.attempt), STDOUT)
        self.log = log_file if log_file.exists() else None

    def names(self) -> Sequence[str]:
        return sorted({*self.entries, *self.inputs, *([STDOUT] if self.log else [])})

    def size(self, name: str) -> int:
        if name in self.entries:
            return self.entries[name].size
        if name in self.inputs:
            return self.inputs[name].size
        return self.log.stat().st_size if self.log and name == STDOUT else 0

    def open(self, name: str) -> BinaryIO:
        if name in self.entries:
            return self.manifest.open(self.entries[name])
        if name in self.inputs:
            return default_storage.open(self.inputs[name].key, "rb")  # type: ignore[return-value]
        if self.log and name == STDOUT:
            return open(self.log, "rb")
        raise FileNotFoundError(name)


def judge(job: Job, cluster: Cluster, stopped: bool) -> None:
    """Write the verdict down. What a judge trips over is logged and leaves "unknown"."""
    try:
        verdict = verdicts.judge(job.software.software.code, Saved(job, cluster), ending_of(cluster.exit, stopped), job.command, STDOUT)
        found = verdict.as_dict() | {"at": verdict.at}
    except Exception:
        log.exception("the verdict of %s failed", job.workload.public_id)
        found = {"verdict": "unknown", "reason": "The result could not be judged.", "evidence": [], "advice": "", "at": ""}
    job.verdict, job.verdict_detail = found["verdict"], found
    Job.objects.filter(pk=job.pk).update(verdict=job.verdict, verdict_detail=found)


def ending_of(report: Mapping[str, Any], stopped: bool = False) -> Ending:
    """What the agent reported of the end (Cluster.exit) in the words of verdicts."""
    pipe = report.get("pipe")
    return Ending(
        exit_code=report.get("code"), signal=report.get("signal"), pipe=tuple(pipe) if pipe else None,
        stopped=stopped or report.get("why") in {"walltime", "unpaid", "wish"}, memory_killed=bool(report.get("memory_killed")),
    )

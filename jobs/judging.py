"""The verdict on a job: from its stored outputs and log to the words beside its status. Reads what is stored, never the cluster."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, BinaryIO

from django.core.files.storage import default_storage

from . import logs, outputs, verdicts
from .acting import side_by_side
from .checking import inputs_of
from .endings import ending_of
from .models import Cluster, Job, JobInput, update_alike
from .verdicts.base import Ending

log = logging.getLogger(__name__)

STDOUT = "stdout"


class Saved:
    """The job folder as the portal keeps it (verdicts.base.Files): outputs that arrived, inputs, and the log."""

    def __init__(self, job: Job, cluster: Cluster, uses: Sequence[JobInput]) -> None:
        work = job.workload
        self.manifest = outputs.manifest(work.public_id, cluster.attempt)
        self.entries = {entry.path: entry for entry in self.manifest.all if entry.kind == "file" and entry.key}
        self.inputs = {use.name: use.file for use in uses}
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


def judge(batch: Sequence[tuple[Job, Cluster, bool]]) -> None:
    """Write the verdicts down: (job, cluster, whether it was stopped) for each."""
    uses = inputs_of([job for job, _, _ in batch])
    asked = [(job, Saved(job, cluster, uses[job.pk]), ending_of(cluster.exit, stopped)) for job, cluster, stopped in batch]
    for (job, _, _), found in zip(asked, side_by_side(_verdict, asked), strict=True):
        job.verdict, job.verdict_detail = found["verdict"], found
    update_alike([job for job, _, _ in asked], ["verdict", "verdict_detail"])


def _verdict(asked: tuple[Job, Saved, Ending]) -> dict[str, Any]:
    """What a judge trips over is logged and leaves "unknown"."""
    job, saved, ending = asked
    try:
        verdict = verdicts.judge(job.software.software.code, saved, ending, job.command, STDOUT if saved.log else None)
    except Exception:
        log.exception("the verdict of a %s job failed", job.software.software.code)
        return {"verdict": "unknown", "reason": "The result could not be judged.", "evidence": [], "advice": "", "at": ""}
    return verdict.as_dict() | {"at": verdict.at}

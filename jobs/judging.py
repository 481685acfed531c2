"""The verdict on a job: from its stored outputs and log to the words beside its status. Reads what is stored, never the cluster.

The reading itself is done by a child process with a limit of memory and a deadline: a log that makes it explode leaves
"unknown" with the reason, and never holds up the engine.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, BinaryIO

from django.core.files.storage import default_storage
from django.utils import timezone

from . import following, logs, names, outputs
from .acting import side_by_side
from .apart import Children, judged
from .apart.files import Described, described
from .checking import inputs_of
from .endings import ending_of
from .models import Cluster, Job, JobInput, update_alike
from .places import path_of
from .verdicts.base import Ending

log = logging.getLogger(__name__)

STDOUT = "stdout"
LEAST, LONGEST, SPEED = 10.0, 60.0, 40 << 20
"""Seconds that a verdict may take, growing with the bytes there are."""
children = Children(2, 256 << 20)
atexit.register(children.end)


class Saved:
    """The job folder as the portal keeps it: outputs that arrived, inputs, and the log."""

    def __init__(self, job: Job, cluster: Cluster, uses: Sequence[JobInput]) -> None:
        work = job.workload
        self.manifest = outputs.manifest(work.public_id, cluster.attempt)
        self.entries = {entry.path: entry for entry in self.manifest.all if entry.kind == "file" and entry.key}
        self.inputs = {names.path(use.name): use.file for use in uses}
        log_file = logs.path_of(logs.attempt_dir(work.public_id, cluster.attempt), STDOUT)
        self.log = log_file if log_file.exists() else None

    def sizes(self) -> dict[str, int]:
        found = {name: file.size for name, file in self.inputs.items()} | {name: entry.size for name, entry in self.entries.items()}
        if self.log and STDOUT not in found:
            found[STDOUT] = self.log.stat().st_size
        return dict(sorted(found.items()))

    def described(self) -> Described:
        """Inputs and log lie where the child can open them itself, if storage is a folder; outputs lie together in packs."""
        paths = {name: path for name, file in self.inputs.items() if name not in self.entries and (path := path_of(file.key))}
        if self.log and STDOUT not in self.entries and STDOUT not in self.inputs:
            paths[STDOUT] = str(self.log)
        return described(self.sizes(), paths)

    def open(self, name: str) -> BinaryIO:
        if name in self.entries:
            return self.manifest.open(self.entries[name])
        if name in self.inputs:
            return default_storage.open(self.inputs[name].key, "rb")  # type: ignore[return-value]
        raise FileNotFoundError(name)


def judge(batch: Sequence[tuple[Job, Cluster, bool]]) -> None:
    """Write the verdicts down: (job, cluster, whether it was stopped) for each. What was followed is read to its end before."""
    following.finish([job for job, _, _ in batch], timezone.now())
    uses = inputs_of([job for job, _, _ in batch])
    asked = [(job, Saved(job, cluster, uses[job.pk]), ending_of(cluster.exit, stopped)) for job, cluster, stopped in batch]
    for (job, _, _), found in zip(asked, side_by_side(_verdict, asked), strict=True):
        job.verdict, job.verdict_detail = found["verdict"], found
    update_alike([job for job, _, _ in asked], ["verdict", "verdict_detail"])


def _verdict(asked: tuple[Job, Saved, Ending]) -> dict[str, Any]:
    """Whatever a judge trips over is logged and leaves "unknown" with the reason."""
    job, saved, ending = asked
    try:
        if not any(saved.sizes().values()):  # no byte of a stranger's to read
            return judged.judge(_question(*asked))
        found: dict[str, Any] = children.ask("judge", _question(*asked), _patience(saved), saved.open)
    except Exception as error:
        log.exception("the verdict of a %s job failed", job.software.software.code)
        why = str(error) if isinstance(error, following.Exploded) else ""
        return {"verdict": "unknown", "reason": f"The result could not be judged. {why}".strip(), "evidence": [], "advice": "", "at": ""}
    return found


def _question(job: Job, saved: Saved, ending: Ending) -> dict[str, Any]:
    return {
        "software": job.software.software.code,
        "version": job.software.code,
        "files": saved.described(),
        "ending": asdict(ending),
        "command": job.command,
        "log": STDOUT if saved.log else None,
    }


def _patience(saved: Saved) -> float:
    return min(LONGEST, LEAST + sum(saved.sizes().values()) / SPEED)

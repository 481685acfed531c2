"""A job on one node that only tries whether jobs would run there: what it is, and what its end means.

The one idea: it goes the way of every cluster (the same words for sbatch, the same start on the node, the same folder), so
whatever would stop a job stops it too; and its token is known like any other, so nothing of it is left behind.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from . import slurm_node, slurm_trial_node
from .base import Spec, State
from .slurm_node import EXITS as OF_JOBS
from .slurm_queue import Job
from .slurm_script import Place, started
from .slurm_words import describe, is_over

EXITS = OF_JOBS | {
    71: "The folder for jobs can't be written on the node (option folder)",
    74: "The node can't reach the portal: is its address right as nodes see it (AGENT_URL, SLURM_PORTAL), and its port open to them?",
    75: "The node does not trust the portal's certificate: name the file of its CA (SLURM_CA)",
    76: "Something else than this portal answers at its address: a proxy on the way, or the address of another machine",
    77: "The node does not know the portal's host name: use one that its DNS has, or an IP address (AGENT_URL, SLURM_PORTAL)",
    78: "The disk of the folder for jobs is full on the node (option folder)",
    127: "The nodes have no such Python (option python)",
}
"""Exit codes of a trial, and what they mean."""
GOOD = "A node took the job, has a Python that will do, can write the folder for jobs and reaches the portal."


@dataclass(frozen=True)
class Tried:
    """`stage` is asked, waits, runs or over; `good` is None until it is over; `why` is for people."""

    stage: str
    why: str = ""
    good: bool | None = None


def script(token: str, spec: Spec, place: Place) -> str:
    """For sbatch's standard input."""
    line = json.dumps({
        "code": _program(), "token": token, "config": {"portal": spec.portal}, "folder": place.folder,
        "ca": Path(spec.ca).read_text(encoding="ascii", errors="replace") if spec.ca else "",
    })  # fmt: skip
    return started(1, spec.cores, place.python, line)


def tried(job: Job | None) -> Tried:
    """What Slurm's row of it means; None: Slurm does not show it."""
    if job is None:
        return Tried("asked")
    told = describe(job)
    if not is_over(job) and told.state is not State.FAILED:
        return Tried({State.PENDING: "waits", State.UP: "runs"}.get(told.state, "asked"), told.why)
    if job.state == "COMPLETED" and not job.exit and not job.signal:
        return Tried("over", GOOD, True)
    return Tried("over", EXITS.get(job.exit, "") or told.why, False)


@lru_cache(maxsize=1)
def _program() -> str:
    """Both texts in one, without the placeholder that is there for readers alone."""
    parts = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in (slurm_node, slurm_trial_node)]
    return parts[0] + "\n\n" + parts[1].partition("\n\ndef own(folder):")[0] + "\n"

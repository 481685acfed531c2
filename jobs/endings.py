"""How a command ended, from the agent's report to the words of `verdicts`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .verdicts.base import Ending
from .verdicts.exit import explain

FULL_DISK = "The node's disk was full by then: what was written last may be missing."


def in_words(report: Mapping[str, Any]) -> str:
    """Exit code or signal as a sentence, and whether its disk was full by then."""
    sentence = explain(ending_of(report)).sentence
    return f"{sentence} {FULL_DISK}" if report.get("disk_full") else sentence


def ending_of(report: Mapping[str, Any], stopped: bool = False) -> Ending:
    """What the agent reported of the end (Cluster.exit) in the words of verdicts."""
    pipe = report.get("pipe")
    return Ending(
        exit_code=report.get("code"),
        signal=report.get("signal"),
        pipe=tuple(pipe) if pipe else None,
        stopped=stopped or report.get("why") in {"walltime", "unpaid", "wish", "outside"},
        memory_killed=bool(report.get("memory_killed")),
    )

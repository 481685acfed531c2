"""What a coretype allows a job to ask for: the same limits, in the same words, for the form and for the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobs.models import Coretype
from portal import words


def beyond(kind: Coretype, **asked: Any) -> Iterator[tuple[str, str]]:
    """Field and message of whatever is more than there is; of nodes, cores (a node) and walltime (s)."""
    limits = {
        "nodes": (kind.max_nodes, f"{kind} has at most {kind.max_nodes} node{'' if kind.max_nodes == 1 else 's'} for a job."),
        "cores": (kind.cores, f"A node of {kind} has {kind.cores} core{'' if kind.cores == 1 else 's'}."),
        "walltime": (kind.walltime_max, f"At most {words.duration(kind.walltime_max)} on {kind}."),
    }
    for name, (most, message) in limits.items():
        if asked.get(name) is not None and asked[name] > most:
            yield name, message

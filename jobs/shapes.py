"""The shapes that a job may take: once for each hardware it accepts, and as an offer would change it.

One idea: a shape is the job itself, in memory, with other hardware; whoever reads a job (checks, prices) reads a shape alike.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .models import Choice, Coretype, Job
from .validation import Finding

HARDWARE = ("coretype", "coretype_id", "nodes", "cores")


def shapes_of(job: Job, changed: Mapping[str, Any] | None = None, choices: Sequence[Choice] | None = None) -> list[Job]:
    """The job in each hardware that it may get; most have one.

    `changed`: columns of the workload as an offer would have them. `choices`: its rows, if they are at hand.
    """
    work = job.workload
    if choices is None:
        choices = list(work.acceptable) or (list(work.choices.all()) if work.pk else [])
    found = [in_shape(job, {"coretype": one.coretype, "nodes": one.nodes, "cores": one.cores}) for one in choices] or [job]
    changes = {name: value for name, value in (changed or {}).items() if name in HARDWARE}
    return [in_shape(found[0], changes), *found[1:]] if changes else found


def in_shape(job: Job, fields: Mapping[str, Any]) -> Job:
    """A copy in memory with other hardware."""
    found, work = copy.copy(job), copy.copy(job.workload)
    for name, value in fields.items():
        setattr(work, name, value)
    if "coretype_id" in fields:
        work.coretype = Coretype.objects.get(pk=fields["coretype_id"])
    found.workload = work
    return found


def key_of(keys: Sequence[str]) -> str:
    """One key for all shapes of a job."""
    return keys[0] if len(keys) == 1 else hashlib.sha256("+".join(keys).encode()).hexdigest()


def merged(shapes: Sequence[Job], found: Sequence[Sequence[Finding]]) -> list[Finding]:
    """What was found in each shape as one list: what holds in all of them once, the rest with the hardware it is true of."""
    if len(shapes) == 1:
        return list(found[0])
    everywhere = [one for one in found[0] if all(one in some for some in found)]
    rest = [
        replace(one, message=f"On {name_of(shape)}: {one.message}")
        for shape, some in zip(shapes, found, strict=True)
        for one in some
        if one not in everywhere
    ]
    return [*everywhere, *rest]


def name_of(shape: Job) -> str:
    work = shape.workload
    return f"{work.coretype} {work.nodes} \u00d7 {work.cores}"

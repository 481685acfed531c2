"""The smallest changes that would start a waiting job now, each with what it asks for.

One idea: an offer is only made if it is true at this moment by the same facts that the queue looks at: free cores, the
head that cores are kept for, limits, money. Whether the input would still pass its check is for jobs.offering.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .. import capacity, ledger, lifecycle
from ..capacity import Pool
from ..models import Asker, Coretype, Project, Workload
from .deciding import keep_free
from .limits import Limits, load
from .line import TELL, Line
from .loading import lines_of, waiting_line

MOST = 4
SHORTEST, STEP = 600, 600
"""Seconds of walltime below which nothing is offered, and to which it is rounded."""


@dataclass(frozen=True)
class Offer:
    """A sentence for people, and the columns of the workload that would change."""

    code: str
    sentence: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Scene:
    """What an offer must be true by."""

    work: Workload
    lines: dict[Pool, Line]
    heads: dict[Pool, Asker]
    pool_of: Any
    limits: Limits
    now: datetime

    def starts(self, **changes: Any) -> bool:
        """Whether limits and budgets allow it as changed."""
        work = copy.copy(self.work)
        for name, value in changes.items():
            setattr(work, name, value)
        return self.limits.short(work) is None and _pays(work, self.now)


def offers(work: Workload, now: datetime) -> list[Offer]:
    """At most MOST, the smallest change first."""
    if work.status != lifecycle.QUEUED or work.gate not in ("budget", "capacity", "limits", "place", "coretype"):
        return []
    if work.gate == "budget":
        return [*_money(work, now)][:MOST]
    return _of_hardware(work, now)[:MOST]


# --- private ----------------------------------------------------------------------------------------------------------
def _of_hardware(work: Workload, now: datetime) -> list[Offer]:
    kinds = list(Coretype.objects.offered_to(work.owner).select_related("region").prefetch_related("software"))
    known = {kind.pk: kind for kind in [*kinds, work.coretype]}
    capacities = capacity.noted()
    heads = _heads(capacities)
    if heads is None:
        return []
    scene = _Scene(work, lines_of(list(known.values()), capacities), heads, lambda kind: capacity.pool_of(kind, capacities), load(), now)
    found = [*_less(scene), *_shorter(scene)] if work.coretype.active else []
    tried = {work.coretype_id, *work.choices.values_list("coretype_id", flat=True)}
    for kind in kinds:
        if kind.pk not in tried:
            found += _elsewhere(scene, kind)
    return found


def _heads(capacities: capacity.Capacities) -> dict[Pool, Asker] | None:
    """The first of each line that lacks capacity; None if the line is too long to be sure of anything."""
    heads: dict[Pool, Asker] = {}
    waiting = [one for one in waiting_line() if one.gate in ("capacity", "place")]
    if len(waiting) > TELL:
        return None
    for one in waiting:
        heads.setdefault(capacity.pool_of(one.coretype, capacities), one)
    return heads


def _less(scene: _Scene) -> Iterator[Offer]:
    """Fewer cores a node, or fewer nodes, if nobody stands before it."""
    work, pool = scene.work, scene.pool_of(scene.work.coretype)
    line, head = scene.lines[pool], scene.heads.get(pool)
    left, free = scene.limits.left(work), line.room.free
    if not free or (head is not None and head.pk != work.pk):
        return
    most = free if left is None else min(free, left)
    if most >= work.total_cores:
        return
    why = "they are free now" if most == free else "so many are allowed now"
    if (cores := most // work.nodes) >= 1 and scene.starts(cores=cores):
        each = f"{work.nodes} \u00d7 " if work.nodes > 1 else ""
        yield Offer("cores", f"{each}{cores} instead of {each}{work.cores} cores: {why}", {"cores": cores})
    elif (nodes := most // work.cores) >= 1 and scene.starts(nodes=nodes):
        yield Offer("nodes", f"{nodes} instead of {work.nodes} nodes: {why}", {"nodes": nodes})


def _shorter(scene: _Scene) -> Iterator[Offer]:
    """A walltime that is over before the cores are needed for the head."""
    work, pool = scene.work, scene.pool_of(scene.work.coretype)
    line, head = scene.lines[pool], scene.heads.get(pool)
    if work.gate != "place" or head is None or head.pk == work.pk or (line.room.free or 0) < work.total_cores:
        return
    keep_free(head, line, scene.now)
    seconds = (line.shadow - scene.now).total_seconds() // STEP * STEP if line.shadow else 0
    if SHORTEST <= seconds < work.walltime and scene.starts():
        yield Offer(
            "walltime", f"At most {_hours(int(seconds))} of walltime: it is over before others need the cores", {"walltime": int(seconds)}
        )


def _elsewhere(scene: _Scene, kind: Coretype) -> Iterator[Offer]:
    """Another coretype on which it would start at once as it is."""
    work, pool = scene.work, scene.pool_of(kind)
    free = scene.lines[pool].room.free
    fits = work.cores <= kind.cores and work.nodes <= kind.max_nodes and work.walltime <= kind.walltime_max
    if not fits or pool in scene.heads or free is None or free < work.total_cores or (work.economy and kind.economy_price is None):
        return
    programs = {one.pk for one in kind.software.all()}
    if programs and work.kind == "job" and work.job.software.software_id not in programs:
        return
    if work.kind == "workstation" and work.workstation.kind.refuses(work.owner, kind):
        return
    if scene.starts(coretype=kind):
        yield Offer("coretype", f"Coretype {kind} is free: {free} cores{_dearer(work, kind)}", {"coretype_id": kind.pk})


def _dearer(work: Workload, kind: Coretype) -> str:
    before, after = (one.price_of(work.economy) * work.total_cores for one in (work.coretype, kind))
    return f", for {after / before:.2g} times the price" if before and after > before else ""


def _money(work: Workload, now: datetime) -> Iterator[Offer]:
    """Another project of the owner that can pay the first hour, or the economy price."""
    limits = load()
    for project in Project.objects.filter(memberships__user=work.owner_id, active=True).exclude(pk=work.project_id)[: MOST * 2]:
        budgets = ledger.budgets_for(work.owner, project, now)
        moved = copy.copy(work)
        moved.project = project
        if budgets and _pays(moved, now) and limits.short(moved) is None:
            left = min((b for b in budgets if b.project_id), key=lambda b: b.left, default=budgets[0])
            yield Offer("project", f"Project {project} has {ledger.amount_of(left, left.left)} left", {"project_id": project.pk})
    if not work.economy and work.coretype.economy_price is not None:
        cheap = copy.copy(work)
        cheap.economy = True
        if _pays(cheap, now):
            yield Offer("economy", "As economy work the money is enough; it may be interrupted", {"economy": True})


def _pays(work: Workload, now: datetime) -> bool:
    budgets = ledger.budgets_for(work.owner, work.project, now)
    if not budgets:
        return ledger.may_run_unpaid(work.owner)
    return not any(ledger.short_of(budget, work, now) for budget in budgets)


def _hours(seconds: int) -> str:
    hours, minutes = divmod(seconds // 60, 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "") if part)

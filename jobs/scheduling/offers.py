"""The smallest changes that would start a waiting job now, each with what it asks for.

One idea: an offer is only made if it is true at this moment by the same facts that the queue looks at: free cores, the
head that cores are kept for, money of the other project. Who takes it still goes through the queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .. import capacity, ledger, lifecycle
from ..models import Coretype, Project, Workload
from .gates import amount_of
from .line import TELL, Line
from .loading import lines_of, waiting_line

MOST = 4
SHORTEST = 600
"""Seconds of walltime below which nothing is offered."""


@dataclass(frozen=True)
class Offer:
    """A sentence for people, and the columns of the workload that would change."""

    code: str
    sentence: str
    fields: dict[str, Any] = field(default_factory=dict)


def offers(work: Workload, now: datetime) -> list[Offer]:
    """At most MOST, the smallest change first."""
    if work.status != lifecycle.QUEUED or work.gate not in ("budget", "capacity", "place", "coretype"):
        return []
    if work.gate == "budget":
        return [*_money(work)][:MOST]
    return _of_hardware(work)[:MOST]


# --- private ----------------------------------------------------------------------------------------------------------
def _of_hardware(work: Workload) -> list[Offer]:
    kinds = list(Coretype.objects.offered_to(work.owner).select_related("region").prefetch_related("software"))
    known = {kind.pk: kind for kind in [*kinds, work.coretype]}
    capacities = capacity.noted()
    lines = lines_of(list(known.values()), capacities)
    heads = _heads(capacities)
    if heads is None:
        return []
    found: list[Offer] = []
    own = capacity.pool_of(work.coretype, capacities)
    if work.coretype.active:
        found += _less(work, lines[own], heads.get(own, work.pk) == work.pk)
    for kind in kinds:
        pool = capacity.pool_of(kind, capacities)
        if kind.pk != work.coretype_id and pool not in heads:
            found += _elsewhere(work, kind, lines[pool])
    return found


def _heads(capacities: capacity.Capacities) -> dict[capacity.Pool, int] | None:
    """The first of each line that lacks capacity; None if the line is too long to be sure of anything."""
    heads: dict[capacity.Pool, int] = {}
    waiting = [one for one in waiting_line() if one.gate in ("capacity", "place")]
    if len(waiting) > TELL:
        return None
    for one in waiting:
        heads.setdefault(capacity.pool_of(one.coretype, capacities), one.pk)
    return heads


def _less(work: Workload, line: Line, head: bool) -> Iterator[Offer]:
    """Fewer cores a node, or fewer nodes, if nobody stands before it."""
    free = line.room.free
    if not free or not head or free >= work.total_cores:
        return
    if (cores := free // work.nodes) >= 1:
        each = f"{work.nodes} \u00d7 " if work.nodes > 1 else ""
        yield Offer("cores", f"{each}{cores} instead of {each}{work.cores} cores: they are free now", {"cores": cores})
    elif (nodes := free // work.cores) >= 1:
        yield Offer("nodes", f"{nodes} instead of {work.nodes} nodes: they are free now", {"nodes": nodes})


def _elsewhere(work: Workload, kind: Coretype, line: Line) -> Iterator[Offer]:
    """Another coretype on which it would start at once as it is."""
    free = line.room.free
    fits = work.cores <= kind.cores and work.nodes <= kind.max_nodes and work.walltime <= kind.walltime_max
    if not fits or free is None or free < work.total_cores or (work.economy and kind.economy_price is None):
        return
    programs = {one.pk for one in kind.software.all()}
    if programs and work.kind == "job" and work.job.software.software_id not in programs:
        return
    before, after = (one.price_of(work.economy) * work.total_cores for one in (work.coretype, kind))
    dearer = f", for {after / before:.2g} times the price" if before and after > before else ""
    yield Offer("coretype", f"Coretype {kind} is free: {free} cores{dearer}", {"coretype_id": kind.pk})


def _money(work: Workload) -> Iterator[Offer]:
    """Another project of the owner that can pay the first hour."""
    for project in Project.objects.filter(memberships__user=work.owner_id, active=True).exclude(pk=work.project_id)[: MOST * 2]:
        budgets = ledger.budgets_for(work.owner, project)
        if budgets and not any(ledger.short_of(budget, work) for budget in budgets):
            left = min((b for b in budgets if b.project_id), key=lambda b: b.left, default=budgets[0])
            yield Offer("project", f"Project {project} has {amount_of(left, left.left)} left", {"project_id": project.pk})
    if not work.economy and work.coretype.economy_price is not None and _pays(work):
        yield Offer("economy", "As economy work the money is enough; it may be interrupted", {"economy": True})


def _pays(work: Workload) -> bool:
    work.economy = True
    try:
        return not any(ledger.short_of(budget, work) for budget in ledger.budgets_for(work.owner, work.project))
    finally:
        work.economy = False

"""Why a queued job waits, gate by gate, and what is going on in each pool, for the pages."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from .. import capacity, ledger, lifecycle
from ..models import Coretype, Workload
from .limits import load
from .line import cores_of


@dataclass(frozen=True)
class Gate:
    """One thing that must be true before a start, with its evidence."""

    code: str
    name: str
    passed: bool
    sentence: str
    more: str = ""
    holds: bool = False
    since: datetime | None = None


ORDER = {"coretype": "Coretype", "budget": "Budget", "capacity": "Capacity", "limits": "Limits", "place": "Place in line"}
"""Gates by code, the first one first."""


def holding(workload: Workload) -> Gate:
    """The gate that holds a queued one, as the queue saw it last. No query: lists show it for many."""
    if workload.gate not in ORDER:
        return Gate("line", "Queue", False, "Being looked at", holds=True, since=workload.submitted)
    return Gate(workload.gate, ORDER[workload.gate], False, workload.gate_text, workload.gate_more, True, workload.gate_since)


def gates(workload: Workload, now: datetime) -> list[Gate]:
    """The gates in order, as the queue saw them last; the first that is not passed holds."""
    held, order = holding(workload), list(ORDER)
    if held.code not in order:
        return [held]
    passed = _passed_sentences(workload)
    position = order.index(held.code)
    since = workload.gate_since  # open at least since the next one holds
    before = [Gate(code, ORDER[code], True, passed[code], since=since) for code in order[:position]]
    return [*before, held, *(Gate(code, ORDER[code], False, "Looked at after the gate before it") for code in order[position + 1 :])]


def _passed_sentences(workload: Workload) -> dict[str, str]:
    kind = workload.coretype
    budgets = ledger.budgets_for(workload.owner, workload.project)
    names = ", ".join(f"{ledger.amount_of(b, b.left)} free in {b.name}" for b in budgets) or "no budget applies"
    return {
        "coretype": f"{kind.name} is offered: up to {kind.max_nodes} x {kind.cores} cores",
        "budget": f"First hour {_amount_money(workload)}; {names}",
        "capacity": f"{cores_of(workload.total_cores)} free",
        "limits": load().says(workload),
        "place": "Next in line",
    }


def _amount_money(workload: Workload) -> str:
    return f"{settings.CURRENCY}{ledger.first_hour(workload.coretype, workload.nodes, workload.cores, workload.economy):,.2f}"


@dataclass(frozen=True)
class Occupancy:
    """Cores of a coretype's pool and what the coretype's own work takes of it; None: the backend has never told.

    `old`: when the backend told them, if it has not answered for a while.
    """

    total: int | None
    busy: int
    free: int | None
    queued: int
    old: datetime | None = None


def occupancy(now: datetime | None = None) -> dict[int, Occupancy]:
    """By coretype id, as the backends told the engine last."""
    now = now or timezone.now()
    coretypes = list(Coretype.objects.all())
    capacities = capacity.noted()
    rooms = capacity.rooms(coretypes, capacities)
    busy = dict.fromkeys((kind.pk for kind in coretypes), 0)
    queued: dict[int, int] = defaultdict(int)
    for pk, status, nodes, cores in Workload.objects.filter(status__in=[lifecycle.QUEUED, *lifecycle.STARTED_CODES]).values_list(
        "coretype_id", "status", "nodes", "cores"
    ):
        (queued if status == lifecycle.QUEUED else busy)[pk] += nodes * cores
    found = {}
    for kind in coretypes:
        room = rooms[capacity.pool_of(kind, capacities)]
        found[kind.pk] = Occupancy(room.total, busy[kind.pk], room.free, queued[kind.pk], room.at if room.aged(now) else None)
    return found

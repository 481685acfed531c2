"""How many cores each pool has, and who holds them: arithmetic over our own rows.

Who holds what is read from our rows: a workload past Queued holds its cores until its cluster is released. What a pool has
in all is told by its backend: to the engine directly (gauging.py), to the pages by the rows that the engine's poll wrote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Sum

from . import lifecycle
from .models import Coretype, PoolState, Workload

AGED = timedelta(seconds=60)
"""Figures that are older than this are told as old."""

Pool = tuple[str, str]
"""Backend and coretype code; the code is "" where all coretypes of a backend share one pool."""


@dataclass(frozen=True)
class Figures:
    """What a backend says of a pool: cores in all (None: not known), whether it has a queue of its own, its limit.

    `at`: when it said so, if that is not just now.
    """

    total: int | None
    queues_itself: bool = False
    limit: int | None = None
    at: datetime | None = None


Capacities = Mapping[str, Mapping[str, Figures]]
"""By backend, then by coretype code."""


@dataclass
class Room:
    """Cores of a pool; `total` None: the backend could not be asked."""

    pool: Pool
    total: int | None
    held: int = 0
    queues_itself: bool = False
    limit: int | None = None
    at: datetime | None = None

    @property
    def free(self) -> int | None:
        return None if self.total is None else max(0, self.total - self.held)

    def aged(self, now: datetime) -> bool:
        """Whether its backend has not told its figures for a while."""
        return self.at is not None and now - self.at > AGED


def noted() -> dict[str, dict[str, Figures]]:
    """What the backends told the engine last. Calls nobody."""
    found: dict[str, dict[str, Figures]] = defaultdict(dict)
    for row in PoolState.objects.all():
        found[row.backend][row.code] = Figures(row.total, row.queues_itself, row.limit, row.at)
    return dict(found)


def pool_of(coretype: Coretype, capacities: Capacities) -> Pool:
    """Its own, where its backend counts it by itself; else the one that all of the backend share."""
    codes = capacities.get(coretype.backend, {})
    return coretype.backend, coretype.code if coretype.code in codes else ""


def rooms(coretypes: Iterable[Coretype], capacities: Capacities) -> dict[Pool, Room]:
    """The pools of these coretypes, with what our own workloads hold in them."""
    made: dict[Pool, Room] = {}
    for coretype in coretypes:
        pool = pool_of(coretype, capacities)
        found = capacities.get(pool[0], {}).get(pool[1], Figures(None))
        made.setdefault(pool, Room(pool, found.total, 0, found.queues_itself, found.limit, found.at))
    for coretype, cores in held_cores(made, capacities):
        made[pool_of(coretype, capacities)].held += cores
    return made


def held_cores(pools: Iterable[Pool], capacities: Capacities) -> list[tuple[Coretype, int]]:
    """Cores held by coretype, for every coretype whose pool is among `pools`."""
    sums: dict[int, int] = defaultdict(int)
    rows = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).values_list("coretype").annotate(sum=Sum(F("nodes") * F("cores")))
    sums.update(rows)
    wanted = set(pools)
    coretypes = Coretype.objects.filter(pk__in=sums)
    return [(coretype, sums[coretype.pk]) for coretype in coretypes if pool_of(coretype, capacities) in wanted]

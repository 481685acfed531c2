"""What the backends have: a snapshot of their capacity, taken outside any transaction and kept for a moment.

Who holds what is read from our own rows: a workload past Queued holds its cores until its cluster is released.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, Sum

from . import backends, lifecycle
from .models import Coretype, Workload

KEPT = 2.0
"""Seconds that an answer is used for."""

Pool = tuple[str, str]
"""Backend and coretype code; the code is "" where all coretypes of a backend share one pool."""

_snapshots: dict[str, tuple[float, dict[str, backends.Capacity]]] = {}
_lock = threading.Lock()


@dataclass
class Room:
    """Cores of a pool; `total` None: the backend could not be asked."""

    pool: Pool
    total: int | None
    held: int = 0
    queues_itself: bool = False
    limit: int | None = None

    @property
    def free(self) -> int | None:
        return None if self.total is None else max(0, self.total - self.held)


def snapshot(names: Iterable[str]) -> dict[str, dict[str, backends.Capacity]]:
    """Capacity by backend and coretype code, at most KEPT seconds old. Calls the backends: never in a transaction."""
    return {name: _ask(name) for name in set(names)}


def _ask(name: str) -> dict[str, backends.Capacity]:
    now = time.monotonic()
    with _lock:
        kept = _snapshots.get(name)
    if kept and now - kept[0] < KEPT:
        return kept[1]
    answer = dict(backends.get(name).capacity())
    with _lock:
        _snapshots[name] = (now, answer)
    return answer


def forget() -> None:
    """Drop what is kept (tests, and after something was released)."""
    with _lock:
        _snapshots.clear()


def pool_of(coretype: Coretype, capacities: dict[str, dict[str, backends.Capacity]]) -> Pool:
    codes = capacities.get(coretype.backend, {})
    return coretype.backend, coretype.code if coretype.code in codes else ""


def rooms(coretypes: Iterable[Coretype], capacities: dict[str, dict[str, backends.Capacity]]) -> dict[Pool, Room]:
    """The pools of these coretypes, with what our own workloads hold in them."""
    made: dict[Pool, Room] = {}
    for coretype in coretypes:
        pool = pool_of(coretype, capacities)
        found = capacities.get(pool[0], {}).get(pool[1])
        if found is None:
            made.setdefault(pool, Room(pool, None))
        else:
            made.setdefault(pool, Room(pool, found.total, 0, found.queues_itself, found.limit))
    for coretype, cores in held_cores(made, capacities):
        made[pool_of(coretype, capacities)].held += cores
    return made


def held_cores(pools: Iterable[Pool], capacities: dict[str, dict[str, backends.Capacity]]) -> list[tuple[Coretype, int]]:
    """Cores held by coretype, for every coretype whose pool is among `pools`."""
    sums: dict[int, int] = defaultdict(int)
    rows = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).values_list("coretype").annotate(sum=Sum(F("nodes") * F("cores")))
    sums.update(rows)
    wanted = set(pools)
    coretypes = Coretype.objects.filter(pk__in=sums)
    return [(coretype, sums[coretype.pk]) for coretype in coretypes if pool_of(coretype, capacities) in wanted]

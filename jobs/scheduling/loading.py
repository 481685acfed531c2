"""Loads what `decide` goes through: the queue in its order, and a line a pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from datetime import timedelta
from functools import cache

from django.db.models import F, Sum

from .. import capacity, lifecycle
from ..lifecycle import Wish
from ..models import Cluster, Coretype, Workload
from .deciding import Line, Living, Pool
from .fair import in_turn

INTERRUPTED = (lifecycle.STARTING, lifecycle.RUNNING)
"""Where economy work may be interrupted; one that is being validated is past in a moment."""


def waiting_line(limit: int = 10_000) -> list[Workload]:
    """The queue, in order."""
    rows = list(Workload.objects.filter(status=lifecycle.QUEUED).order_by("-priority", "economy", "submitted", "pk")[:limit])
    kinds = Coretype.objects.in_bulk({work.coretype_id for work in rows})
    for work in rows:  # one object a coretype, not one a row
        work.coretype = kinds[work.coretype_id]
    return in_turn(rows, using()) if rows else rows


def using() -> dict[Hashable, int]:
    """Cores that each project, or each owner of work without one, has now."""
    started = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).order_by()
    cores = Sum(F("nodes") * F("cores"))
    shared = started.exclude(project=None).values_list("project").annotate(sum=cores)
    alone = started.filter(project=None).values_list("owner").annotate(sum=cores)
    return {**{("project", pk): sum for pk, sum in shared}, **{("owner", pk): sum for pk, sum in alone}}


def lines_of(coretypes: Sequence[Coretype], capacities: capacity.Capacities) -> dict[Pool, Line]:
    """A line a pool of these coretypes."""
    load = cache(lambda: _living(capacities))
    rooms = capacity.rooms(coretypes, capacities)
    return {pool: Line(room, lambda pool=pool: load()[pool]) for pool, room in rooms.items()}  # type: ignore[misc]


def _living(capacities: capacity.Capacities) -> dict[Pool, Living]:
    """What has cores, by pool: by its walltime when it ends, and what of it may be interrupted."""
    kinds = Coretype.objects.in_bulk()
    until = dict(Cluster.objects.filter(released__isnull=True).values_list("workload_id", "walltime_until"))
    found: dict[Pool, Living] = defaultdict(Living)
    started = Workload.objects.filter(status__in=lifecycle.STARTED_CODES)
    rows = started.values_list("pk", "coretype_id", "nodes", "cores", "since", "walltime", "status", "economy", "wish")
    for pk, kind, nodes, cores, since, walltime, status, economy, wish in rows:
        living = found[capacity.pool_of(kinds[kind], capacities)]
        living.ends.append((until.get(pk) or since + timedelta(seconds=walltime), nodes * cores))
        if status == lifecycle.STOPPING:
            living.coming += nodes * cores
        elif economy and status in INTERRUPTED and wish == Wish.RUN:
            living.cheap.append((since, nodes * cores, pk))
    return found

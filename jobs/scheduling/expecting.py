"""Loads what forecast.py needs to say when a queued job starts."""

from __future__ import annotations

from datetime import UTC, datetime

from .. import capacity, lifecycle
from ..capacity import Pool
from ..models import Cluster, Coretype, Workload
from . import forecast
from .loading import lines_of, waiting_line

LONGEST = 500
"""Places ahead in line up to which a start is foretold."""
RECENT = 200


def expected_start(workload: Workload, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Earliest and latest start of a queued workload, by what runs, what stands before it, and how long such jobs took."""
    capacities = capacity.noted()
    pool = capacity.pool_of(workload.coretype, capacities)
    room = lines_of([workload.coretype], capacities)[pool].room
    if room.free is None or workload.gate in ("budget", "coretype"):
        return None, None
    waiting = [work for work in waiting_line() if work.gate not in ("budget", "coretype")]
    line = [work for work in waiting if capacity.pool_of(work.coretype, capacities) == pool]
    place = next((at for at, work in enumerate(line) if work.pk == workload.pk), None)
    if place is None or place > LONGEST:
        return None, None
    waits = [forecast.Waits(work.total_cores, work.walltime) for work in line[: place + 1]]
    found = forecast.interval(room.free, _running(pool, capacities), waits, now.timestamp(), past(workload.coretype_id), workload.pk)
    if found is None:
        return None, None
    return datetime.fromtimestamp(found[0], UTC), datetime.fromtimestamp(found[1], UTC)


def past(coretype_id: int) -> list[float]:
    """Which share of their walltime recent jobs of this coretype used."""
    rows = Cluster.objects.filter(coretype=coretype_id, went__isnull=False, exited__isnull=False).order_by("-pk")
    times = rows.values_list("went", "exited", "walltime_until")[:RECENT]
    return [(ended - went).total_seconds() / max(1.0, (until - went).total_seconds()) for went, ended, until in times if until]


def _running(pool: Pool, capacities: capacity.Capacities) -> list[forecast.Runs]:
    kinds = Coretype.objects.in_bulk()
    began = dict(Cluster.objects.filter(released__isnull=True).values_list("workload_id", "went"))
    rows = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).values_list("pk", "coretype", "nodes", "cores", "since", "walltime")
    return [
        forecast.Runs(nodes * cores, (began.get(pk) or since).timestamp(), walltime)
        for pk, kind, nodes, cores, since, walltime in rows
        if capacity.pool_of(kinds[kind], capacities) == pool
    ]

"""What a job in line sees of its pool: who has its cores and when each gives them back, and who stands before it.

One idea: plain values, a few of each, that can be kept for a while; whose work it is stands beside its name, so that the
page tells the name to those alone who may know it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nsmallest

from .. import capacity, lifecycle
from ..capacity import Pool
from ..models import Cluster, Coretype, Workload
from .expecting import NOT_IN_LINE, told_end
from .loading import lines_of, waiting_line

MOST = 4
COLUMNS = ("pk", "public_id", "kind", "name", "owner_id", "project_id", "nodes", "cores", "since", "walltime", "status", "attempt",
           "job__progress")  # fmt: skip


@dataclass(frozen=True)
class Other:
    """Somebody's work."""

    public_id: str
    kind: str
    name: str
    owner_id: int
    project_id: int | None
    cores: int


@dataclass(frozen=True)
class Holder:
    """Has cores until `end`. `by`: how that is known: "stopping", the "pace" of its output, or its "walltime", then at the latest."""

    work: Other
    end: datetime
    by: str


@dataclass(frozen=True)
class Ahead:
    """`place`: 1 is next in line. `holders` are the first to give cores back, `before` those who are next in line before it."""

    free: int
    holders: list[Holder]
    before: list[Other]
    place: int


def ahead(work: Workload, now: datetime) -> Ahead | None:
    """None for what stands in no line: it waits for money or a limit, or its backend has a line of its own."""
    if work.gate in NOT_IN_LINE:
        return None
    capacities = capacity.noted()
    pool = capacity.pool_of(work.coretype, capacities)
    room = lines_of([work.coretype], capacities)[pool].room
    if room.free is None or room.queues_itself:
        return None
    line = [one for one in waiting_line() if one.gate not in NOT_IN_LINE and capacity.pool_of(one.coretype, capacities) == pool]
    place = next((at for at, one in enumerate(line) if one.pk == work.pk), None)
    if place is None:
        return None
    before = [Other(one.public_id, one.kind, one.name, one.owner_id, one.project_id, one.total_cores) for one in line[:place][:MOST]]
    holders = nsmallest(MOST, _holders(pool, capacities, now), key=lambda one: one.end)
    return Ahead(room.free, holders, before, place + 1)


# --- private ----------------------------------------------------------------------------------------------------------
def _holders(pool: Pool, capacities: capacity.Capacities, now: datetime) -> Iterator[Holder]:
    kinds = {pk for pk, kind in Coretype.objects.in_bulk().items() if capacity.pool_of(kind, capacities) == pool}
    until = dict(Cluster.objects.filter(released__isnull=True).values_list("workload_id", "walltime_until"))
    rows = Workload.objects.filter(status__in=lifecycle.STARTED_CODES, coretype__in=kinds).values_list(*COLUMNS)
    for pk, public_id, kind, name, owner, project, nodes, cores, since, walltime, status, attempt, progress in rows:
        told = told_end(status, progress or {}, attempt, now)
        if told is None:
            by, end = "walltime", until.get(pk) or since + timedelta(seconds=walltime)
        else:
            by, end = "stopping" if status == lifecycle.STOPPING else "pace", datetime.fromtimestamp(told, UTC)
        yield Holder(Other(public_id, kind, name, owner, project, nodes * cores), max(now, end), by)

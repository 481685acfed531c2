"""Loads what forecast.py needs to say when a queued job starts: what runs, who waits, who came before, how long runs took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from .. import capacity, lifecycle
from ..capacity import Pool
from ..models import Asker, Asks, Cluster, Coretype, Workload
from . import forecast
from .fair import side_of
from .habits import Habits, Likeness, likeness_of
from .loading import lines_of, waiting_line

LONGEST = 200
"""Places in line up to which a start is foretold."""
RECENT, BACK = 1000, timedelta(days=7)
"""Newest runs and arrivals that count, and how far back."""
SURE = 10.0
"""Percent that must be done until a pace counts."""
RELEASED = 60.0
"""Seconds after which what is stopping has usually handed back its cores."""
NOT_IN_LINE = ("budget", "coretype", "limits")


def expected_start(workload: Workload, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Earliest and latest start of a queued workload: on the first of its choices of hardware that can start it."""
    if workload.gate in NOT_IN_LINE:
        return None, None
    capacities, kinds = capacity.noted(), Coretype.objects.in_bulk()
    line = [work for work in waiting_line() if work.gate not in NOT_IN_LINE]
    known = _Known(now, capacities, kinds)
    choices = list(workload.choices.select_related("coretype"))
    shapes = [(one.coretype, one.total_cores) for one in choices] or [(workload.coretype, workload.total_cores)]
    found = [span for kind, cores in shapes if (span := _span(workload, kind, cores, line, known))]
    if not found:
        return None, None
    return tuple(datetime.fromtimestamp(min(ends), UTC) for ends in zip(*found, strict=True))  # type: ignore[return-value]


def told_end(status: str, said: Mapping[str, Any], attempt: int, now: datetime) -> float | None:
    """When it ends, in unix seconds, if it is stopping or its own output (a job's `progress`) tells a pace."""
    if status == lifecycle.STOPPING:
        return now.timestamp() + RELEASED
    percent, first = said.get("percent"), said.get("first")
    if said.get("attempt") != attempt or percent is None or not first or not SURE <= percent < 100 or percent <= first[0]:
        return None
    return float(said["at"] + (said["at"] - first[1]) * (100 - percent) / (percent - first[0]))


# --- private ----------------------------------------------------------------------------------------------------------
class _Known:
    """What all choices share, loaded once."""

    def __init__(self, now: datetime, capacities: capacity.Capacities, kinds: Mapping[int, Coretype]) -> None:
        self.now, self.capacities, self.kinds = now, capacities, kinds
        self.habits = Habits(_past())
        self.came = _came(now)
        self.software = _software([*self.came, *_started()])

    def pool_of(self, kind: Coretype) -> Pool:
        return capacity.pool_of(kind, self.capacities)

    def waits(self, work: Asks, cores: int) -> forecast.Waits:
        like = self.likeness(work, cores)
        return forecast.Waits(cores, work.walltime, like, work.asked.timestamp(), side_of(work), (-work.priority, work.economy))

    def likeness(self, work: Asks, cores: int) -> Likeness:
        return likeness_of(work.owner_id, self.software.get(work.pk), work.walltime, cores, work.coretype_id)


def _span(workload: Workload, kind: Coretype, cores: int, line: Sequence[Asker], known: _Known) -> tuple[float, float] | None:
    """Unix seconds of the earliest and the latest start on this hardware."""
    pool, now = known.pool_of(kind), known.now
    room = lines_of([kind], known.capacities)[pool].room
    here = [work for work in line if work.pk != workload.pk and known.pool_of(work.coretype) == pool]
    if room.free is None or len(here) > LONGEST:
        return None
    one = known.waits(workload, cores)
    waits = sorted([one, *(known.waits(work, work.total_cores) for work in here)], key=lambda wait: wait.asked)
    came = [known.waits(work, work.total_cores) for work in known.came if known.pool_of(known.kinds[work.coretype_id]) == pool]
    since = min((wait.asked for wait in came), default=None)
    scene = forecast.Scene(room.free, list(_running(pool, known)), waits, now.timestamp(), known.habits, came, since)
    return forecast.interval(scene, one, workload.pk)


def _past() -> Iterable[tuple[Likeness, float]]:
    """Which share of their walltime the newest runs used, oldest first."""
    ended = Cluster.objects.filter(went__isnull=False, exited__isnull=False, walltime_until__isnull=False).order_by("-pk")
    work = ("workload__owner", "workload__job__software__software", "workload__walltime")
    rows = ended.values_list(*work, "nodes_wanted", "cores", "coretype", "went", "exited", "walltime_until")[:RECENT]
    for owner, software, walltime, nodes, cores, kind, went, exited, until in reversed(rows):
        share = (exited - went).total_seconds() / max(1.0, (until - went).total_seconds())
        yield likeness_of(owner, software, walltime, nodes * cores, kind), share


def _came(now: datetime) -> list[Workload]:
    """Who was submitted lately, by age."""
    newest = Workload.objects.filter(submitted__isnull=False).order_by("-pk")[:RECENT]
    return sorted((work for work in newest if work.submitted and work.submitted > now - BACK), key=lambda work: work.submitted or now)


def _started() -> list[Workload]:
    return list(Workload.objects.filter(status__in=lifecycle.STARTED_CODES))


def _software(works: Iterable[Workload]) -> dict[int, Any]:
    from ..models import Job

    return dict(Job.objects.filter(workload__in={work.pk for work in works}).values_list("workload", "software__software"))


def _running(pool: Pool, known: _Known) -> Iterable[forecast.Runs]:
    began = dict(Cluster.objects.filter(released__isnull=True).values_list("workload_id", "went"))
    rows = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).select_related("job")
    for work in rows:
        if known.pool_of(known.kinds[work.coretype_id]) != pool:
            continue
        start = (began.get(work.pk) or work.since).timestamp()
        like, cores = known.likeness(work, work.total_cores), work.total_cores
        end = told_end(work.status, _progress(work), work.attempt, known.now)
        yield forecast.Runs(cores, start, work.walltime, like, end, side_of(work))


def _progress(work: Workload) -> Mapping[str, Any]:
    return work.job.progress if work.kind == Workload.Kind.JOB else {}

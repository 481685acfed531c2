"""Loads what `decide` goes through: the queue in its order, each with its choices of hardware, and a line a pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache

from django.db.models import F, Sum

from .. import capacity, lifecycle
from ..capacity import Pool
from ..lifecycle import Wish
from ..models import Asker, Choice, Cluster, Coretype, Project, Workload
from ..models.asker import in_line
from ..models.rows import columns, made, no_garbage
from .fair import in_turn, side
from .line import Line, Living

INTERRUPTED = (lifecycle.STARTING, lifecycle.RUNNING)
"""Where economy work may be interrupted; one that is being validated is past in a moment."""


OF_A_CHOICE = columns(Choice)


@no_garbage()
def waiting_line(limit: int = 10_000) -> list[Asker]:
    """The queue, in order. Who has choices of hardware asks for the first of them."""
    queue = in_line(limit)
    if not queue:
        return queue
    kinds = Coretype.objects.in_bulk()  # one object a coretype, not one a row
    projects = Project.objects.in_bulk({work.project_id for work in queue})
    for work in queue:
        work.coretype, work.project = kinds[work.coretype_id], projects.get(work.project_id)  # type: ignore[arg-type]
        work.total_cores = work.nodes * work.cores
    _attach_choices(queue, kinds)
    return in_turn(queue, using())


def kinds_of(queue: Sequence[Asker]) -> list[Coretype]:
    """Every coretype that the queue, or a choice in it, asks for."""
    asked = {work.coretype_id: work.coretype for work in queue}
    return list({**asked, **{choice.coretype_id: choice.coretype for work in queue for choice in work.acceptable}}.values())


def note_tried(queue: Iterable[Asker], now: datetime) -> None:
    """For those with choices that the backend had nothing for: which coretype that was."""
    later = {work.pk: work for work in queue if work.acceptable and work.not_before and work.not_before > now}
    for cluster in Cluster.objects.filter(workload__in=later).only("workload", "attempt", "coretype") if later else ():
        work = later[cluster.workload_id]
        if cluster.attempt == work.attempt - 1:
            work.tried = cluster.coretype_id


def _attach_choices(queue: Sequence[Asker], kinds: dict[int, Coretype]) -> None:
    known: dict[int, list[Choice]] = defaultdict(list)
    for choice in made(Choice.objects.filter(workload__status=lifecycle.QUEUED).order_by("place"), OF_A_CHOICE, coretype=kinds):
        known[choice.workload_id].append(choice)
    for work in queue if known else ():
        if work.pk in known:
            work.acceptable = known[work.pk]
            work.take(work.acceptable[0])


def using() -> dict[Hashable, int]:
    """Cores that each project, or each owner of work without one, has now."""
    found: dict[Hashable, int] = defaultdict(int)
    started = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).order_by()
    for project, owner, cores in started.values_list("project", "owner").annotate(sum=Sum(F("nodes") * F("cores"))):
        found[side(project, owner)] += cores
    return found


def lines_of(coretypes: Sequence[Coretype], capacities: capacity.Capacities) -> dict[Pool, Line]:
    """A line a pool of these coretypes."""
    load = cache(lambda: _living(capacities))
    rooms = capacity.rooms(coretypes, capacities)
    return {pool: Line(room, lambda pool=pool: load()[pool]) for pool, room in rooms.items()}  # type: ignore[misc]


@no_garbage()
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
        if status in (lifecycle.STOPPING, lifecycle.SUSPENDING):
            living.coming += nodes * cores
        elif economy and status in INTERRUPTED and wish == Wish.RUN:
            living.cheap.append((since, nodes * cores, pk))
    return found

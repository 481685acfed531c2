"""What there is and who has it: hardware, clusters that live now, machines that nobody here asked for.

One idea: the pages ask here and never a backend; what a backend does not answer is told as not known, never as zero.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, F, Min, Q, Sum

from . import backends, capacity, history, lifecycle, scheduling
from .models import Cluster, Coretype, Request, Stray, Turn, Workload
from .money.books import ZERO, due, seconds_between
from .signals import announce

log = logging.getLogger(__name__)

DECISIONS = ("destroy", "keep")
SHOWN = 200
"""Clusters on the page."""
PAST = 20
"""Unknown machines that are gone, on the page."""


@dataclass(frozen=True)
class Taken:
    """What a coretype's own work has: cores of commands that run, nodes that are held, nodes that work in line asks for."""

    running: int = 0
    nodes: int = 0
    nodes_queued: int = 0


@dataclass(frozen=True)
class Kind:
    """A coretype with what is going on there, in cores. `total` and `free` None: the backend does not say."""

    coretype: Coretype
    total: int | None
    free: int | None
    running: int
    moving: int
    queued: int
    usual: tuple[float, float] | None
    """Seconds that Starting Cluster takes here, for 8 of 10."""
    old: datetime | None = None
    """When the backend told its figures, if it has not answered for a while."""
    nodes: int = 0
    nodes_queued: int = 0

    @property
    def busy(self) -> int:
        return self.running + self.moving

    @property
    def nodes_free(self) -> int | None:
        """Whole nodes for which cores are free, wherever these are."""
        return None if self.free is None else self.free // self.coretype.cores

    @property
    def others(self) -> int:
        """Cores of the same pool that other coretypes hold."""
        return 0 if self.total is None or self.free is None else max(0, self.total - self.free - self.busy)


@dataclass(frozen=True)
class About:
    """What a backend says of itself; `trouble` if it does not answer."""

    name: str
    text: str
    trouble: bool = False


@dataclass(frozen=True)
class Alive:
    """A cluster that may exist, and what it has cost so far."""

    cluster: Cluster
    cost: Decimal
    asked: Request | None = None
    """Somebody wants it released."""


@dataclass(frozen=True)
class Totals:
    """The whole installation. `cores` None: a backend does not say; `rate` is money an hour of what is up now."""

    busy: int
    cores: int | None
    waiting: int
    waiting_cores: int
    waiting_since: datetime | None
    clusters: int
    rate: Decimal


def kinds() -> list[Kind]:
    """Every coretype that is offered, in the order of the catalogue."""
    coretypes = list(Coretype.objects.filter(active=True).select_related("region").prefetch_related("groups", "software"))
    occupied = scheduling.occupancy()
    nothing = scheduling.Occupancy(None, 0, None, 0)
    taken = _taken()
    return [_kind(kind, occupied.get(kind.pk, nothing), taken.get(kind.pk, Taken())) for kind in coretypes]


def about() -> list[About]:
    """What the backends of the coretypes on offer are and how they keep jobs apart."""
    return [_about(name) for name in dict.fromkeys(Coretype.objects.filter(active=True).values_list("backend", flat=True))]


def totals(now: datetime) -> Totals:
    """Over all coretypes and projects."""
    waiting = Workload.objects.filter(status=lifecycle.QUEUED).aggregate(
        count=Count("pk"), cores=Sum(F("nodes") * F("cores")), since=Min("since")
    )
    held, cores = _pools()
    living = Cluster.objects.filter(released__isnull=True)
    rates = [price * nodes * each for price, nodes, each in living.filter(up__isnull=False).values_list("price", "nodes_wanted", "cores")]
    return Totals(held, cores, waiting["count"], waiting["cores"] or 0, waiting["since"], living.count(), sum(rates, ZERO))


def alive(now: datetime) -> list[Alive]:
    """Clusters that may exist, oldest first, at most SHOWN."""
    rows = (
        Cluster.objects.filter(released__isnull=True).select_related("workload__owner", "workload__project", "coretype").order_by("asked")
    )
    asked = {one.cluster_id: one for one in Request.objects.filter(kind=Request.Kind.RELEASE, done__isnull=True).select_related("by")}
    return [Alive(cluster, cost_of(cluster, now), asked.get(cluster.pk)) for cluster in rows[:SHOWN]]


def cost_of(cluster: Cluster, now: datetime) -> Decimal:
    """What it has cost from its first node up to now, or to the end of its bill."""
    if cluster.up is None:
        return ZERO
    end = (cluster.charged_until or cluster.up) if cluster.settled else now
    return due(cluster.price * cluster.total_cores, seconds_between(cluster.up, end))


def why_no_longer(cluster: Cluster) -> str:
    """Why its backend can't give it a longer walltime; empty if it can."""
    try:
        backend = backends.get(cluster.backend)
        if backend.can_extend:
            return ""
        why = backend.no_longer
    except Exception:  # a backend that is set up wrongly must not take the page down
        log.warning("backend %s can't be asked", cluster.backend, exc_info=True)
        why = f"{cluster.backend} can't be asked."
    return f"{why} Submit it again with a longer walltime."


def strays() -> Sequence[Stray]:
    """What carries our mark and is not known here, undecided first."""
    return list(Stray.objects.filter(gone__isnull=True).order_by("decision", "first_seen")[:SHOWN])


def past_strays() -> Sequence[Stray]:
    """Those that are gone, the newest first, at most PAST."""
    return list(Stray.objects.filter(gone__isnull=False).order_by("-gone")[:PAST])


def compared() -> datetime | None:
    """When both sides were compared last."""
    return Turn.objects.filter(name="reconcile").values_list("last", flat=True).first()


def decide(stray: Stray, decision: str) -> bool:
    """An admin's word on a stray: the next comparison acts on it. False if it is gone. Raises ValueError."""
    if decision not in DECISIONS:
        raise ValueError(decision)
    done = Stray.objects.filter(pk=stray.pk, gone__isnull=True).update(decision=decision)
    announce("hardware")
    return bool(done)


def _taken() -> dict[int, Taken]:
    """By coretype id."""
    rows = Workload.objects.filter(status__in=[lifecycle.QUEUED, *lifecycle.STARTED_CODES]).order_by().values_list("coretype")
    sums = rows.annotate(
        running=Sum(F("nodes") * F("cores"), filter=Q(status__in=[lifecycle.RUNNING, lifecycle.ACTIVE]), default=0),
        held=Sum("nodes", filter=~Q(status=lifecycle.QUEUED), default=0),
        queued=Sum("nodes", filter=Q(status=lifecycle.QUEUED), default=0),
    )
    return {pk: Taken(*found) for pk, *found in sums}


def _kind(coretype: Coretype, room: scheduling.Occupancy, taken: Taken) -> Kind:
    usual, moving = history.usual(coretype.pk, lifecycle.STARTING), max(0, room.busy - taken.running)
    return Kind(
        coretype, room.total, room.free, taken.running, moving, room.queued, usual, room.old, taken.nodes, taken.nodes_queued
    )  # fmt: skip


def _about(name: str) -> About:
    try:
        return About(name, backends.get(name).about())
    except Exception as error:  # a backend that is set up wrongly must not take the page down
        log.warning("backend %s does not say what it is", name, exc_info=True)
        return About(name, f"{name} does not answer: {error}", True)


def _pools() -> tuple[int, int | None]:
    """Cores held and cores there are, over all pools; the second None if a pool does not say."""
    rooms = capacity.rooms(Coretype.objects.filter(active=True), capacity.noted()).values()
    known = [room.total for room in rooms if room.total is not None]
    return sum(room.held for room in rooms), sum(known) if len(known) == len(rooms) else None

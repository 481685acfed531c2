"""The catalogue as admins see it: every coretype with what goes on there, and the questions before something changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse

from jobs import lifecycle
from jobs.models import Choice, Cluster, Coretype, Workload
from portal import words

from .text import plural, who
from .values import Question

NAMED = 20
FIELDS = (
    *("name", "code", "active", "order", "processor", "cores", "memory", "gpu", "max_nodes", "price", "economy_price", "disk_price"),
    *("walltime_default", "walltime_max", "backend", "options"),
)


@dataclass(frozen=True)
class Now:
    """What goes on: how many wait, how many have a cluster."""

    queued: int
    running: int

    @property
    def words(self) -> str:
        if not self.queued and not self.running:
            return "not in use"
        return f"{plural(self.running, 'job')} running, {plural(self.queued, 'job')} in line"


@dataclass(frozen=True)
class KindRow:
    kind: Coretype
    node: str
    now: Now


def rows() -> list[KindRow]:
    queued = Count("workloads", filter=Q(workloads__status=lifecycle.QUEUED))
    running = Count("workloads", filter=Q(workloads__status__in=lifecycle.STARTED_CODES))
    kinds = Coretype.objects.select_related("region").annotate(queued=queued, running=running).order_by("-active", "order", "name")
    return [KindRow(kind, _node(kind), Now(kind.queued, kind.running)) for kind in kinds]


def goes_on(kind: Coretype) -> Now:
    works = Workload.objects.filter(coretype=kind)
    return Now(works.filter(status=lifecycle.QUEUED).count(), works.filter(status__in=lifecycle.STARTED_CODES).count())


def about(kind: Coretype) -> dict[str, str]:
    """Every field as text, for the audit log."""
    plain = {name: "" if (value := getattr(kind, name)) is None else str(value) for name in FIELDS}
    many: dict[str, Any] = {"groups": kind.groups, "software": kind.software}
    return {**plain, "region": str(kind.region), **{name: ", ".join(sorted(str(one) for one in rows.all())) for name, rows in many.items()}}


def withdraw(kind: Coretype) -> Question:
    action, back = reverse("coretype-offer", args=[kind.code]), reverse("coretypes")
    if not kind.active:
        text = "Jobs can ask for it at once."
        return Question(f"Offer {kind} again?", "Offer", action, back, text, "circle-check", fields=[("active", "1")])
    fails, else_ = _in_line(kind)
    text = f"{plural(goes_on(kind).running, 'job')} running there may go on to the end."
    text += f" {plural(len(fails), 'job')} in line for it can never start: each fails at Queued and says to choose another coretype."
    if else_:
        text += f" {plural(else_, 'job')} in line may have other hardware as well and {'waits' if else_ == 1 else 'wait'} for that."
    loses = [(work.name, who(work.owner)) for work in fails[:NAMED]]
    return Question(f"Withdraw {kind}?", "Withdraw", action, back, text, "ban", loses=loses, fields=[("active", "0")])


def _in_line(kind: Coretype) -> tuple[list[Workload], int]:
    """Who waits for it and nothing else that is offered, by age; and how many have another choice."""
    asks = Q(coretype=kind) | Q(choices__coretype=kind)
    waiting = Workload.objects.filter(asks, status=lifecycle.QUEUED).distinct().select_related("owner").order_by("submitted")
    other = Choice.objects.filter(workload=OuterRef("pk"), coretype__active=True).exclude(coretype=kind)
    rows = list(waiting.annotate(other=Exists(other)))
    return [work for work in rows if not work.other], sum(work.other for work in rows)


def kept_by(kind: Coretype) -> str:
    """Why it can't be deleted; empty if it can."""
    now, all = goes_on(kind), Workload.objects.filter(Q(coretype=kind) | Q(choices__coretype=kind)).distinct().count()
    if now.running or now.queued:
        return f"{kind} can't be deleted: {now.words}. Withdraw it: what runs ends in its own time, nothing new starts."
    if all or Cluster.objects.filter(coretype=kind).exists():
        return f"{kind} can't be deleted: {plural(all, 'job')} of the past ran there, and their history names it. Withdraw it instead."
    if only := alone(kind.workstation_kinds.all(), "coretypes"):
        return f"{kind} can't be deleted: {only} is offered there alone, and would be offered everywhere. Withdraw it instead."
    return ""


def alone(rows: Iterable[Any], limit: str) -> str:
    """Which of these rows are limited to one thing only; empty if none is. Without it they would be open to all: an empty limit is none."""
    only = [str(row) for row in rows if getattr(row, limit).count() == 1]
    return ", ".join(only[:NAMED])


def delete(kind: Coretype) -> Question:
    action, back = reverse("coretype-delete", args=[kind.code]), reverse("coretype", args=[kind.code])
    loses = [(str(limit), "this limit goes with it") for limit in kind.limits.select_related("member", "project", "coretype")]
    text = "No job ever used it. Its price history goes with it."
    return Question(f"Delete {kind}?", "Delete", action, back, text, "trash", "fail", loses=loses)


def release(cluster: Cluster) -> Question:
    work = cluster.workload
    action, back = reverse("cluster-release", args=[cluster.pk]), reverse("hardware")
    text = f"{work.name} of {who(work.owner)} runs on it and is force stopped: killed at once; outputs not yet saved are lost."
    if not work.is_active:
        text = f"{work.name} is over; whatever is left of its cluster is destroyed."
    return Question(f"Release {cluster.token}?", "Release", action, back, text, "server-off", "fail")


def _node(kind: Coretype) -> str:
    return f"{plural(kind.cores, 'core')}, {words.size(kind.memory)}" + (f", {kind.gpu}" if kind.gpu else "")

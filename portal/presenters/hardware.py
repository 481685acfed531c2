"""The hardware page: a row a coretype with marks for its cores, the figures above, and what only admins see."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.urls import reverse

from jobs import hardware, occupied
from jobs.models import AuditEntry, Coretype, Region, Stray
from portal import words

from .text import clock_of, plural, span_of
from .values import Question

MARKS = 128
"""Cores that get a mark each; more are shown as a bar."""


@dataclass(frozen=True)
class KindRow:
    coretype: Coretype
    node: str
    marks: list[str]
    label: str
    free: int | None
    total: int | None
    queued: int
    usual: str
    busy: int = 0
    nodes: tuple[str, str, str] = ("", "", "")
    """Busy, free and in line: what stands below the number of cores."""
    running_share: float = 0.0
    moving_share: float = 0.0
    old: datetime | None = None
    said: tuple[str, ...] = ()
    """What else it is, and for whom and what it is alone."""


@dataclass(frozen=True)
class RegionRows:
    region: Region
    rows: list[KindRow]


@dataclass(frozen=True)
class Day:
    """Cores in use over the last day: in words, and as its chart takes it. `chart` is empty if nothing was up."""

    words: str
    chart: str = ""


@dataclass(frozen=True)
class Page:
    regions: list[RegionRows]
    totals: hardware.Totals
    clusters: list[hardware.Alive]
    more_clusters: int
    unknown: int
    compared: datetime | None


def page(now: datetime, admin: bool) -> Page:
    totals = hardware.totals(now)
    clusters = hardware.alive(now) if admin else []
    rows = [row(kind) for kind in hardware.kinds()]
    more = totals.clusters - len(clusters)
    return Page(_by_region(rows), totals, clusters, more, Stray.waiting() if admin else 0, hardware.compared() if admin else None)


def day(now: datetime) -> Day:
    steps = occupied.last_day(now)
    most = max(steps, key=lambda step: step.cores)
    if not most.cores:
        return Day("No cluster was up in the last 24 hours.")
    mean = sum(step.cores for step in steps) / len(steps)
    begins = {"at": [int(step.at.timestamp()) for step in steps], "cores": [round(step.cores, 2) for step in steps]}
    known = {**begins, "now": int(now.timestamp()), "total": hardware.totals(now).cores}
    said = f"{_cores(most.cores)} at most, in the quarter of an hour from {clock_of(most.at, now)}; {_cores(mean)} on average."
    return Day(said, json.dumps(known))


def row(kind: hardware.Kind) -> KindRow:
    total = kind.total
    shares = (100 * kind.running / total, 100 * (kind.moving + kind.others) / total) if total else (0.0, 0.0)
    usual = span_of(*kind.usual) if kind.usual else ""
    said = (_marks(kind), _label(kind), kind.free, total, kind.queued, usual, kind.busy, _nodes(kind))
    return KindRow(kind.coretype, _node(kind.coretype), *said, *shares, kind.old, _said(kind.coretype))


def past_strays() -> list[tuple[Stray, str]]:
    """What is gone, each with what was done about it and by whom."""
    found = hardware.past_strays()
    decisions = AuditEntry.objects.filter(action__in=["destroy stray", "keep stray"], target__in=[one.token for one in found])
    by = {entry.target: entry.who for entry in decisions.order_by("pk")}
    ends = {"destroy": "destroyed", "keep": "kept, then gone by itself", "": "gone by itself"}
    return [(one, ends[one.decision] + (f", decided by {by[one.token]}" if one.token in by else "")) for one in found]


def destroy(stray: Stray) -> Question:
    text = "Whatever runs there is ended, and what it has not saved elsewhere is lost. Headrace knows no job that it belongs to."
    return Question(
        f"Destroy {stray.token}?", "Destroy", reverse("stray", args=[stray.pk]), reverse("hardware"), text, "server-off", "fail",
        loses=[(stray.token, f"on {stray.backend}")], fields=[("decision", "destroy")],
    )


def _by_region(rows: Sequence[KindRow]) -> list[RegionRows]:
    ordered = sorted(rows, key=lambda row: row.coretype.region.name)
    return [RegionRows(region, list(some)) for region, some in groupby(ordered, key=lambda row: row.coretype.region)]


def _node(kind: Coretype) -> str:
    return f"{plural(kind.cores, 'core')}, {words.size(kind.memory)}"


def _said(kind: Coretype) -> tuple[str, ...]:
    only = [("for people of ", kind.groups.all()), ("for ", kind.software.all())]
    limits = [f"{word}{', '.join(str(one) for one in rows)} only" for word, rows in only if rows]
    return tuple(filter(None, [kind.processor, kind.gpu, *limits]))


def _nodes(kind: hardware.Kind) -> tuple[str, str, str]:
    """What is free may lie on several nodes in parts, so it is no more than that many whole ones."""
    free = "" if kind.nodes_free is None else f"cores, up to {plural(kind.nodes_free, 'node')}"
    return _on(kind.busy, kind.nodes), free, _on(kind.queued, kind.nodes_queued)


def _on(cores: int, nodes: int) -> str:
    return f"core{'' if cores == 1 else 's'} on {plural(nodes, 'node')}"


def _cores(mean: float) -> str:
    whole = round(mean, 1)
    return plural(int(whole), "core") if whole == int(whole) else f"{whole:,} cores"


def _marks(kind: hardware.Kind) -> list[str]:
    if kind.total is None or kind.free is None or kind.total > MARKS:
        return []
    return ["run"] * kind.running + ["move"] * kind.moving + ["other"] * kind.others + ["free"] * kind.free


def _label(kind: hardware.Kind) -> str:
    """The marks in words."""
    if kind.total is None:
        return f"{kind.coretype.name}: the backend does not say what is free"
    moving, others, free = (kind.moving, "starting or stopping"), (kind.others, "taken by other coretypes"), (kind.free or 0, "free")
    parts = [(kind.running, "running"), moving, others, free]
    return f"{kind.coretype.name}, cores: " + ", ".join(f"{words.count(count)} {word}" for count, word in parts if count)

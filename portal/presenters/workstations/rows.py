"""Rows of the list of workstations; what they have in common is loaded for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import QuerySet

from jobs import lifecycle
from jobs.models import Workload
from portal import words

from .. import stages
from ..text import cut, who
from . import says
from .cost import active_rate, hourly, suspended_rate
from .facts import WorkstationFacts


@dataclass(frozen=True)
class WorkstationRow:
    public_id: str
    name: str
    sub: str
    word: str
    tone: str
    icon: str
    pips: list[str]
    pips_label: str
    says: str
    hardware: str
    cost: Decimal
    rate: str
    owner: str
    since: datetime | None
    picture: str
    session: str
    resume: bool
    suspend: bool


def with_rows(query: QuerySet[Workload]) -> QuerySet[Workload]:
    """A queryset of workloads with everything that rows show."""
    found = query.select_related("workstation__kind", "coretype", "project", "owner", "wished_by")
    return found.prefetch_related("clusters__nodes", "disk_uses", "workstation__copies")


def loaded(workloads: Iterable[Workload], user: object) -> list[WorkstationRow]:
    return [row(WorkstationFacts(work), user) for work in workloads]


def row(facts: WorkstationFacts, user: object) -> WorkstationRow:
    work, status = facts.work, facts.work.row
    tones, label = stages.pips(facts)
    mine = work.may_change(user)
    return WorkstationRow(
        work.public_id,
        work.name,
        " · ".join(filter(None, [str(facts.kind), str(work.project or "")])),
        status.label,
        status.tone,
        "device-desktop" if status.code == lifecycle.ACTIVE else status.icon,
        tones,
        label,
        cut(_says(facts), 150),
        f"{work.coretype} 1 \u00d7 {work.cores}",
        facts.cost.spent,
        _rate(facts),
        who(work.owner),
        work.since if work.status not in (*lifecycle.REST_CODES, lifecycle.DRAFT) else None,
        f"/relay/{facts.name}/picture.png"
        if facts.ready and facts.kind.session == "desktop" and facts.station.access(user) == "input"
        else "",
        facts.kind.session,
        mine and work.status == lifecycle.SUSPENDED and work.wish == lifecycle.Wish.RUN,
        mine and work.status == lifecycle.ACTIVE and not facts.wants_rest,
    )


# --- private ----------------------------------------------------------------------------------------------------------
def _says(facts: WorkstationFacts) -> str:
    work = facts.work
    if work.status == lifecycle.DRAFT:
        return "Not started yet."
    if work.status in lifecycle.REST_CODES or work.status == lifecycle.SUSPENDED:
        return " ".join(filter(None, says.why(facts)))
    if work.status == lifecycle.ACTIVE:
        return _active(facts)
    said = says.of(facts, work.status, "waiting" if work.status == lifecycle.QUEUED else "working")
    return ". ".join(filter(None, [said.text, said.more]))


def _active(facts: WorkstationFacts) -> str:
    if facts.unsaved:
        return f"Could not be saved: {facts.unsaved}"
    if facts.idle_since and facts.verdict and facts.verdict.suspends_at:
        return f"Idle; suspends itself {words.relative(facts.verdict.suspends_at, facts.now)}"
    return "In use" if facts.ready else "Its session is being started"


def _rate(facts: WorkstationFacts) -> str:
    if facts.is_over or facts.work.status == lifecycle.DRAFT:
        return ""
    rate = suspended_rate(facts) if facts.work.status == lifecycle.SUSPENDED else active_rate(facts)
    return f"{hourly(rate)}/h"

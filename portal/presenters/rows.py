"""Rows of the jobs list: the same facts as the job's own page, in one line. What they refer to is gathered for all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from jobs import lifecycle
from portal import words

from . import endings, stages
from .facts import Facts
from .gathering import gathered
from .text import cut, who
from .values import Badge, verdict_badge


@dataclass(frozen=True)
class JobRow:
    public_id: str
    name: str
    sub: str
    word: str
    tone: str
    icon: str
    pips: list[str]
    pips_label: str
    says: str
    verdict: Badge | None
    no_verdict: str
    hardware: str
    cost: Decimal
    more_cost: str
    age: datetime
    owner: str
    active: bool
    since: datetime | None = None
    aside: str = ""  # beside the word: "in Running Job"


def loaded(keys: Sequence[int]) -> list[JobRow]:
    """The rows of the jobs with these keys, newest first."""
    now = timezone.now()
    return [row(Facts(work, now)) for work in gathered(keys)] if keys else []


def row(facts: Facts) -> JobRow:
    work = facts.work
    if work.is_active:
        facts.inputs = list(facts.job.inputs.all())
    tones, label = stages.pips(facts)
    status = work.row
    return JobRow(
        work.public_id,
        work.name,
        " · ".join(filter(None, [str(facts.job.software), str(work.project or "")])),
        status.label,
        status.tone,
        status.icon,
        tones,
        label,
        cut(_says(facts), 170),
        verdict_badge(facts.job),
        "Did not run" if facts.is_over and not facts.ran else "Not judged yet" if work.is_active else "",
        f"{work.coretype} {work.nodes} × {work.cores}",
        facts.cost.spent,
        _more_cost(facts),
        work.submitted or work.made,
        who(work.owner),
        work.is_active,
        work.since if work.is_active else None,
        _aside(facts),
    )


def _says(facts: Facts) -> str:
    work = facts.work
    if work.status == lifecycle.DRAFT:
        return "Not submitted yet."
    if work.status == lifecycle.FAILED:
        return " – ".join(filter(None, endings.explained(facts)))
    if work.status == lifecycle.COMPLETED:
        return facts.job.verdict_detail.get("reason") or "Exit 0; the result was not judged."
    if work.status == lifecycle.STOPPED:
        return work.ending.sentence if work.ending else "Stopped."
    current = stages.current(facts)
    return ". ".join(filter(None, [current.says.text, current.says.more])) if current else ""


def _more_cost(facts: Facts) -> str:
    if not facts.work.is_active:
        return ""
    if not facts.cluster:
        return f"first hour {words.money(facts.cost.rate)}"
    return f"at most {words.money(facts.cost.at_most)}"


def _aside(facts: Facts) -> str:
    work = facts.work
    if work.status == lifecycle.FAILED and work.failed_stage in work.table:
        return f"in {work.table[work.failed_stage].label}"
    if work.status == lifecycle.STOPPED and work.wished_by:
        return f"by {who(work.wished_by)}"
    ran = facts.ran
    return words.clock(ran[1] - ran[0]) if work.status == lifecycle.COMPLETED and ran and ran[1] else ""

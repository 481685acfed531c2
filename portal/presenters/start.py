"""When a waiting job will start, who has the cores that it waits for, and what would start it now.

One idea: an offer is shown with what it costs, so that nobody presses a button to find that out. Names of others' work are
told to the people of its project alone.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse

from jobs import ledger, scheduling
from jobs.models import Coretype, Project, Workload
from portal import words

from .facts import Facts
from .text import clock_of, plural, span_of

SOON = 60
"""Seconds that are told as "in a moment"."""
WHEN = {
    "stopping": ("about", "once its outputs are saved"),
    "pace": ("about", "at the pace of its output"),
    "walltime": ("by", "at the latest, when its walltime is over"),
}


@dataclass(frozen=True)
class Other:
    """Somebody's work with its address, or in general words."""

    words: str
    href: str = ""


@dataclass(frozen=True)
class Freed:
    cores: str
    when: str
    work: Other


@dataclass(frozen=True)
class Start:
    """`expected` and what belongs to it is empty where nothing can be foretold; `low`: percent of the bar, which begins now."""

    expected: str = ""
    span: str = ""
    low: float = 0.0
    first: str = ""
    last: str = ""
    freed: list[Freed] = field(default_factory=list)
    line: list[tuple[int, Other, str]] = field(default_factory=list)
    place: int = 0
    more: int = 0
    """Others before it that are not named."""


@dataclass(frozen=True)
class Change:
    """One thing that would start it now: the offer's own sentence, by which it is looked up again, with the button's word."""

    sentence: str
    word: str
    cost: str


def start(facts: Facts) -> Start | None:
    """None for what does not wait in line."""
    earliest, latest = facts.expected_start
    seen = facts.ahead
    if earliest is None and seen is None:
        return None
    told = _expected(earliest, latest or earliest, facts.now) if earliest else {}
    if seen is not None:
        line = [(at, _other(facts.work, one), plural(one.cores, "core")) for at, one in enumerate(seen.before, 1)]
        freed = [_freed(facts, one) for one in seen.holders] if seen.free < facts.work.total_cores else []
        told |= {"freed": freed, "line": line, "place": seen.place, "more": seen.place - 1 - len(line)}
    return Start(**told)


def changes(work: Workload, offers: Sequence[scheduling.Offer]) -> list[Change]:
    now = _most(work)
    return [Change(one.sentence, _word(one), _cost(work, one, now)) for one in offers]


# --- private ----------------------------------------------------------------------------------------------------------
def _expected(earliest: datetime, latest: datetime, now: datetime) -> dict[str, Any]:
    low, high = ((moment - now).total_seconds() for moment in (earliest, latest))
    first, last = clock_of(earliest, now), clock_of(latest, now)
    span = "in a moment" if high < SOON else f"in up to {words.duration(high)}" if low < SOON else f"in {span_of(low, high)}"
    share = max(0.0, min(95.0, 100 * low / high)) if high > 0 else 0.0
    return {"expected": first if first == last else f"{first}\u2013{last}", "span": span, "low": share, "first": first, "last": last}


def _freed(facts: Facts, holder: scheduling.Holder) -> Freed:
    when, how = WHEN[holder.by]
    said = f"{when} {clock_of(holder.end, facts.now)} {how}"
    return Freed(plural(holder.work.cores, "core"), said, _other(facts.work, holder.work))


def _other(work: Workload, one: scheduling.Other) -> Other:
    """Who sees this job sees the others of its project; without a project its owner's alone."""
    known = one.project_id == work.project_id if work.project_id else one.project_id is None and one.owner_id == work.owner_id
    if known:
        return Other(one.name, reverse("job" if one.kind == Workload.Kind.JOB else "workstation", args=[one.public_id]))
    return Other(f"a {one.kind} of {'another project' if one.project_id else 'somebody else'}")


def _word(offer: scheduling.Offer) -> str:
    """What the button says."""
    fields = offer.fields
    if "coretype_id" in fields:
        return f"Use {Coretype.objects.get(pk=fields['coretype_id'])}"
    if "project_id" in fields:
        return f"Let {Project.objects.get(pk=fields['project_id'])} pay"
    if "cores" in fields or "nodes" in fields:
        noun = "core" if "cores" in fields else "node"
        return f"Use {plural(fields.get('cores', fields.get('nodes')), noun)}"
    return f"Take {words.duration(fields['walltime'])}" if "walltime" in fields else "Run it as economy"


def _most(work: Workload) -> Decimal:
    """Of money, for the whole walltime."""
    return ledger.due(ledger.rate(None, work.price, work.total_cores), work.walltime)


def _cost(work: Workload, offer: scheduling.Offer, now: Decimal) -> str:
    """What it then costs at most, beside what it would as it is."""
    changed = copy.copy(work)
    for name, value in offer.fields.items():
        setattr(changed, name, value)
    most = _most(changed)
    return f"At most {words.money(most)}" + (f" instead of {words.money(now)}" if most != now else ", as now")

"""What was spent in a budget's period so far and where that leads: the sum by day, its course at the pace of the last days.

One idea: the line ends in the very sum that the page shows. It is reckoned backwards from there by what each day used and
what was adjusted, so a line that does not fit the figures can't be drawn.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Sum
from django.utils import timezone

from jobs.models import Budget, Charge, Spend

from . import budgets, spending
from .budgets import ZERO
from .ledger import day_begins

DAYS = 400
"""Points of the line; a longer time is told in longer steps."""
LEAST, MOST = timedelta(days=30), timedelta(days=365)
"""How far a budget without an end is looked ahead."""

Line = list[tuple[datetime, Decimal]]
"""Moments, each with the sum."""


@dataclass(frozen=True)
class Outlook:
    """In words, and as the chart takes it (see outlook.js)."""

    words: str
    chart: str


@dataclass(frozen=True)
class Way:
    """From the sum now at so much a day: the sum at `end`, and when nothing is left (None: not before `end`)."""

    end: datetime
    total: Decimal
    out: datetime | None


def outlook(budget: Budget, now: datetime) -> Outlook | None:
    """None before its first day."""
    if budget.early(now):
        return None
    start, turn = span(budget, now)
    until = min(now, turn) if turn else now
    known = sums(budget, start, until)
    ahead = way(budget, spending.rate(budget, now), now, start, turn) if budget.active and until == now else None
    return Outlook(_words(budget, start, until, ahead), json.dumps(_chart(budget, known, ahead, turn, now)))


def span(budget: Budget, now: datetime) -> tuple[datetime, datetime | None]:
    """The period that runs; of a budget that does not recur from its first day to its last, if it has one."""
    period = budget.periods.first() if budget.recurrence else None
    if period is not None:
        return period.start, min(filter(None, [period.end, budget.ends]))
    return min(budget.begins or budget.made, now), budget.ends


def sums(budget: Budget, start: datetime, until: datetime) -> Line:
    """Spent at the start, at each midnight since, and at `until`."""
    first, last = timezone.localdate(start), timezone.localdate(until)
    used, total = _by_day(budget, first, start), budget.spent
    found = [(until, total)]
    for back in range((last - first).days + 1):
        day = last - timedelta(days=back)
        total -= used.get(day, ZERO)
        found.append((max(start, day_begins(day)), max(ZERO, total)))
    found.reverse()
    step = -(-len(found) // DAYS)
    return found if step == 1 else [*found[:-1:step], found[-1]]


def way(budget: Budget, a_day: Decimal, now: datetime, start: datetime, turn: datetime | None) -> Way:
    """What is held counts as gone: the day on which nothing is left is the one that the page names."""
    end = turn or now + min(MOST, max(LEAST, now - start))
    out = None
    if budget.left <= 0:
        out = now
    elif a_day > 0 and budget.left / a_day < 3650:
        out = now + timedelta(days=float(budget.left / a_day))
    total = budget.spent + a_day * Decimal((end - now).total_seconds() / 86400)
    if budget.is_strict:
        total = max(budget.spent, min(total, budget.amount))
    return Way(end, total, out if out and out < end else None)


# --- private ----------------------------------------------------------------------------------------------------------
def _by_day(budget: Budget, first: date, start: datetime) -> Mapping[date, Decimal]:
    """What moved the sum: what was used, and what people took or gave back."""
    found: dict[date, Decimal] = defaultdict(lambda: ZERO)
    used = Spend.objects.filter(budget=budget, day__gte=first).order_by().values_list("day").annotate(sum=Sum("amount"))
    found.update(used)
    for made, amount in Charge.objects.filter(budget=budget, made__gte=start, kind=Charge.Kind.ADJUSTMENT).values_list("made", "amount"):
        found[timezone.localdate(made)] += amount
    return found


def _words(budget: Budget, start: datetime, until: datetime, ahead: Way | None) -> str:
    spent, limit = budgets.amount(budget, budget.spent), budgets.amount(budget, budget.amount)
    said = f"{spent} spent from {_first(budget, start)} to {_last(budget, until)}, of {limit}."
    if ahead is None:
        return said
    if ahead.out is None:
        return f"{said} At the pace of the last 7 days {budgets.amount(budget, ahead.total)} by {_last(budget, ahead.end)}."
    when = "now" if ahead.out <= until else f"on {_day(ahead.out)} at the pace of the last 7 days"
    return f"{said} Nothing is left {when}."


def _chart(budget: Budget, known: Line, ahead: Way | None, turn: datetime | None, now: datetime) -> dict[str, Any]:
    even, course = _even(budget, known[0][0], turn), _course(budget, known[-1], ahead) if ahead else {}
    lines = {"spent": dict(known), "ahead": course, "even": even}
    at = sorted({moment for line in lines.values() for moment in line})
    drawn = {name: [round(float(line[one]), 4) if one in line else None for one in at] for name, line in lines.items()}
    return {"at": [one.timestamp() for one in at], **drawn, "rules": _rules(budget, now), "marks": _marks(known, ahead)}


def _even(budget: Budget, start: datetime, turn: datetime | None) -> dict[datetime, Decimal]:
    return {start: ZERO, turn: budget.amount} if turn else {}


def _course(budget: Budget, now: tuple[datetime, Decimal], ahead: Way) -> dict[datetime, Decimal]:
    """Straight to the end; with a strict limit up to it and no further."""
    points = [now, (ahead.end, ahead.total)]
    if budget.is_strict and ahead.out and ahead.out > now[0]:
        points.insert(1, (ahead.out, budget.amount - budget.held))
        points[2] = (ahead.end, budget.amount)
    return dict(points) if all(early < late for (early, _), (late, _) in pairwise(points)) else {}


def _rules(budget: Budget, now: datetime) -> list[dict[str, Any]]:
    """The limit, and the thresholds below it."""
    limit = f"limit {budgets.amount(budget, budget.amount)}, {'strict' if budget.is_strict else 'soft'}"
    found: list[dict[str, Any]] = [{"at": float(budget.amount), "words": limit, "tone": "--ink", "solid": True}]
    for one in budgets.thresholds(budget, now):
        if 0 < one.percent < 100:
            words = f"{one.percent} %" + (f", passed on {_day(one.at)}" if one.at else "")
            tone = "--ink-2" if one.passed else "--look-ink"
            found.append({"at": float(budget.amount * one.percent / 100), "words": words, "tone": tone})
    return found


def _marks(known: Line, ahead: Way | None) -> list[dict[str, Any]]:
    if ahead is None:
        return []
    today = known[-1][0]
    marks: list[dict[str, Any]] = [{"at": today.timestamp(), "words": "today", "tone": "--ink-2"}]
    if ahead.out and ahead.out > today:
        marks.append({"at": ahead.out.timestamp(), "words": f"nothing left on {_day(ahead.out)}", "tone": "--fail-ink", "low": True})
    return marks


def _first(budget: Budget, start: datetime) -> str:
    """A period begins at midnight where the budget is."""
    return _day(start, ZoneInfo(budget.zone))


def _last(budget: Budget, end: datetime) -> str:
    """It ends at midnight: the day before that is the last one."""
    return _day(end - timedelta(microseconds=1), ZoneInfo(budget.zone))


def _day(moment: datetime, place: ZoneInfo | None = None) -> str:
    day = timezone.localdate(moment, place)
    return f"{day.day} {day:%b}"

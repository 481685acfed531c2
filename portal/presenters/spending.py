"""Spend by day and by person, project, coretype or software; how fast a budget is used and the day it runs out.

One idea: only what was used counts (rows of the kind "use"); limits, periods and adjustments are not spend. A day is one
in the portal's time zone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet, Sum
from django.db.models.functions import TruncDay
from django.utils import timezone

from jobs.models import Budget, Charge, Coretype, Project
from portal import words

from . import budgets, ledger
from .text import who

BY = {"owner": "person", "project": "project", "coretype": "coretype", "software": "software"}
DAYS = 90
SERIES = 4
"""Lines of their own; what is left over is one more."""
WEEK = timedelta(days=7)
ZERO = Decimal(0)


@dataclass(frozen=True)
class Pace:
    """How fast it goes. `out`: the day on which nothing is left at this pace; None if not before the period turns or it ends."""

    a_day: str
    out: datetime | None
    at_turn: str


@dataclass(frozen=True)
class Share:
    name: str
    amount: str
    percent: float


def pace(budget: Budget, now: datetime) -> Pace:
    """By the last seven days, or by as many as there are."""
    rows = Charge.objects.filter(budget=budget, kind=Charge.Kind.USE, made__gt=now - WEEK, made__lte=now)
    spent: Decimal = rows.aggregate(sum=Sum("amount"))["sum"] or ZERO
    lasted = min(WEEK, max(timedelta(days=1), now - budget.made))
    a_day = spent / Decimal(lasted.total_seconds() / 86400)
    out = None
    if a_day > 0 and budget.left > 0 and budget.left / a_day < 3650:
        out = now + timedelta(days=float(budget.left / a_day))
    until = budget.turns or budget.ends
    if until is None or until <= now or (out is not None and out < until):
        return Pace(budgets.amount(budget, a_day), out, "")
    rest = budget.left - a_day * Decimal((until - now).total_seconds() / 86400)
    return Pace(budgets.amount(budget, a_day), None, budgets.amount(budget, max(ZERO, rest)))


def shares(budget: Budget, user: Any, now: datetime, most: int = 6) -> list[tuple[str, list[Share]]]:
    """Of the last DAYS days, by each of BY: who spent most, and all others together."""
    return [(word, found) for by, word in BY.items() if (found := _shares(budget, user, by, now, most))]


def by_day(budget: Budget, user: Any, by: str, now: datetime) -> dict[str, Any]:
    """Days as unix seconds, and a line for each of the largest."""
    rows = _used(budget, user, now).annotate(day=TruncDay("made")).values_list("day", by).annotate(sum=Sum("amount"))
    table: dict[Any, dict[datetime, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for day, key, total in rows:
        table[key][day] += total
    largest = sorted(table, key=lambda key: -sum(table[key].values()))
    names = _names(by, largest[:SERIES])
    days = _days(min((day for line in table.values() for day in line), default=None), now)
    lines = [(names[key], table[key]) for key in largest[:SERIES]]
    if len(largest) > SERIES:
        lines.append(("all others", _together(table[key] for key in largest[SERIES:])))
    series = [{"name": name, "values": [float(line.get(day, ZERO)) for day in days]} for name, line in lines]
    return {"days": [int(day.timestamp()) for day in days], "series": series, "unit": budgets.amount(budget, ZERO)}


# --- private ----------------------------------------------------------------------------------------------------------
def _used(budget: Budget, user: Any, now: datetime) -> QuerySet[Charge]:
    rows = ledger.entries(budget, user, ledger.Filter("", Charge.Kind.USE, "", "")).filter(made__gt=now - timedelta(days=DAYS))
    return rows.select_related(None).order_by()


def _shares(budget: Budget, user: Any, by: str, now: datetime, most: int) -> list[Share]:
    sums = dict(_used(budget, user, now).values_list(by).annotate(sum=Sum("amount")))
    if not sums:
        return []
    whole, keys = sum(sums.values(), ZERO), sorted(sums, key=lambda key: -sums[key])
    names = _names(by, keys[:most])
    rows = [(names[key], sums[key]) for key in keys[:most]]
    if len(keys) > most:
        rows.append((f"{words.count(len(keys) - most)} others", sum((sums[key] for key in keys[most:]), ZERO)))
    return [Share(name, budgets.amount(budget, part), float(100 * part / whole) if whole else 0.0) for name, part in rows]


def _names(by: str, keys: list[Any]) -> dict[Any, str]:
    if by == "software":
        return {key: key or "not known" for key in keys}
    if by == "owner":
        known = {user.pk: who(user) for user in User.objects.filter(pk__in=[key for key in keys if key])}
    else:
        kind = Project if by == "project" else Coretype
        known = {row.pk: str(row) for row in kind.objects.filter(pk__in=[key for key in keys if key])}  # type: ignore[attr-defined]
    nothing = "no project" if by == "project" else "not known"
    return {key: known.get(key, nothing) for key in keys}


def _days(first: datetime | None, now: datetime) -> list[datetime]:
    """Midnights from the first day with spend, at least a week of them, up to today."""
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    start = min(timezone.localtime(first) if first else today, today - timedelta(days=6))
    count = (today.date() - start.date()).days + 1
    naive = start.replace(tzinfo=None)
    return [timezone.make_aware(naive + timedelta(days=at)) for at in range(count)]


def _together(lines: Iterable[dict[datetime, Decimal]]) -> dict[datetime, Decimal]:
    found: dict[datetime, Decimal] = defaultdict(lambda: ZERO)
    for line in lines:
        for day, amount in line.items():
            found[day] += amount
    return found

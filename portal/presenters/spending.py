"""Spend by day and by person, project, coretype or software; how fast a budget is used and the day it runs out.

One idea: only what was used counts, and it is added up by day while it is booked (see jobs.models.spend), so a chart costs
the same over a million charges. A day is one in the portal's time zone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from jobs.models import Budget, Coretype, Membership, Project, Spend
from jobs.models.roles import sees_all
from portal import words

from . import budgets, ledger
from .text import who

BY = {"owner": "person", "project": "project", "coretype": "coretype", "software": "software"}
DAYS = 90
SERIES = 4
"""Lines of their own; what is left over is one more."""
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


def rate(budget: Budget, now: datetime) -> Decimal:
    """What is used a day, by today and the six days before it, or by as many as there are."""
    first = timezone.localdate(now) - timedelta(days=6)
    spent: Decimal = Spend.objects.filter(budget=budget, day__gte=first).aggregate(sum=Sum("amount"))["sum"] or ZERO
    lasted = max(timedelta(days=1), now - max(budget.made, ledger.day_begins(first)))
    return spent / Decimal(lasted.total_seconds() / 86400)


def pace(budget: Budget, now: datetime) -> Pace:
    a_day, out = rate(budget, now), None
    if a_day > 0 and budget.left > 0 and budget.left / a_day < 3650:
        out = now + timedelta(days=float(budget.left / a_day))
    until = budget.turns or budget.ends
    if until is None or until <= now or (out is not None and out < until):
        return Pace(budgets.amount(budget, a_day), out, "")
    rest = budget.left - a_day * Decimal((until - now).total_seconds() / 86400)
    return Pace(budgets.amount(budget, a_day), None, budgets.amount(budget, max(ZERO, rest)))


def shares(budget: Budget, user: Any, now: datetime, most: int = 6) -> list[tuple[str, list[Share]]]:
    """Of the last DAYS days, by each of BY: who spent most, and all others together."""
    sums = list(_used(budget, user, now).values_list(*BY).annotate(sum=Sum("amount")))
    return [(word, _shares(budget, by, _by(sums, at), most)) for at, (by, word) in enumerate(BY.items()) if sums]


def by_day(budget: Budget, user: Any, by: str, now: datetime) -> dict[str, Any]:
    """Days as unix seconds, and a line for each of the largest."""
    rows = _used(budget, user, now).values_list("day", by).annotate(sum=Sum("amount"))
    table: dict[Any, dict[date, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for day, key, total in rows:
        table[key][day] += total
    largest = sorted(table, key=lambda key: -sum(table[key].values()))
    names = _names(by, largest[:SERIES])
    days = _days(min((day for line in table.values() for day in line), default=None), now)
    lines = [(names[key], table[key]) for key in largest[:SERIES]]
    if len(largest) > SERIES:
        lines.append(("all others", _together(table[key] for key in largest[SERIES:])))
    series = [{"name": name, "values": [float(line.get(day, ZERO)) for day in days]} for name, line in lines]
    return {"days": [int(ledger.day_begins(day).timestamp()) for day in days], "series": series, "unit": budgets.amount(budget, ZERO)}


# --- private ----------------------------------------------------------------------------------------------------------
def _used(budget: Budget, user: Any, now: datetime) -> QuerySet[Spend]:
    """Sums of the last DAYS days. Of an organization's budget people see what they themselves may see, as in the ledger."""
    rows = Spend.objects.filter(budget=budget, day__gt=timezone.localdate(now) - timedelta(days=DAYS)).order_by()
    if budget.member_id or budget.project_id or sees_all(user):
        return rows
    mine = Membership.objects.filter(user=user).values("project")
    return rows.filter(Q(owner=user) | Q(project__in=mine))


def _by(sums: Iterable[tuple[Any, ...]], at: int) -> dict[Any, Decimal]:
    """Added up by the column at this place; the sum is the last one."""
    found: dict[Any, Decimal] = defaultdict(lambda: ZERO)
    for row in sums:
        found[row[at]] += row[-1]
    return found


def _shares(budget: Budget, by: str, sums: dict[Any, Decimal], most: int) -> list[Share]:
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


def _days(first: date | None, now: datetime) -> list[date]:
    """From the first day with spend, at least a week of them, up to today."""
    today = timezone.localdate(now)
    start = min(first or today, today - timedelta(days=6))
    return [start + timedelta(days=at) for at in range((today - start).days + 1)]


def _together(lines: Iterable[dict[date, Decimal]]) -> dict[date, Decimal]:
    found: dict[date, Decimal] = defaultdict(lambda: ZERO)
    for line in lines:
        for day, amount in line.items():
            found[day] += amount
    return found

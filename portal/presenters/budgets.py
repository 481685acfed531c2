"""A budget as its page shows it: where the money is, who holds some now, what was charged.

One idea: amounts carry their unit. A budget counts money or core-hours, and nothing here adds one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet, Sum
from django.urls import reverse

from jobs import ledger, lifecycle
from jobs.models import Budget, BudgetPeriod, Charge, Hold, Unit, Workload
from jobs.models.roles import sees_all
from jobs.money import periods as periods_of
from portal import words

from .text import plural, who
from .values import Question

HOLDS = 100
NAMED = 20
PERIODS = 12
ZERO = Decimal(0)


@dataclass(frozen=True)
class Figures:
    """Percent for the bar, words for the figures."""

    budget: Budget
    amount: str
    spent: str
    held: str
    left: str
    spent_share: float
    held_share: float
    label: str
    tone: str
    target: str
    over: bool


@dataclass(frozen=True)
class HoldRow:
    name: str
    href: str
    status: Any
    charged: str
    held: str


def amount(budget: Budget, value: Decimal | None) -> str:
    """Money, or core-hours."""
    if budget.unit == Unit.MONEY:
        return words.money(value)
    return f"{value or 0:,.2f} core-hours"


def exact(budget: Budget, value: Decimal) -> str:
    """An amount with four decimals, so that charges of small jobs are not all zero."""
    sign, plain = ("\u2212" if value < 0 else ""), f"{abs(value):,.4f}"
    return f"{sign}{settings.CURRENCY}{plain}" if budget.unit == Unit.MONEY else f"{sign}{plain} core-hours"


def figures(budget: Budget) -> Figures:
    spent, held = (_share(part, budget.amount) for part in (budget.spent, budget.held))
    said = [amount(budget, value) for value in (budget.amount, budget.spent, budget.held, budget.left)]
    label = f"{said[1]} spent, {said[2]} held, {said[3]} left of {said[0]}"
    tone = "fail" if budget.left <= 0 else "look" if spent + held >= 90 else ""
    return Figures(budget, *said, spent, held, label, tone, target(budget), budget.left < 0)


def target(budget: Budget) -> str:
    """Whose it is."""
    if budget.member_id:
        return f"of {budget.member.get_full_name() or budget.member.get_username()}"  # type: ignore[union-attr]
    return f"of project {budget.project}" if budget.project_id else "of the whole organization"


@dataclass(frozen=True)
class Dates:
    """The first and the last day of a budget that has such, and what they make of it now."""

    words: str
    state: str = ""
    sentence: str = ""


def dates(budget: Budget, now: datetime) -> Dates | None:
    first, last = periods_of.day_of(budget.begins, budget.zone), periods_of.day_of(budget.ends, budget.zone, last=True)
    if not (first or last):
        return None
    words = " ".join(filter(None, [first and f"from {_day(first)}", last and f"until {_day(last)}"]))
    if first and budget.early(now):
        return Dates(words, "Not begun", f"Its first day is {_day(first)}. Jobs that wait for it start then by themselves.")
    if last and budget.ended(now):
        rest = "" if budget.left <= 0 else f" {amount(budget, budget.left)} was not used."
        kept = "Jobs that wait for it are kept; they need a later last day, or another budget."
        return Dates(words, "Ended", f"Its last day was {_day(last)}.{rest} {kept}")
    return Dates(words)


def _day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


@dataclass(frozen=True)
class Threshold:
    """A percent of the limit: passed at a moment, passed but not noted yet, or still ahead."""

    percent: int
    amount: str
    passed: bool
    at: datetime | None
    mailed: bool


def thresholds(budget: Budget, now: datetime) -> list[Threshold]:
    noted = {notice.percent: notice for notice in budget.notices.filter(period=ledger.period_key(budget, now))}
    taken, rows = budget.spent + budget.held, []
    for percent in sorted({*budget.thresholds, *noted}):
        notice, at = noted.get(percent), budget.amount * percent / 100
        behind = notice is not None or (budget.amount > 0 and taken >= at)
        rows.append(Threshold(percent, amount(budget, at), behind, notice.at if notice else None, bool(notice and notice.mailed)))
    return rows


def periods(budget: Budget) -> list[tuple[BudgetPeriod, str, str, str]]:
    """The latest periods with amount, what was carried over, and what was spent; the running one by its sums."""
    rows = []
    for period in budget.periods.all()[:PERIODS]:
        spent = budget.spent if period.spent is None else period.spent
        rows.append((period, amount(budget, period.amount), amount(budget, period.carried), amount(budget, spent)))
    return rows


def nothing(user: Any) -> str:
    """What it means for a person that no budget applies to them."""
    free = ledger.may_run_unpaid(user)
    now = "Nothing that you start is limited by money." if free else "What you start is kept and waits until a budget pays for it."
    return f"{now} When an admin gives you or one of your projects a budget, what is spent, held and left is shown here."


def close(budget: Budget) -> Question:
    """What is asked before nothing new starts on it."""
    action, back = reverse("budget-close", args=[budget.pk]), reverse("budget-one", args=[budget.pk])
    if not budget.active:
        text = "Jobs that it applies to may start on it again."
        return Question(f"Open {budget.name} again?", "Open", action, back, text, "lock-open", fields=[("active", "1")])
    queued = _queued(budget)
    text = (
        f"Nothing new starts on it. It applies to {plural(queued.count(), 'job')} in line: whatever such a job waits for, it ends "
        "as failed and says so. What runs keeps what it holds and gets no more: it saves and stops when that is used up. The ledger stays."
    )
    loses = [(work.name, who(work.owner)) for work in queued.select_related("owner").order_by("submitted")[:NAMED]]
    return Question(f"Close {budget.name}?", "Close", action, back, text, "lock", loses=loses, fields=[("active", "0")])


def _queued(budget: Budget) -> QuerySet[Workload]:
    """What waits in line and must be allowed by it."""
    waiting = Workload.objects.filter(status=lifecycle.QUEUED)
    if budget.member_id:
        return waiting.filter(owner=budget.member_id)
    return waiting.filter(project=budget.project_id) if budget.project_id else waiting


def holds(budget: Budget, user: Any) -> list[HoldRow]:
    """What runs on it now, as far as the viewer may know of it."""
    living = Hold.objects.filter(budget=budget, released__isnull=True).select_related("workload").order_by("-pk")
    rows = list(_seen(living, budget, user)[:HOLDS])
    charged = _charged(budget, rows)
    seen = _visible({row.workload_id for row in rows}, user)
    return [_hold(budget, row, charged.get((row.workload_id, row.attempt), ZERO), seen) for row in rows]


def _hold(budget: Budget, hold: Hold, charged: Decimal, seen: set[int]) -> HoldRow:
    work = hold.workload
    return HoldRow(work.name, _href(work, seen), work.row, amount(budget, charged), amount(budget, hold.amount))


def _seen(rows: QuerySet[Any], budget: Budget, user: Any) -> QuerySet[Any]:
    if budget.member_id or budget.project_id or sees_all(user):
        return rows
    return rows.filter(Q(workload__in=Workload.objects.visible_to(user)))


def _charged(budget: Budget, holds: Sequence[Hold]) -> dict[tuple[int, int], Decimal]:
    """Sums booked so far by workload and attempt."""
    rows = Charge.objects.filter(budget=budget, workload__in=[hold.workload_id for hold in holds]).order_by()
    sums = rows.values_list("workload", "attempt").annotate(total=Sum("amount"))
    return {(workload, attempt): total for workload, attempt, total in sums}


def _visible(ids: set[int], user: Any) -> set[int]:
    return set(Workload.objects.visible_to(user).filter(pk__in=ids).values_list("pk", flat=True))


def _href(work: Workload, seen: set[int]) -> str:
    return reverse("job", args=[work.public_id]) if work.pk in seen else ""


def _share(part: Decimal, whole: Decimal) -> float:
    return float(min(Decimal(100), 100 * part / whole)) if whole > 0 else (100.0 if part > 0 else 0.0)

"""A budget as its page shows it: where the money is, who holds some now, what was charged.

One idea: amounts carry their unit. A budget counts money or core-hours, and nothing here adds one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet, Sum
from django.urls import reverse

from jobs.models import Budget, Charge, Hold, Unit, Workload
from portal import words

HOLDS = 100
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


@dataclass(frozen=True)
class ChargeRow:
    charge: Charge
    name: str
    href: str
    amount: str
    how: str


def amount(budget: Budget, value: Decimal | None) -> str:
    """Money, or core-hours."""
    if budget.unit == Unit.MONEY:
        return words.money(value)
    return f"{value or 0:,.2f} core-hours"


def exact(budget: Budget, value: Decimal) -> str:
    """An amount with four decimals, so that charges of small jobs are not all zero."""
    return f"{settings.CURRENCY}{value:,.4f}" if budget.unit == Unit.MONEY else f"{value:,.4f} core-hours"


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


def holds(budget: Budget, user: Any) -> list[HoldRow]:
    """What runs on it now, as far as the viewer may know of it."""
    living = Hold.objects.filter(budget=budget, released__isnull=True).select_related("workload").order_by("-pk")
    rows = list(_seen(living, budget, user)[:HOLDS])
    charged = _charged(budget, rows)
    seen = _visible({row.workload_id for row in rows}, user)
    return [_hold(budget, row, charged.get((row.workload_id, row.attempt), ZERO), seen) for row in rows]


def charges(budget: Budget, user: Any) -> QuerySet[Charge]:
    """Newest first. Of an organization's budget people see what they themselves may see; admins see all."""
    return _seen(Charge.objects.filter(budget=budget), budget, user).select_related("workload").order_by("-pk")


def charge_rows(budget: Budget, charges: Sequence[Charge], user: Any) -> list[ChargeRow]:
    seen = _visible({charge.workload_id for charge in charges if charge.workload_id}, user)
    return [_charge(budget, charge, seen) for charge in charges]


def _hold(budget: Budget, hold: Hold, charged: Decimal, seen: set[int]) -> HoldRow:
    work = hold.workload
    return HoldRow(work.name, _href(work, seen), work.row, amount(budget, charged), amount(budget, hold.amount))


def _charge(budget: Budget, charge: Charge, seen: set[int]) -> ChargeRow:
    price = f" at {words.price(charge.price)}" if budget.unit == Unit.MONEY else ""
    how = f"{charge.cores} core{'' if charge.cores == 1 else 's'}{price}"
    if charge.note:
        how = f"{how}; {charge.note}"
    href = _href(charge.workload, seen) if charge.workload else ""
    return ChargeRow(charge, charge.label, href, exact(budget, charge.amount), how)


def _seen(rows: QuerySet[Any], budget: Budget, user: Any) -> QuerySet[Any]:
    if budget.member_id or budget.project_id or user.is_staff or user.is_superuser:
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

"""What people and the calendar do to a budget: a new limit, an adjustment, the next period, a threshold that is passed.

Only the ledger offers it. Each of them locks the budget, moves its sums and writes a row of the ledger in one transaction;
nothing that was booked is ever changed, a refund is a row of its own.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from .. import lifecycle
from ..models import Budget, BudgetNotice, BudgetPeriod, Charge, Event, Hold, Workload, telling
from ..models.fields import LARGEST, rounded
from .books import ZERO
from .paying import moment_of
from .periods import period_at
from .succession import heirs_of

FULL = 100
"""Percent; a soft budget that is past it is told to the jobs that run on it."""
END = 0
"""Percent of the notice that the last day of a budget comes; its period is the day."""
NEAR = timedelta(days=1)
"""So long before its end people and what runs on it are told."""


class Refused(ValueError):
    """The ledger can't do this; the message is for people."""


def adjust(budget: Budget, amount: Decimal, reason: str, by: Any, now: datetime) -> Charge:
    """Book `amount` (above nothing takes money, below gives it back) with a reason. Raises Refused."""
    amount = rounded(amount)
    if not reason.strip():
        raise Refused("An adjustment needs a reason.")
    if not amount.is_finite() or amount == 0 or abs(amount) > LARGEST:
        raise Refused("An adjustment is an amount other than nothing.")
    with transaction.atomic():
        row = locked(budget)
        if row.spent + amount < 0:
            raise Refused(f"Only {row.spent.normalize():f} was spent; more than that can't be given back.")
        if row.is_strict and row.left < amount:
            raise Refused(f"Only {row.left.normalize():f} is left, and this budget is strict.")
        row.spent += amount
        row.save(update_fields=["spent"])
        return _book(row, amount, Charge.Kind.ADJUSTMENT, reason.strip()[:200], by, now)


def set_limit(budget: Budget, amount: Decimal, by: Any, now: datetime) -> Charge | None:
    """Change how much there is; the ledger shows by how much and by whom. Raises Refused."""
    amount = rounded(amount)
    if amount < 0:
        raise Refused("An amount can't be negative.")
    with transaction.atomic():
        row = locked(budget)
        taken = row.spent + row.held
        if row.is_strict and amount < taken:
            raise Refused(f"{taken.normalize():f} is spent or held already; a strict budget can't be less. Make it soft, or close it.")
        given, row.amount = amount - row.amount, amount
        if not given:
            return None
        row.save(update_fields=["amount"])
        return _book(row, -given, Charge.Kind.LIMIT, "raised" if given > 0 else "lowered", by, now)


def opened(budget: Budget, by: Any, now: datetime) -> None:
    """A budget that was just made: its first row in the ledger and, if it recurs, its first period."""
    with transaction.atomic():
        _book(budget, -budget.amount, Charge.Kind.LIMIT, "opened", by, now)
        schedule(budget, now)


def schedule(budget: Budget, now: datetime) -> None:
    """After its recurrence or time zone was set: in which period it is and when that ends. Money stays as it is."""
    with transaction.atomic():
        row = locked(budget)
        row.turns = None
        if row.recurrence:
            period = period_at(row.recurrence, row.zone, now)
            row.turns = period.end
            given = {"start": period.start, "end": period.end, "amount": row.amount}
            BudgetPeriod.objects.get_or_create(budget=row, key=period.key, defaults=given)
        row.save(update_fields=["turns"])


def begin_periods(now: datetime) -> int:
    """Begin the next period of every budget whose last one is over; how many began. Two callers begin each once."""
    return sum(_begin(pk, now) for pk in Budget.objects.filter(turns__lte=now).values_list("pk", flat=True))


def notice(now: datetime) -> list[BudgetNotice]:
    """Thresholds that were passed, and ends that come near, each told once; what runs on the budget is told too."""
    told = set(BudgetNotice.objects.values_list("budget", "period", "percent"))
    found = []
    for budget in Budget.objects.filter(active=True, amount__gt=ZERO):
        for key, percent in _to_tell(budget, now):
            if (budget.pk, key, percent) not in told and (made := _tell(budget, key, percent, now)):
                found.append(made)
    return found


def passed(budget: Budget) -> list[int]:
    """The thresholds that are behind it, by what is spent and held."""
    taken = budget.spent + budget.held
    return [percent for percent in sorted({*budget.thresholds, FULL}) if taken * 100 >= budget.amount * percent]


def period_key(budget: Budget, now: datetime) -> str:
    return period_at(budget.recurrence, budget.zone, now).key if budget.recurrence else ""


def locked(budget: Budget) -> Budget:
    return Budget.objects.select_for_update().get(pk=budget.pk)


def end_key(budget: Budget) -> str:
    """The period of the notice of its end; another end is told anew."""
    return f"end {budget.ends:%y%m%d %H%M}"


# --- private ----------------------------------------------------------------------------------------------------------
def _begin(pk: int, now: datetime) -> bool:
    try:
        with transaction.atomic():
            row = Budget.objects.select_for_update().get(pk=pk)
            if row.turns is None or row.turns > now or not row.recurrence:
                return False
            before, period = row.turns, period_at(row.recurrence, row.zone, now)
            left = row.amount - row.spent
            carried = max(ZERO, left) if row.carry else ZERO
            amount = row.grant + carried
            if row.is_strict:
                amount = max(amount, row.held)  # what runs was promised its holds; they are charged in the new period
            given = {"start": period.start, "end": period.end, "amount": amount, "carried": carried}
            BudgetPeriod.objects.create(budget=row, key=period.key, **given)
            BudgetPeriod.objects.filter(budget=row, end=before).update(spent=row.spent)
            row.amount, row.spent, row.turns = amount, ZERO, period.end
            row.save(update_fields=["amount", "spent", "turns"])
            note = f"{period.key} begins" + (f"; {carried:f} carried over" if carried else "")
            _book(row, left - amount, Charge.Kind.PERIOD, note, None, now)
    except IntegrityError:  # its key is there: somebody began it, or its recurrence was changed back and forth
        Budget.objects.filter(pk=pk, turns__lte=now).update(turns=period_at(row.recurrence, row.zone, now).end)
        return False
    return True


def _to_tell(budget: Budget, now: datetime) -> list[tuple[str, int]]:
    """Period and percent of every notice that is due."""
    key = period_key(budget, now)
    due = [(key, percent) for percent in passed(budget)] if not budget.ended(now) else []
    near = budget.ends is not None and budget.ends - NEAR <= now < budget.ends
    return [*due, (end_key(budget), END)] if near else due


def _tell(budget: Budget, key: str, percent: int, now: datetime) -> BudgetNotice | None:
    with transaction.atomic():
        made, new = BudgetNotice.objects.get_or_create(budget=budget, period=key, percent=percent, defaults={"at": now})
        if new:
            telling.of_notice(made)
        if new and (text := _said_to_running(budget, percent)):
            _warn_running(budget, text, now)
    return made if new else None


def _said_to_running(budget: Budget, percent: int) -> str:
    if percent == END:
        after = " and ".join(heir.name for heir in heirs_of(budget))
        strict = f"{after} pays on for what still runs" if after else "what still runs on it is stopped before, in time to be saved"
        soft = "this goes on then, nothing new starts on it"
        then = strict if budget.is_strict else soft
        return f"Budget {budget.name} ends {moment_of(budget, budget.ends)}: {then}."
    used_up = percent == FULL and not budget.is_strict
    return f"Budget {budget.name} is used up. It is soft: this goes on, nothing new starts on it." if used_up else ""


def _warn_running(budget: Budget, text: str, now: datetime) -> None:
    """A line in the history of every job that runs on it."""
    living = Hold.objects.filter(budget=budget, released__isnull=True).values("workload")
    works = list(Workload.objects.filter(pk__in=living, status__in=lifecycle.ACTIVE_CODES))
    Event.objects.bulk_create([Event.beside(work, now, "engine", "budget-warning", text) for work in works])
    Workload.objects.filter(pk__in=[work.pk for work in works]).update(version=F("version") + 1)


def _book(budget: Budget, amount: Decimal, kind: str, note: str, by: Any, now: datetime) -> Charge:
    return Charge.objects.create(
        budget=budget, label=Charge.Kind(kind).label, attempt=0, amount=amount, cores=0, price=ZERO, start=now, end=now, made=now,
        note=note, kind=kind, by=by, left=budget.amount - budget.spent,
    )

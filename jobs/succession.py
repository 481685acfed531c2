"""Which budget pays on for what runs when the last day of a strict one comes.

One idea: at every moment the budgets in force pay, as at a start. Past its end a budget steps aside for those of the same
target and unit that are inside of their dates then, so these get a hold on what still runs, which pays from that second on.
Nobody steps in for a budget that is used up: all that apply must allow, and it still applies. Only books.py uses it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.db.models import Q

from .models import Budget, Hold


def heirs(ends: Mapping[int, datetime | None], now: datetime, ahead: timedelta) -> set[int]:
    """Ids of the budgets that may take over from those whose end (by id) comes within `ahead`. Costs a query only where one does."""
    near = [pk for pk, end in ends.items() if end is not None and now < end <= now + ahead]
    found = Q(pk=None)
    for budget in Budget.objects.filter(pk__in=near) if near else ():
        found |= _of(budget)
    return set(Budget.objects.filter(found).values_list("pk", flat=True)) if near else set()


def heirs_of(budget: Budget) -> list[Budget]:
    """Who pays on at the end of this budget."""
    return _next(budget, Budget.objects.filter(_of(budget)).order_by("pk"))


def new_holds(holds: Sequence[Hold], budgets: Iterable[Budget], now: datetime, ahead: timedelta) -> list[Hold]:
    """Holds of nothing yet, one for each heir of a strict budget that ends within `ahead` and has handed over to nobody."""
    known, made = {hold.budget_id for hold in holds}, []
    for hold in holds:
        end = hold.budget.ends if hold.budget.is_strict else None
        if end is None or not now < end <= now + ahead or handed_over(hold, holds) is not None:
            continue
        for heir in _next(hold.budget, budgets):
            if heir.pk not in known:
                made.append(Hold(budget=heir, workload_id=hold.workload_id, attempt=hold.attempt, amount=0, made=now, since=end))
                known.add(heir.pk)
    return made


def handed_over(hold: Hold, holds: Collection[Hold]) -> datetime | None:
    """From when on another hold pays in place of this one; None: it pays as long as it can."""
    after = [one.since for one in holds if one.since is not None and _alike(one.budget, hold.budget)]
    return min((since for since in after if hold.since is None or since > hold.since), default=None)


# --- private ----------------------------------------------------------------------------------------------------------
def _next(budget: Budget, among: Iterable[Budget]) -> list[Budget]:
    end = budget.ends
    if end is None:
        return []
    return [one for one in among if one.pk != budget.pk and _alike(one, budget) and not one.early(end) and not one.ended(end)]


def _of(budget: Budget) -> Q:
    return Q(member=budget.member_id, project=budget.project_id, unit=budget.unit)


def _alike(one: Budget, other: Budget) -> bool:
    return (one.target, one.unit) == (other.target, other.unit)

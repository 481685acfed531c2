"""Which budgets pay for what runs, second by second, by their dates as they stand now.

One idea: at every moment the budgets in force pay, as at a start. One outside of its dates steps aside for those of the same
target and unit that are inside; as the last day of a strict one comes, those in force after it get a hold on what still runs,
which pays from then on. Nobody steps in for a budget that is used up: all that apply must allow, and it still applies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from django.db.models import Q

from ..models import Budget, Hold


@dataclass(frozen=True)
class Span:
    """What falls to a hold from `first` to `last` (None: without end); not `allowed`: its strict budget may not pay for it."""

    hold: Hold
    first: datetime
    last: datetime | None
    allowed: bool


def heirs(ends: Mapping[int, datetime | None], now: datetime, ahead: timedelta) -> set[int]:
    """Ids of the budgets that may take over from those whose end (by id) comes within `ahead`. Costs a query only where one does."""
    near = [pk for pk, end in ends.items() if end is not None and end <= now + ahead]
    found = Q(pk=None)
    for budget in Budget.objects.filter(pk__in=near) if near else ():
        found |= Q(member=budget.member_id, project=budget.project_id, unit=budget.unit)
    return set(Budget.objects.filter(found).values_list("pk", flat=True)) if near else set()


def heirs_of(budget: Budget) -> list[Budget]:
    """Who pays on at the end of this budget."""
    alike = Budget.objects.filter(member=budget.member_id, project=budget.project_id, unit=budget.unit)
    return _next(budget, alike.order_by("pk"), budget.ends) if budget.ends else []


def turns(paying: Sequence[Budget], among: Iterable[Budget], since: datetime, until: datetime) -> dict[int, datetime]:
    """When each budget that does not pay yet must, by id: where a strict one ends before `until`. What is before `since` is past."""
    found: dict[int, datetime] = {}
    seen, known = list(paying), {budget.pk for budget in paying}
    for budget in seen:  # grows: what takes over may end soon as well
        if not budget.is_strict or budget.ends is None or budget.ends > until:
            continue
        at = max(budget.ends, since)
        for heir in _next(budget, among, at):
            if heir.pk not in known:
                seen += [] if heir.pk in found else [heir]
                found[heir.pk] = min(at, found.get(heir.pk, at))
    return found


def spans(holds: Collection[Hold], start: datetime, end: datetime | None) -> Iterator[Span]:
    """What falls to each of these holds, in order of time."""
    groups: dict[tuple[object, ...], list[Hold]] = defaultdict(list)
    for hold in holds:
        groups[hold.budget.target, hold.budget.unit].append(hold)
    for alike in groups.values():
        dates = {at for hold in alike for at in (hold.since, hold.budget.begins, hold.budget.ends)}
        cuts = sorted(at for at in dates if at is not None and start < at and (end is None or at < end))
        for first, last in pairwise([start, *cuts, end]):
            inside = in_force(alike, first)
            for hold in inside or _last(alike, first):
                yield Span(hold, first, last, bool(inside) or not hold.budget.is_strict)


def in_force(holds: Iterable[Hold], at: datetime) -> list[Hold]:
    """Those that have begun to pay and whose budget is inside of its dates."""
    return [hold for hold in holds if not hold.early(at) and not hold.budget.early(at) and not hold.budget.ended(at)]


def outdated(holds: Collection[Hold], at: datetime) -> list[Hold]:
    """Those that have stepped aside: their budget is over, and others pay on."""
    paying = {(hold.budget.target, hold.budget.unit) for hold in in_force(holds, at)}
    return [hold for hold in holds if hold.budget.ended(at) and (hold.budget.target, hold.budget.unit) in paying]


# --- private ----------------------------------------------------------------------------------------------------------
def _last(alike: Sequence[Hold], at: datetime) -> list[Hold]:
    """Where none is in force: those that were until last, so that a second is booked once however many have ended before."""
    begun = [hold for hold in alike if not hold.early(at)] or alike
    ends = [hold.budget.ends for hold in begun if hold.budget.ends is not None and hold.budget.ended(at)]
    return [hold for hold in begun if hold.budget.ends == max(ends)] if ends else list(begun)


def _next(budget: Budget, among: Iterable[Budget], at: datetime) -> list[Budget]:
    alike = (one for one in among if one.pk != budget.pk and (one.target, one.unit) == (budget.target, budget.unit))
    return [one for one in alike if not one.early(at) and not one.ended(at)]

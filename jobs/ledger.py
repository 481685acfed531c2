"""The only writer of money: hold, charge, release, for a list of budgets.

Rules. Amounts are Decimals with six decimals, half up, applied to the total of a cluster and never to its parts: a charge
is (what is due until now) minus (what was booked before), so splitting time never changes a sum. A started second counts.
Clusters are locked first, then budgets, both in id order, so two sides can never deadlock. A strict budget is never
exceeded; what a stop and a late release cost beyond it is booked to the installation (budget None). See books.py;
what people and the calendar do to a budget is in granting.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum

from .books import AHEAD, STEP, ZERO, Books, due, money, rate, seconds_between
from .granting import Refused, adjust, begin_periods, notice, opened, period_key, schedule, set_limit
from .models import Budget, Cluster, Coretype, Hold, Outage, Unit, Workload
from .models.fields import rounded

__all__ = [
    "Cost", "Purse", "Refused", "Short", "adjust", "begin_periods", "budgets_for", "cost", "due", "end_of_billing", "first_hour",
    "meter", "notice", "opened", "period_key", "rate", "release_holds", "schedule", "set_limit", "settle", "short_of",
]  # fmt: skip


# --- reading ----------------------------------------------------------------------------------------------------------
def budgets_for(owner: Any, project: Any) -> list[Budget]:
    """Every budget that must allow it: the member's, the project's, the organization's, in id order."""
    target = Q(member=owner) | Q(member__isnull=True, project__isnull=True)
    if project is not None:
        target |= Q(project=project)
    return list(Budget.objects.filter(target).order_by("pk"))


def first_hour(coretype: Coretype, nodes: int, cores: int, economy: bool = False) -> Decimal:
    """Money for the first hour; what must be free before a job starts."""
    return rounded(coretype.price_of(economy) * nodes * cores)


@dataclass(frozen=True)
class Cost:
    """Money of one workload. `spent` holds all time so far, `running` is the part of it that is not charged yet."""

    spent: Decimal
    running: Decimal
    held: Decimal
    rate: Decimal
    at_most: Decimal
    projected_end: datetime | None
    paid_until: datetime | None


def cost(workload: Workload, now: datetime) -> Cost:
    clusters = list(workload.clusters.all())
    spent = sum((_spent(cluster, cluster.charged_until if cluster.settled else now) for cluster in clusters), ZERO)
    settled = sum((_spent(cluster, cluster.charged_until or cluster.up) for cluster in clusters), ZERO)
    current = next((cluster for cluster in clusters if cluster.attempt == workload.attempt), None)
    hourly = rounded((current.price if current else workload.price) * workload.total_cores)
    held = workload.holds.filter(released__isnull=True, budget__unit=Unit.MONEY).aggregate(sum=Sum("amount"))["sum"] or ZERO
    end = current.walltime_until if current and not current.settled else None
    rest = workload.walltime if end is None else seconds_between(now, end)
    at_most = spent + due(hourly, rest) if workload.is_active else spent
    return Cost(spent, spent - settled, held, hourly, at_most, end, current.paid_until if current else None)


def _spent(cluster: Cluster, end: datetime | None) -> Decimal:
    if cluster.up is None or end is None:
        return ZERO
    return due(cluster.price * cluster.total_cores, seconds_between(cluster.up, end))


# --- hold -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Short:
    """Why a workload cannot be paid: this budget needs more than it has free."""

    budget: Budget
    needed: Decimal


def short_of(budget: Budget, workload: Workload) -> bool:
    """Whether this budget, as it was loaded, cannot pay the first hour."""
    return not budget.active or budget.left < rounded(rate(budget, workload.price, workload.total_cores))


class Purse:
    """The budgets of many workloads, locked for one transaction: what is free in each while starts are decided."""

    def __init__(self, workloads: Sequence[Workload]) -> None:
        self.budgets = list(Budget.objects.filter(_targets(workloads)).select_for_update().order_by("pk"))
        self.left = {budget.pk: budget.left for budget in self.budgets}
        self.holds: list[Hold] = []
        self._known: dict[tuple[int, int | None], list[Budget]] = {}

    def of(self, workload: Workload) -> list[Budget]:
        key = workload.owner_id, workload.project_id
        if key not in self._known:
            self._known[key] = [budget for budget in self.budgets if _applies(budget, workload)]
        return self._known[key]

    def short(self, workload: Workload) -> Short | None:
        """The first budget that cannot pay the first hour of it, or None."""
        for budget in self.of(workload):
            needed = rounded(rate(budget, workload.price, workload.total_cores))
            if not budget.active or self.left[budget.pk] < needed:
                return Short(budget, needed)
        return None

    def hold(self, workload: Workload, now: datetime) -> None:
        """Reserve the first hour; `write` puts it down."""
        for budget in self.of(workload):
            needed = rounded(rate(budget, workload.price, workload.total_cores))
            self.left[budget.pk] -= needed
            self.holds.append(Hold(budget=budget, workload=workload, attempt=workload.attempt, amount=needed, made=now))

    def write(self) -> None:
        sums: dict[int, Decimal] = defaultdict(lambda: ZERO)
        for hold in self.holds:
            sums[hold.budget_id] += hold.amount
        for pk, amount in sorted(sums.items()):
            Budget.objects.filter(pk=pk).update(held=F("held") + money(amount))
        Hold.objects.bulk_create(self.holds)


def _targets(workloads: Sequence[Workload]) -> Q:
    owners = {work.owner_id for work in workloads}
    projects = {work.project_id for work in workloads if work.project_id}
    return Q(member__isnull=True, project__isnull=True) | Q(member__in=owners) | Q(project__in=projects)


def _applies(budget: Budget, workload: Workload) -> bool:
    if budget.member_id:
        return budget.member_id == workload.owner_id
    return budget.project_id is None or budget.project_id == workload.project_id


# --- charge and release -----------------------------------------------------------------------------------------------
METERED_AT_ONCE = 200


def to_be_metered(now: datetime) -> QuerySet[Cluster]:
    """Clusters whose running time is to be charged, or whose paid time is near its end; the others need no look."""
    living = Cluster.objects.filter(up__isnull=False, settled__isnull=True)
    return living.filter(Q(charged_until__isnull=True) | Q(charged_until__lte=now - STEP) | Q(paid_until__lte=now + AHEAD))


def meter(cluster_ids: Iterable[int], now: datetime) -> list[int]:
    """Charge for running time and keep the holds reaching ahead; the clusters whose `paid_until` changed."""
    ids, moved = sorted(cluster_ids), []
    for first in range(0, len(ids), METERED_AT_ONCE):
        with transaction.atomic():
            books = Books(ids[first : first + METERED_AT_ONCE], now)
            moved += [account.cluster.pk for account in books.accounts if account.meter()]
            books.write()
    return moved


def settle(ends: Mapping[int, datetime], now: datetime) -> list[int]:
    """These clusters are gone, each paid until its end: book the rest, free what is still held. Once only a cluster."""
    if not ends:
        return []
    with transaction.atomic():
        books = Books(sorted(ends), now)
        settled = [account.cluster.pk for account in books.accounts if account.settle(ends[account.cluster.pk])]
        books.write()
    return settled


def release_holds(workloads: Sequence[tuple[int, int]], now: datetime) -> None:
    """Free what these attempts (workload id, attempt) hold that never got a cluster."""
    wanted = set(workloads)
    if not wanted:
        return
    with transaction.atomic():
        rows = Hold.objects.filter(workload__in=[pk for pk, _ in wanted], released__isnull=True)
        ids = {hold.budget_id for hold in rows}
        list(Budget.objects.filter(pk__in=ids).select_for_update().order_by("pk").values_list("pk"))
        free = [hold for hold in rows.all().order_by("pk") if (hold.workload_id, hold.attempt) in wanted]
        for hold in free:
            Budget.objects.filter(pk=hold.budget_id).update(held=F("held") - money(hold.amount))
        Hold.objects.filter(pk__in=[hold.pk for hold in free]).update(released=now, amount=ZERO)


def end_of_billing(exited: datetime | None, released: datetime, outages: Sequence[Outage]) -> datetime:
    """Release, less the time after the command's end in which this portal was away."""
    if exited is None:
        return released
    away = timedelta()
    for outage in outages:
        away += max(timedelta(), min(outage.end, released) - max(outage.start, exited))
    return released - away

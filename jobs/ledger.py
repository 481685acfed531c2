"""The only writer of money: hold, charge, release, for a list of budgets.

Rules. Amounts are Decimals with six decimals, half up, applied to the total of a cluster and never to its parts: a charge
is (what is due until now) minus (what was charged before), so splitting time never changes a sum. A started second
counts. Every budget row that a transaction touches is locked in id order, so two sides can never deadlock.
A strict budget is never exceeded; what a stop and a late release cost beyond it is booked to the installation (budget None).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q, Sum, Value

from .models import Budget, Charge, Cluster, Coretype, Hold, MoneyField, Outage, Unit, Workload
from .models.fields import rounded

HOUR = 3600
AHEAD = 1800
"""Seconds that a hold must reach ahead; less, and the meter buys up to an hour more."""
STEP = 300
"""Seconds after which running time is charged for; until then it is only held."""
ZERO = Decimal(0)


# --- reading ----------------------------------------------------------------------------------------------------------
def budgets_for(owner: Any, project: Any) -> list[Budget]:
    """Every budget that must allow it: the member's, the project's, the organization's, in id order."""
    target = Q(member=owner) | Q(member__isnull=True, project__isnull=True)
    if project is not None:
        target |= Q(project=project)
    return list(Budget.objects.filter(target).order_by("pk"))


def rate(budget: Budget | None, price: Decimal, cores: int) -> Decimal:
    """What an hour of `cores` cores takes from this budget, in its unit."""
    return Decimal(cores) if budget is not None and budget.unit == Unit.CORE_HOURS else price * cores


def first_hour(coretype: Coretype, nodes: int, cores: int) -> Decimal:
    """Money for the first hour; what must be free before a job starts."""
    return rounded(coretype.hourly(nodes, cores))


def due(hourly: Decimal, seconds: int) -> Decimal:
    return rounded(hourly * seconds / HOUR)


def seconds_between(start: datetime, end: datetime) -> int:
    """Whole seconds; a started second counts, less than none is none."""
    return max(0, math.ceil((end - start).total_seconds()))


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
    settled = sum((_spent(cluster, cluster.charged_until or cluster.up) for cluster in clusters if cluster.up), ZERO)
    current = next((cluster for cluster in clusters if cluster.attempt == workload.attempt), None)
    price = current.price if current else workload.coretype.price
    hourly = rounded(price * workload.total_cores)
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


class Purse:
    """The budgets of many workloads, locked for one transaction: what is free in each while starts are decided."""

    def __init__(self, workloads: Sequence[Workload]) -> None:
        self.budgets = list(Budget.objects.filter(_targets(workloads)).select_for_update(of=("self",)).order_by("pk"))
        self.left = {budget.pk: budget.left for budget in self.budgets}
        self.holds: list[Hold] = []

    def of(self, workload: Workload) -> list[Budget]:
        return [budget for budget in self.budgets if _applies(budget, workload)]

    def short(self, workload: Workload) -> Short | None:
        """The first budget that cannot pay the first hour of it, or None."""
        for budget in self.of(workload):
            needed = rounded(rate(budget, workload.coretype.price, workload.total_cores))
            if not budget.active or self.left[budget.pk] < needed:
                return Short(budget, needed)
        return None

    def hold(self, workload: Workload, now: datetime) -> None:
        """Reserve the first hour; `write` puts it down."""
        for budget in self.of(workload):
            needed = rounded(rate(budget, workload.coretype.price, workload.total_cores))
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


def money(amount: Decimal) -> Value:
    """A constant for F() arithmetic on money columns."""
    return Value(amount, MoneyField())


# --- charge and release -----------------------------------------------------------------------------------------------
def meter(cluster_ids: Iterable[int], now: datetime) -> list[int]:
    """Charge for running time and keep the holds reaching ahead; the clusters whose `paid_until` changed."""
    return [pk for pk in cluster_ids if _meter_one(pk, now)]


@transaction.atomic
def _meter_one(pk: int, now: datetime) -> bool:
    cluster = Cluster.objects.select_for_update(of=("self",)).select_related("workload").get(pk=pk)
    if cluster.up is None or cluster.settled:
        return False
    holds = _locked_holds(cluster)
    if cluster.charged_until is None or now - cluster.charged_until >= timedelta(seconds=STEP):
        _charge(cluster, holds, now, now)
    before = cluster.paid_until
    paid = [_reach_ahead(cluster, hold, now) for hold in holds]
    strict = [until for hold, until in zip(holds, paid, strict=True) if hold.budget.is_strict and until is not None]
    cluster.paid_until = min(strict, default=None)
    changed = before != cluster.paid_until
    if changed:
        cluster.orders = F("orders") + 1
    cluster.save(update_fields=["charged_until", "paid_until", "orders"])
    return changed


def _locked_holds(cluster: Cluster) -> list[Hold]:
    """The attempt's holds with their budgets locked in id order."""
    holds = list(Hold.objects.filter(workload=cluster.workload_id, attempt=cluster.attempt, released__isnull=True).order_by("budget_id"))
    budgets = {b.pk: b for b in Budget.objects.filter(pk__in=[h.budget_id for h in holds]).select_for_update(of=("self",)).order_by("pk")}
    for hold in holds:
        hold.budget = budgets[hold.budget_id]
    return holds


def _reach_ahead(cluster: Cluster, hold: Hold, now: datetime) -> datetime | None:
    """Extend the hold if it reaches less than AHEAD; until when it pays, or None if it costs nothing."""
    hourly = rate(hold.budget, cluster.price, cluster.total_cores)
    if hourly <= 0:
        return None
    until = _until(cluster, hold, hourly)
    if until - now < timedelta(seconds=AHEAD) and cluster.releasing is None:
        wanted = due(hourly, HOUR)
        amount = wanted if not hold.budget.is_strict else min(wanted, max(ZERO, hold.budget.left))
        if amount > 0 and hold.budget.active:
            _move(hold.budget, held=amount)
            hold.amount += amount
            hold.save(update_fields=["amount"])
            until = _until(cluster, hold, hourly)
    return until


def _until(cluster: Cluster, hold: Hold, hourly: Decimal) -> datetime:
    seconds = int(hold.amount * HOUR / hourly)
    return (cluster.charged_until or cluster.up) + timedelta(seconds=seconds)


def _charge(cluster: Cluster, holds: Sequence[Hold], end: datetime, now: datetime) -> None:
    """Book everything due until `end` and not booked yet."""
    start = cluster.charged_until or cluster.up
    seconds = seconds_between(cluster.up, end)
    for hold in holds:
        hourly = rate(hold.budget, cluster.price, cluster.total_cores)
        _book(cluster, hold, due(hourly, seconds) - _booked(cluster, hold.budget), start, end, now)
    if not holds and cluster.price:
        total = due(cluster.price * cluster.total_cores, seconds) - _booked(cluster, None)
        _write(cluster, None, total, start, end, now, "no budget applies")
    cluster.charged_until = end


def _booked(cluster: Cluster, budget: Budget | None) -> Decimal:
    """What was booked for this budget, with what was booked to the installation in its place."""
    rows = Charge.objects.filter(workload=cluster.workload_id, attempt=cluster.attempt)
    own = Q(budget=budget)
    if budget is not None:
        own |= Q(budget__isnull=True, note=_beyond(budget))
    return rows.filter(own).aggregate(sum=Sum("amount"))["sum"] or ZERO


def _book(cluster: Cluster, hold: Hold, amount: Decimal, start: datetime, end: datetime, now: datetime) -> None:
    """Take `amount` from the hold, then from what is free; the rest of a strict budget goes to the installation."""
    if amount <= 0:
        return
    budget = hold.budget
    from_hold = min(amount, hold.amount)
    free = amount - from_hold
    if budget.is_strict:
        free = min(free, max(ZERO, budget.left))
    _move(budget, spent=from_hold + free, held=-from_hold)
    hold.amount -= from_hold
    hold.save(update_fields=["amount"])
    _write(cluster, budget, from_hold + free, start, end, now)
    _write(cluster, None, amount - from_hold - free, start, end, now, _beyond(budget))


def _beyond(budget: Budget) -> str:
    return f"beyond budget {budget.pk}"


def _move(budget: Budget, spent: Decimal = ZERO, held: Decimal = ZERO) -> None:
    Budget.objects.filter(pk=budget.pk).update(spent=F("spent") + money(spent), held=F("held") + money(held))
    budget.spent += spent
    budget.held += held


def _write(cluster: Cluster, budget: Budget | None, amount: Decimal, start: datetime, end: datetime, now: datetime, note: str = "") -> None:
    if amount > 0:
        Charge.objects.create(
            budget=budget, workload_id=cluster.workload_id, label=cluster.workload.name, attempt=cluster.attempt, amount=amount,
            cores=cluster.total_cores, price=cluster.price, start=start, end=end, made=now, note=note,
        )


def settle(cluster_id: int, end: datetime, now: datetime) -> bool:
    """The cluster is gone, its last paid moment is `end`: book the rest, free what is still held. Once only."""
    with transaction.atomic():
        cluster = Cluster.objects.select_for_update(of=("self",)).select_related("workload").get(pk=cluster_id)
        if cluster.settled:
            return False
        holds = _locked_holds(cluster)
        if cluster.up is not None:
            _charge(cluster, holds, max(end, cluster.up, cluster.charged_until or cluster.up), now)
        _free(holds, now)
        Cluster.objects.filter(pk=cluster.pk).update(settled=now, charged_until=cluster.charged_until, paid_until=None)
    return True


def release_holds(workload: Workload, now: datetime) -> None:
    """Free what an attempt holds that never got a cluster."""
    with transaction.atomic():
        holds = Hold.objects.filter(workload=workload, attempt=workload.attempt, released__isnull=True).order_by("budget_id")
        list(Budget.objects.filter(pk__in=[hold.budget_id for hold in holds]).select_for_update().order_by("pk"))
        _free(list(holds.select_related("budget")), now)


def _free(holds: Sequence[Hold], now: datetime) -> None:
    for hold in holds:
        if Hold.objects.filter(pk=hold.pk, released__isnull=True).update(released=now, amount=ZERO):
            _move(hold.budget, held=-hold.amount)


def end_of_billing(cluster: Cluster, released: datetime) -> datetime:
    """Release, less the time after the command's end in which this portal was away."""
    if cluster.exited is None:
        return released
    away = timedelta()
    for outage in Outage.objects.filter(end__gt=cluster.exited, start__lt=released):
        away += min(outage.end, released) - max(outage.start, cluster.exited)
    return released - away

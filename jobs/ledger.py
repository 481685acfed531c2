"""The only writer of money: hold, charge, release, for a list of budgets.

Rules. Amounts are Decimals with six decimals, half up, applied to the total of a cluster and never to its parts: a charge
is (what is due until now) minus (what was booked before), so splitting time never changes a sum. A started second counts.
Clusters are locked first, then budgets, both in id order, so two sides can never deadlock. A strict budget is never
exceeded, nor used after its end; what a stop and a late release cost beyond it is booked to the installation (budget
None). What it does not do itself stands in jobs/money, whose names are for others by way of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q, QuerySet

from . import lifecycle
from .models import Budget, Cluster, Coretype, Hold, Outage, Unit, Workload
from .models.fields import rounded
from .money.books import AHEAD, STEP, ZERO, Books, as_money, due, rate, seconds_between
from .money.disks import begin_disk, disk_rate, disk_spent, meter_disks
from .money.granting import Refused, adjust, begin_periods, notice, opened, period_key, schedule, set_limit
from .money.paying import (
    Purse,
    Short,
    amount_of,
    budgets_for,
    everybody_runs_unpaid,
    may_run_unpaid,
    moment_of,
    nobody_pays,
    short_of,
    why_unusable,
)  # fmt: skip

__all__ = [
    "Cost", "Purse", "Refused", "Short", "adjust", "amount_of", "begin_disk", "begin_periods", "budgets_for", "cost", "disk_rate", "due",
    "end_of_billing", "everybody_runs_unpaid", "first_hour", "may_run_unpaid", "meter", "meter_disks", "moment_of", "nobody_pays",
    "notice", "opened", "period_key", "rate", "release_holds", "schedule", "set_limit", "settle", "short_of", "why_unusable",
]  # fmt: skip


FREE = {lifecycle.DRAFT, lifecycle.QUEUED, lifecycle.COMPLETED, lifecycle.FAILED, lifecycle.STOPPED}
"""Statuses in which nothing is held."""


# --- reading ----------------------------------------------------------------------------------------------------------
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
    """In money, whatever budgets pay: of all its clusters and, for a workstation, of its home on disk. `rate` is an hour's, `at_most`
    what it comes to if it uses its whole walltime."""
    clusters = list(workload.clusters.all())
    spent = sum((_spent(cluster, cluster.charged_until if cluster.settled else now) for cluster in clusters), ZERO)
    settled = sum((_spent(cluster, cluster.charged_until or cluster.up) for cluster in clusters), ZERO)
    if workload.kind == "workstation":
        disk, running = disk_spent(workload, now)
        spent, settled = spent + disk, settled + disk - running
    current = next((cluster for cluster in clusters if cluster.attempt == workload.attempt), None)
    hourly = rounded((current.price if current else workload.price) * workload.total_cores)
    held = ZERO if workload.status in FREE else _held(workload)
    end = current.walltime_until if current and not current.settled else None
    rest = workload.walltime if end is None else seconds_between(now, end)
    at_most = spent + due(hourly, rest) if workload.is_active else spent
    return Cost(spent, spent - settled, held, hourly, at_most, end, current.paid_until if current else None)


def _held(workload: Workload) -> Decimal:
    """Money; core-hours are another unit."""
    open_ones = [hold for hold in workload.holds.all() if hold.released is None]  # of a list they are fetched together
    return sum((hold.amount for hold in open_ones if hold.budget.unit == Unit.MONEY), ZERO)


def _spent(cluster: Cluster, end: datetime | None) -> Decimal:
    if cluster.up is None or end is None:
        return ZERO
    return due(cluster.price * cluster.total_cores, seconds_between(cluster.up, end))


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
        rows = Hold.objects.filter(workload__any_of=[pk for pk, _ in wanted], released__isnull=True)
        ids = {hold.budget_id for hold in rows}
        list(Budget.objects.filter(pk__any_of=ids).select_for_update().order_by("pk").values_list("pk"))
        free = [hold for hold in rows.all().order_by("pk") if (hold.workload_id, hold.attempt) in wanted]
        for hold in free:
            Budget.objects.filter(pk=hold.budget_id).update(held=F("held") - as_money(hold.amount))
        Hold.objects.filter(pk__any_of=[hold.pk for hold in free]).update(released=now, amount=ZERO)


def end_of_billing(exited: datetime | None, released: datetime, outages: Sequence[Outage]) -> datetime:
    """Release, less the time after the command's end in which this portal was away."""
    if exited is None:
        return released
    away = timedelta()
    for outage in outages:
        away += max(timedelta(), min(outage.end, released) - max(outage.start, exited))
    return released - away

"""The money of a suspended workstation: its home on disk, by the second, at the coretype's disk price.

One idea: what is due follows from rows alone. A use begins with the confirmed release of a cluster that had been up, and
ends with the first report of the next one or with the end of the workload, so the two kinds of charge never overlap and a
worker may die anywhere. Charges are differences of rounded totals, so splitting time never changes a sum. Uses are locked
first, then budgets, both in id order. Only the ledger offers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import F

from .. import homes, lifecycle
from ..models import Budget, Charge, Cluster, Coretype, DiskUse, Unit, Workload
from .books import STEP, ZERO, as_money, beyond, due, seconds_between
from .paying import budgets_for

GIB = 1 << 30
AT_ONCE = 100
BEHIND = timedelta(seconds=10)
"""What is charged before its end lies so far back that no report of an earlier moment can still come."""


def disk_rate(coretype: Coretype, size: int) -> Decimal:
    """Money for an hour of `size` bytes."""
    return coretype.disk_price * size / GIB


def begin_disk(works: Sequence[Workload], now: datetime) -> None:
    """These are suspended now, in this transaction: from their last release on their homes are paid."""
    ids = [work.pk for work in works]
    if not ids:
        return
    copies = homes.latest(ids)
    last = {cluster.workload_id: cluster for cluster in Cluster.objects.filter(workload__in=ids, up__isnull=False).order_by("attempt")}
    rows = [_use(cluster, copies[pk].size, now) for pk, cluster in last.items() if pk in copies]
    DiskUse.objects.bulk_create(rows, ignore_conflicts=True)  # a cancelled resume goes on with the use that is there


def meter_disks(now: datetime) -> int:
    """Charge open uses up to now, or to their end and close them. How many were looked at."""
    ids = list(DiskUse.objects.filter(settled__isnull=True).order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(ids), AT_ONCE):
        with transaction.atomic():
            _meter(ids[first : first + AT_ONCE], now)
    return len(ids)


def disk_spent(workload: Workload, now: datetime) -> tuple[Decimal, Decimal]:
    """Money for its home on disk so far, and the part of it that is not charged yet."""
    total = charged = ZERO
    for use in workload.disk_uses.all():
        end = use.charged_until if use.settled else _end(use, _ups([use]), now)[0]
        total += _due(use, end)
        charged += _due(use, use.charged_until)
    return total, total - charged


# --- private ----------------------------------------------------------------------------------------------------------
def _use(cluster: Cluster, size: int, now: datetime) -> DiskUse:
    price = cluster.coretype.disk_price
    return DiskUse(workload_id=cluster.workload_id, attempt=cluster.attempt, size=size, price=price, start=cluster.released or now)


def _meter(ids: Sequence[int], now: datetime) -> None:
    uses = list(DiskUse.objects.filter(pk__in=ids, settled__isnull=True).select_for_update(of=("self",)).order_by("pk"))
    works = Workload.objects.select_related("owner", "project", "workstation__kind").in_bulk({use.workload_id for use in uses})
    ups, wanted = _ups(uses), []
    for use in uses:
        use.workload = works[use.workload_id]
        end, over = _end(use, ups, now)
        if over or end - (use.charged_until or use.start) >= STEP:
            wanted.append((use, end, over))
    payers = {
        use.pk: [b.pk for b in budgets_for(use.workload.owner, use.workload.project, now) if b.unit == Unit.MONEY] for use, _, _ in wanted
    }
    budgets = _locked({pk for ids in payers.values() for pk in ids})
    for use, end, over in wanted:
        _charge(use, [budgets[pk] for pk in payers[use.pk]], end, now)
        DiskUse.objects.filter(pk=use.pk).update(charged_until=end, settled=now if over else None)


def _locked(ids: set[int]) -> dict[int, Budget]:
    return {budget.pk: budget for budget in Budget.objects.filter(pk__in=ids).select_for_update().order_by("pk")}


def _ups(uses: Sequence[DiskUse]) -> list[tuple[int, int, datetime]]:
    rows = Cluster.objects.filter(workload__in={use.workload_id for use in uses}, up__isnull=False)
    return list(rows.order_by("attempt").values_list("workload", "attempt", "up"))


def _end(use: DiskUse, ups: Sequence[tuple[int, int, datetime]], now: datetime) -> tuple[datetime, bool]:
    """Up to when it is due, and whether that is its end: the next cluster is up, or the workload has ended."""
    up = next((up for work, attempt, up in ups if work == use.workload_id and attempt > use.attempt), None)
    if up is not None:
        return max(up, use.start), True
    if use.workload.status in lifecycle.REST_CODES:
        return max(use.workload.since, use.start), True
    return max(now - BEHIND, use.charged_until or use.start), False


def _due(use: DiskUse, end: datetime | None) -> Decimal:
    return due(use.price * use.size / GIB, seconds_between(use.start, end)) if end else ZERO


def _charge(use: DiskUse, budgets: Sequence[Budget], end: datetime, now: datetime) -> None:
    """Every budget that applies pays it; what a strict one has not left is borne by the installation."""
    amount = _due(use, end) - _due(use, use.charged_until)
    if amount <= 0:
        return
    for budget in budgets:
        own = min(amount, max(ZERO, budget.left)) if budget.is_strict else amount
        if own > 0:
            Budget.objects.filter(pk=budget.pk).update(spent=F("spent") + as_money(own))
            budget.spent += own
            _book(use, budget, own, end, now)
        if own < amount:
            _book(use, None, amount - own, end, now, beyond(budget))
    if not budgets:
        _book(use, None, amount, end, now)


def _book(use: DiskUse, budget: Budget | None, amount: Decimal, end: datetime, now: datetime, note: str = "") -> None:
    work, words = use.workload, f"home of {use.size / GIB:.3f} GiB on disk"
    Charge.objects.create(
        kind=Charge.Kind.DISK,
        budget=budget,
        workload=work,
        label=work.name,
        attempt=use.attempt,
        amount=amount,
        cores=0,
        price=use.price,
        start=use.charged_until or use.start,
        end=end,
        made=now,
        note=f"{note}; {words}" if note else words,
        left=budget.amount - budget.spent if budget else None,
        owner_id=work.owner_id,
        project_id=work.project_id,
        coretype_id=work.coretype_id,
        software=str(work.workstation.kind)[:120],
    )

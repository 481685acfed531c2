"""What a workstation costs: an hour active and suspended, today, and over a night of either."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from jobs import ledger, lifecycle
from portal import words

from ..text import plural
from ..values import Row
from .facts import WorkstationFacts

GIB = 1 << 30
NIGHT = 14
"""Hours from the end of one working day to the beginning of the next."""
ZERO, LEAST = Decimal(0), Decimal("0.0001")


@dataclass(frozen=True)
class CostCard:
    """`now`: which of the two hourly prices counts at the moment, "active", "suspended" or neither."""

    active: str
    active_more: str
    suspended: str
    suspended_more: str
    now: str
    rows: list[Row]
    saved: Decimal
    note: str


def cost(facts: WorkstationFacts) -> CostCard:
    work, size = facts.work, home_size(facts)
    price = facts.cluster.price if facts.cluster else work.price
    disk = f"{words.size(size)} of disk only" if size else "its home on disk only"
    return CostCard(
        hourly(active_rate(facts)),
        f"{plural(work.cores, 'core')} at {words.price(price)}",
        hourly(suspended_rate(facts)),
        disk if work.coretype.disk_price else "disk is not charged here",
        _now(facts),
        _rows(facts),
        saved(facts),
        _strictness(facts),
    )


def active_rate(facts: WorkstationFacts) -> Decimal:
    """An hour of its hardware."""
    return facts.cost.rate


def suspended_rate(facts: WorkstationFacts) -> Decimal:
    """An hour of its home on disk, as large as it is now."""
    return ledger.disk_rate(facts.work.coretype, home_size(facts))


def hourly(rate: Decimal) -> str:
    """A price an hour; what is too little for its decimals is said to be so."""
    return f"<{words.price(LEAST)}" if 0 < rate < LEAST / 2 else words.price(rate)


def home_size(facts: WorkstationFacts) -> int:
    """Bytes of its last copy; before the first, what its node measures."""
    if facts.home:
        return facts.home.size
    told = facts.listing.get("bytes_total") if facts.cluster and facts.cluster.started else 0
    return int(told or 0)


def spent_today(facts: WorkstationFacts) -> Decimal:
    """Since midnight, in the portal's time zone."""
    midnight = timezone.localtime(facts.now).replace(hour=0, minute=0, second=0, microsecond=0)
    hardware = ((c.price * c.total_cores, c.up, _end(facts, c.charged_until if c.settled else None)) for c in facts.work.clusters.all())
    disk = ((u.price * u.size / GIB, u.start, _end(facts, u.charged_until if u.settled else None)) for u in facts.work.disk_uses.all())
    return _sum(hardware, midnight) + _sum(disk, midnight)


def left(facts: WorkstationFacts) -> Decimal | None:
    """What the tightest of its budgets has left; None if none counts money."""
    lefts = [budget.left for budget in facts.budgets if budget.active and budget.unit == "money"]
    return min(lefts) if lefts else None


def saved(facts: WorkstationFacts) -> Decimal:
    """About what it did not cost to be suspended: the hours of its hardware, less its disk."""
    hours = (
        sum((_seconds(use.start, _end(facts, use.charged_until if use.settled else None)) for use in facts.work.disk_uses.all()), 0.0)
        / 3600
    )
    return max(ZERO, (active_rate(facts) - suspended_rate(facts)) * Decimal(str(round(hours, 4))))


# --- private ----------------------------------------------------------------------------------------------------------
def _rows(facts: WorkstationFacts) -> list[Row]:
    rows = [Row("Today", words.money(spent_today(facts)))]
    if not facts.is_over:
        rows.append(Row(f"Overnight, {NIGHT} h, if left active", words.money(NIGHT * active_rate(facts))))
        rows.append(Row("Overnight if suspended", words.money(NIGHT * suspended_rate(facts))))
    rows.append(Row("In all so far", words.money(facts.cost.spent)))
    rows += [Row(f"{budget.name} free", words.money(budget.left)) for budget in facts.budgets if budget.unit == "money"]
    return rows


def _now(facts: WorkstationFacts) -> str:
    if facts.work.status == lifecycle.SUSPENDED:
        return "suspended"
    return "active" if facts.cluster and facts.cluster.up and not facts.cluster.released else ""


def _strictness(facts: WorkstationFacts) -> str:
    if facts.is_over or not any(budget.is_strict for budget in facts.budgets):
        return ""
    return "Strict budget: it is suspended in time when nothing is left to pay for more."


def _end(facts: WorkstationFacts, end: datetime | None) -> datetime:
    return end or facts.now


def _sum(stretches: Iterable[tuple[Decimal, datetime | None, datetime]], since: datetime) -> Decimal:
    """What stretches at a price an hour cost from `since` on."""
    return sum((ledger.due(price, _seconds(max(begin, since), end)) for price, begin, end in stretches if begin), ZERO)


def _seconds(begin: datetime, end: datetime) -> int:
    return max(0, int((end - begin) / timedelta(seconds=1)))

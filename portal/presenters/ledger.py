"""The ledger of a budget: which rows, each with what was left after it, and the same as a table for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone

from jobs.models import Budget, Charge, Unit, Workload
from jobs.models.roles import sees_all
from portal import words

from . import budgets
from .text import who

HEAD = [
    *("booked (UTC)", "kind", "for", "owner", "coretype", "software", "cores", "price"),
    *("from (UTC)", "to (UTC)", "amount", "left after", "note", "by"),
]


@dataclass(frozen=True)
class Filter:
    """What was asked for, as it was typed; `kept` goes along in addresses."""

    q: str
    kind: str
    first: str
    last: str

    @property
    def kept(self) -> dict[str, str]:
        return {"q": self.q, "kind": self.kind, "from": self.first, "to": self.last}

    @property
    def on(self) -> bool:
        return any(self.kept.values())


@dataclass(frozen=True)
class Row:
    charge: Charge
    name: str
    href: str
    amount: str
    how: str
    left: str
    by: str


def filter_of(asked: QueryDict) -> Filter:
    kind = asked.get("kind", "")
    days = (asked.get(name, "") for name in ("from", "to"))
    first, last = (day if day_of(day) else "" for day in days)
    return Filter(asked.get("q", "").replace("\0", "").strip()[:200], kind if kind in Charge.Kind.values else "", first, last)


def entries(budget: Budget, user: Any, asked: Filter) -> QuerySet[Charge]:
    """Newest first. Of an organization's budget people see what they themselves may see; admins and auditors see all."""
    rows = Charge.objects.filter(budget=budget)
    if not (budget.member_id or budget.project_id or sees_all(user)):
        rows = rows.filter(workload__in=Workload.objects.visible_to(user))
    if asked.q:
        rows = rows.filter(Q(label__icontains=asked.q) | Q(note__icontains=asked.q))
    if asked.kind:
        rows = rows.filter(kind=asked.kind)
    if first := day_of(asked.first):
        rows = rows.filter(made__gte=day_begins(first))
    if last := day_of(asked.last):
        rows = rows.filter(made__lt=day_begins(last + timedelta(days=1)))
    return rows.select_related("workload", "by", "owner", "coretype").order_by("-pk")


def rows(budget: Budget, charges: Sequence[Charge], user: Any) -> list[Row]:
    ids = {charge.workload_id for charge in charges if charge.workload_id}
    seen = set(Workload.objects.visible_to(user).filter(pk__in=ids).values_list("pk", flat=True))
    return [_row(budget, charge, seen) for charge in charges]


def cells(charge: Charge) -> list[Any]:
    """One line of the table. Text is defused by sheets.py."""
    moments = [f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}" for at in (charge.made, charge.start, charge.end)]
    owner = charge.owner.get_username() if charge.owner else ""
    kind = str(charge.coretype) if charge.coretype else ""
    by = charge.by.get_username() if charge.by else ""
    used = [charge.cores, charge.price] if charge.kind == Charge.Kind.USE else ["", ""]
    sums = [charge.amount, charge.left, charge.note, by]
    return [moments[0], charge.kind, charge.label, owner, kind, charge.software, *used, *moments[1:], *sums]


# --- private ----------------------------------------------------------------------------------------------------------
def _row(budget: Budget, charge: Charge, seen: set[int]) -> Row:
    work = charge.workload
    href = f"/{work.kind}s/{work.public_id}/" if work and work.pk in seen else ""
    left = "" if charge.left is None else budgets.exact(budget, charge.left)
    by = who(charge.by) if charge.by else ""
    return Row(charge, charge.label, href, budgets.exact(budget, charge.amount), _how(budget, charge), left, by)


def _how(budget: Budget, charge: Charge) -> str:
    if charge.kind != Charge.Kind.USE:
        return charge.note
    price = f" at {words.price(charge.price)}" if budget.unit == Unit.MONEY else ""
    how = f"{charge.cores} core{'' if charge.cores == 1 else 's'}{price}"
    return f"{how}; {charge.note}" if charge.note else how


def day_of(text: str) -> date | None:
    """None for what is no day; the very first and last year are no bound either: beyond them there are no moments."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if MINYEAR < day.year < MAXYEAR else None


def day_begins(day: date) -> datetime:
    """Midnight in the portal's time zone."""
    return timezone.make_aware(datetime.combine(day, time()))

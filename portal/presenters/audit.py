"""The audit log as people read it: who did what to what, each value before and after, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse

from jobs.models import AuditEntry
from portal.presenters.ledger import day_begins, day_of

LONGEST = 200
SHOWN = 12
"""Values of one entry on the page; the spreadsheet has all."""
HEAD = ["at (UTC)", "who", "did", "to", "what", "before", "after", "from where"]


@dataclass(frozen=True)
class Asked:
    """The filter as it was typed."""

    who: str
    action: str
    q: str
    first: str
    last: str

    @property
    def kept(self) -> dict[str, str]:
        return {"who": self.who, "action": self.action, "q": self.q, "from": self.first, "to": self.last}

    @property
    def on(self) -> bool:
        return any(self.kept.values())


@dataclass(frozen=True)
class Value:
    """One thing of an entry. `before` None: it was said, not changed."""

    name: str
    before: str | None
    after: str


@dataclass(frozen=True)
class Row:
    entry: AuditEntry
    values: list[Value]
    more: int
    href: str


def asked(given: QueryDict) -> Asked:
    who, action, q = (given.get(name, "").replace("\0", "").strip()[:150] for name in ("who", "action", "q"))
    first, last = (day if day_of(day := given.get(name, "")) else "" for name in ("from", "to"))
    return Asked(who, action, q, first, last)


def entries(wanted: Asked) -> QuerySet[AuditEntry]:
    """Newest first."""
    found = AuditEntry.objects.all()
    if wanted.who:
        found = found.filter(who__icontains=wanted.who)
    if wanted.action:
        found = found.filter(action=wanted.action)
    if wanted.q:
        found = found.filter(Q(target__icontains=wanted.q) | Q(detail__icontains=wanted.q))
    if first := day_of(wanted.first):
        found = found.filter(at__gte=day_begins(first))
    if last := day_of(wanted.last):
        found = found.filter(at__lt=day_begins(last + timedelta(days=1)))
    return found.order_by("-pk")


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("action").values_list("action", flat=True).distinct()[:LONGEST])


def row(entry: AuditEntry) -> Row:
    found = values(entry)
    id = str(entry.detail.get("id", ""))
    href = reverse("job", args=[id]) if len(id) == 6 and id.isalpha() else ""
    return Row(entry, found[:SHOWN], max(0, len(found) - SHOWN), href)


def values(entry: AuditEntry) -> list[Value]:
    detail = dict(entry.detail)
    changed = detail.pop("values", None) or {}
    said = [Value(name, None, _text(value)) for name, value in detail.items() if name not in ("id", "message")]
    return [*(_changed(name, pair) for name, pair in changed.items()), *said]


def cells(entry: AuditEntry) -> list[list[Any]]:
    """The lines of one entry: one for each value, at least one."""
    head = [f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.who, entry.action, entry.target]
    return [[*head, v.name, v.before, v.after, entry.address] for v in values(entry)] or [[*head, "", "", "", entry.address]]


def _changed(name: str, pair: Any) -> Value:
    if isinstance(pair, list) and len(pair) == 2:
        return Value(name, _text(pair[0]) or "nothing", _text(pair[1]) or "nothing")
    return Value(name, None, "changed")


def _text(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "\u2026"

"""How a workload gets from one status to the next, and how its pages hear that its facts have changed.

`advance` is the only writer of `status`: table checked, compare-and-set on (id, status, lease), event in the same
transaction, `changed` on commit. What comes to rest is compared by its wish as well: a stop that was accepted before the
end is written is never answered with another end.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from .. import lifecycle
from ..signals import announce_all
from . import telling
from .event import Event
from .many import insert_values

if TYPE_CHECKING:
    from .workload import Workload


class Change:
    """One wanted transition. `fields` are columns of the Workload that go with it, `detail` is for the event."""

    __slots__ = ("detail", "fields", "old", "reason", "to", "wish", "workload")

    def __init__(self, workload: Workload, to: str, *, reason: str = "", detail: str = "", fields: dict[str, Any] | None = None) -> None:
        self.workload, self.to, self.reason, self.detail, self.fields = workload, to, reason, detail, fields or {}
        self.old, self.wish = workload.status, workload.wish

    def stands(self, status: str, wish: str) -> bool:
        """Whether the row is still as it was when this was decided."""
        return status == self.old and (wish == self.wish or self.to not in lifecycle.REST_CODES)


def advance(changes: Iterable[Change], now: datetime, *, source: str = "engine", by: Any = None, lease: str | None = "") -> set[int]:
    """Move workloads to their next status; the ids of those that really moved (somebody was faster with the others).

    Rows that change alike share one UPDATE, so a burst costs a few statements and one commit. `lease` None: whoever has it,
    so that a worker that died with it holds nobody up; its step finds another status then.
    Raises ValueError for a transition that the table does not have.
    """
    changes = list(changes)
    for change in changes:
        if not change.workload.table.allows(change.old, change.to):
            raise ValueError(f"{change.workload.kind}: there is no way from {change.old} to {change.to}")
    with transaction.atomic(savepoint=False):
        groups: dict[tuple[Any, ...], list[Change]] = {}
        for change in _standing(changes, lease):
            key = (change.old, change.to, tuple(sorted(change.fields.items(), key=lambda item: item[0])))
            groups.setdefault(key, []).append(change)
        done = [change for group in groups.values() for change in _moved(group, now, lease)]
        _note(done, now, source, by)
    return {change.workload.pk for change in done}


def _standing(changes: list[Change], lease: str | None) -> list[Change]:
    """Those that are still where they were, locked in the order of their ids. Of a single one its UPDATE tells."""
    if len(changes) < 2:
        return changes
    rows = _workloads().filter(pk__any_of=[change.workload.pk for change in changes]).order_by("pk").select_for_update()
    there = {pk: (status, wish) for pk, status, wish, of in rows.values_list("pk", "status", "wish", "lease") if lease in (None, of)}
    return [change for change in changes if change.workload.pk in there and change.stands(*there[change.workload.pk])]


def _moved(group: list[Change], now: datetime, lease: str | None) -> list[Change]:
    """A group that changes alike, if it moved; the workloads in memory have moved with their rows."""
    first = group[0]
    rest = {"due": None, "ended": now} if first.to in lifecycle.REST_CODES else {"due": now}
    values = {**rest, **first.fields, "status": first.to, "since": now}
    rows = _workloads().filter(pk__any_of=[change.workload.pk for change in group], status=first.old)
    if first.to in lifecycle.REST_CODES:
        rows = rows.filter(wish__in={change.wish for change in group})
    if not (rows if lease is None else rows.filter(lease=lease)).update(**values, version=F("version") + 1):
        return []
    for change in group:
        for name, value in values.items():
            setattr(change.workload, name, value)
        change.workload.version += 1
    return group


def _note(done: list[Change], now: datetime, source: str, by: Any) -> None:
    """Events of what has moved, whom they are told to, and the announcements."""
    events = [
        {
            "workload_id": change.workload.pk,
            "at": now,
            "attempt": change.workload.attempt,
            "before": change.old,
            "after": change.to,
            "source": source,
            "by_id": by and by.pk,
            "reason": change.reason,
            "detail": change.detail,
        }
        for change in done
    ]
    telling.of_events(insert_values(Event, events), [change.workload for change in done])
    announce_all((one.workload.topic, {"version": one.workload.version, "due": True, "status": one.to}) for one in done)


def touch(ids: list[int], now: datetime | None = None, due: bool = True) -> None:
    """Facts about these workloads have changed: next version, due at once (not if only people look), told after commit."""
    now = now or timezone.now()
    with transaction.atomic():
        if len(ids) > 1:
            list(_workloads().filter(pk__any_of=ids).order_by("pk").select_for_update().values_list("pk"))
        _workloads().filter(pk__any_of=ids).update(version=F("version") + 1, **({"due": now} if due else {}))
        rows = _workloads().filter(pk__any_of=ids).values_list("kind", "public_id", "version", "status")
        announce_all((f"{kind}:{public}", {"version": version, "due": due, "status": status}) for kind, public, version, status in rows)


def _workloads() -> Any:
    """The rows; asked for by name because the verbs of Workload stand on this module."""
    return apps.get_model("jobs", "Workload").objects

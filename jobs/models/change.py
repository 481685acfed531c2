"""How a workload gets from one status to the next, and how its pages hear that its facts have changed.

`advance` is the only writer of `status`: table checked, compare-and-set on (id, status, lease), event in the same
transaction, `changed` on commit.
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
from ..signals import announce
from . import telling
from .event import Event

if TYPE_CHECKING:
    from .workload import Workload


class Change:
    """One wanted transition. `fields` are columns of the Workload that go with it, `detail` is for the event."""

    __slots__ = ("detail", "fields", "reason", "to", "workload")

    def __init__(self, workload: Workload, to: str, *, reason: str = "", detail: str = "", fields: dict[str, Any] | None = None) -> None:
        self.workload, self.to, self.reason, self.detail, self.fields = workload, to, reason, detail, fields or {}


def advance(changes: Iterable[Change], now: datetime, *, source: str = "engine", by: Any = None, lease: str | None = "") -> set[int]:
    """Move workloads to their next status; the ids of those that really moved (somebody was faster with the others).

    Rows that change alike share one UPDATE, so a burst costs a few statements and one commit. `lease` None: whoever has it,
    so that a worker that died with it holds nobody up; its step finds another status then.
    Raises ValueError for a transition that the table does not have.
    """
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for change in changes:
        old = change.workload.status
        if not change.workload.table.allows(old, change.to):
            raise ValueError(f"{change.workload.kind}: there is no way from {old} to {change.to}")
        key = (old, change.to, tuple(sorted(change.fields.items(), key=lambda item: item[0])))
        groups.setdefault(key, []).append(change)
    moved: set[int] = set()
    with transaction.atomic():
        for (old, to, fields), group in groups.items():
            moved |= _advance_group(group, old, to, dict(fields), now, source, by, lease)
    return moved


def _advance_group(
    group: list[Change], old: str, to: str, fields: dict[str, Any], now: datetime, source: str, by: Any, lease: str | None
) -> set[int]:
    ids = [change.workload.pk for change in group]
    rest = {"due": None, "ended": now} if to in lifecycle.REST_CODES else {"due": now}
    values = {**rest, **fields, "status": to, "since": now, "version": F("version") + 1}
    rows = _workloads().filter(pk__in=ids, status=old, **({} if lease is None else {"lease": lease}))
    if len(ids) == 1:
        moved = set(ids) if rows.update(**values) else set()
    else:
        moved = set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))
        rows.filter(pk__in=moved).update(**values)
    done = [change for change in group if change.workload.pk in moved]
    events = Event.objects.bulk_create(
        [
            Event(
                workload_id=c.workload.pk,
                at=now,
                attempt=fields.get("attempt", c.workload.attempt),
                before=old,
                after=to,
                source=source,
                by=by,
                reason=c.reason,
                detail=c.detail,
            )
            for c in done
        ]
    )
    telling.of_events(events, [change.workload for change in done])
    for change in done:
        work = change.workload
        for name, value in {**rest, **fields, "status": to, "since": now}.items():
            setattr(work, name, value)
        work.version += 1
        announce(work.topic, version=work.version, due=True, status=to)
    return moved


def touch(ids: list[int], now: datetime | None = None, due: bool = True) -> None:
    """Facts about these workloads have changed: next version, due at once (not if only people look), told after commit."""
    now = now or timezone.now()
    with transaction.atomic():
        if len(ids) > 1:
            list(_workloads().filter(pk__in=ids).order_by("pk").select_for_update().values_list("pk"))
        _workloads().filter(pk__in=ids).update(version=F("version") + 1, **({"due": now} if due else {}))
        rows = _workloads().filter(pk__in=ids).values_list("kind", "public_id", "version", "status")
        for kind, public, version, status in rows:
            announce(f"{kind}:{public}", version=version, due=due, status=status)


def _workloads() -> Any:
    """The rows; asked for by name because the verbs of Workload stand on this module."""
    return apps.get_model("jobs", "Workload").objects

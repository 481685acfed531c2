"""Tells a workstation's owner what a rule will do to it: in its history, on its page and by mail, once a warning.

Taken by compare-and-set on the last warning, so that two workers, or one that died in between, tell once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from ..idleness import judge, rule_of
from ..lives import end_by_rule, facts_of
from ..models import Event, WorkNotice, Workstation, touch
from .base import Facts, Step, wait


def warn_of_idleness(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """Tell owners of workstations that will soon be suspended for being idle; each warning once."""
    for facts in batch:
        station = facts.work.workstation
        idle = judge(facts.seen, rule_of(station), now) if facts.seen else None
        if idle and idle.warn and idle.suspends_at:
            first = station.warned_at if station.warned_at and station.warned_at >= idle.idle_since else now
            text = (
                f"Nothing was done in it since {_at(idle.idle_since)}. It is suspended at {_at(idle.suspends_at)} "
                "unless somebody works in it or keeps it on; its home is saved."
            )
            _tell(facts, "idle-soon", f"is suspended {_in(idle.suspends_at - now)}", text, now, warned=idle.warn, warned_at=first)
    return [wait(facts) for facts in batch]


def warn_of_end(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """Tell owners of workstations that a rule will soon end; each warning once."""
    for facts in batch:
        station = facts.work.workstation
        found = end_by_rule(station.kind, facts_of(station, suspended_since(facts)), now)
        if found and found[0].warn:
            end, rule = found
            first = station.end_warned_at if station.end_warned and station.end_warned_at else now
            text = f"It is ended at {_at(end.at)}: {rule}. Copy what you still need out of its home."
            _tell(facts, "end-soon", f"is ended {_in(end.at - now)}", text, now, end_warned=end.warn, end_warned_at=first)
    return [wait(facts) for facts in batch]


def suspended_since(facts: Facts) -> datetime | None:
    return facts.work.since if not facts.work.row.holds else None


def _tell(facts: Facts, reason: str, subject: str, text: str, now: datetime, **columns: object) -> None:
    work, station = facts.work, facts.work.workstation
    before = {name: getattr(station, name) for name in columns}
    with transaction.atomic():
        if not Workstation.objects.filter(pk=station.pk, **before).update(**columns):
            return
        Event.beside(work, now, "engine", reason, text).save()
        WorkNotice.objects.create(workload=work, at=now, subject=f"{work.name} {subject}"[:200], text=text)
        touch([work.pk], now, due=False)


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _in(left: timedelta) -> str:
    minutes = max(1, round(left.total_seconds() / 60))
    if minutes < 120:
        return f"in {minutes} min"
    return f"in {round(minutes / 60)} hours" if minutes < 2880 else f"in {round(minutes / 1440)} days"

"""Validating Input: files and command are checked before any hardware is paid for.

The check began at submit, so usually its result is only picked up here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from .. import checking, lifecycle
from ..models import Check
from .base import Facts, Step, end, stopped_reason, wait


def decide(facts: Facts, now: datetime) -> Step:
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if facts.work.kind != "job":
        return Step(facts, lifecycle.STARTING)
    check = facts.work.job.checked
    if check is not None and check.done:
        return _judge(facts, check)
    if now - facts.work.since > timedelta(seconds=facts.work.row.limit or 600):
        return end(facts, "validation-broken")
    return Step(facts, act=perform)


def _judge(facts: Facts, check: Check) -> Step:
    if check.errors:
        return end(facts, "findings", f"{check.errors} error{'s' if check.errors > 1 else ''} in the input")
    words = f"{_count(check.files, 'file')}, 0 errors, {_count(check.warnings, 'warning')}"
    return Step(facts, lifecycle.STARTING, detail=words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def perform(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """Do the checks that no other worker is at; the end of a check is announced."""
    jobs = [facts.work.job for facts in batch]
    checking.perform(jobs, now)
    done = Check.objects.filter(pk__in={job.checked_id for job in jobs}, done__isnull=False).in_bulk()
    return [_judge(one, done[one.work.job.checked_id]) if one.work.job.checked_id in done else wait(one) for one in batch]

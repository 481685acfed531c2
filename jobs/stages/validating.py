"""Validating Input: files and command are checked before any hardware is paid for.

The check began at submit, so usually its result is only picked up here.
"""

from __future__ import annotations

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
    words = f"{check.files} files, 0 errors, {check.warnings} warning{'' if check.warnings == 1 else 's'}"
    return Step(facts, lifecycle.STARTING, detail=words)


def perform(facts: Facts, now: datetime) -> Step:
    """Do the check, unless another worker is at it; its end is announced."""
    job = facts.work.job
    check = checking.check_of(job)
    if check.done is None:
        if not checking.take(check, now):
            return wait(facts)
        checking.perform(job, check)
    check.refresh_from_db()
    return _judge(facts, check)

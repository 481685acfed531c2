"""Validating Input: files and command are checked before any hardware is paid for.

The check began at submit, so usually its result is only picked up here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from .. import checking, homes, lifecycle, places
from ..acting import side_by_side
from ..models import Check, JobInput
from .base import Facts, Step, end, end_of_findings, stopped_reason, suspend, wait

MOST_NAMED = 5
"""Inputs that storage lost, told by name."""


def decide(facts: Facts, now: datetime) -> Step:
    """A job needs its check, a workstation the copy of its home that it goes on with, if it has one."""
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if facts.suspends:
        return suspend(facts, "wish")
    if facts.work.kind != "job":
        return Step(facts, lifecycle.STARTING) if facts.home is None else Step(facts, act=look_at_home)
    check = facts.work.job.checked
    if check is not None and check.done:
        return _judge(facts, check)
    if now - facts.work.since > timedelta(seconds=facts.work.row.limit or 600):
        return end(facts, "validation-broken")
    return Step(facts, act=perform)


def _judge(facts: Facts, check: Check) -> Step:
    if check.errors:
        return end_of_findings(facts, check)
    return Step(facts, act=look_at_inputs) if check.files else _passed(facts, check)


def _passed(facts: Facts, check: Check) -> Step:
    words = f"{_count(check.files, 'file')}, 0 errors, {_count(check.warnings, 'warning')}"
    return Step(facts, lifecycle.STARTING, detail=words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def look_at_inputs(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """A check holds for all with the same bytes; whether these are still there is looked at for each job."""
    jobs = [facts.work.job for facts in batch]
    uses = checking.inputs_of(jobs)
    checks = Check.objects.in_bulk({job.checked_id for job in jobs})
    return [_inputs_judged(facts, uses[facts.work.pk], checks[facts.work.job.checked_id]) for facts in batch]


def _inputs_judged(facts: Facts, uses: Sequence[JobInput], check: Check) -> Step:
    gone = [use.name for use in uses if places.lacks(use.file.key, use.file.size)]
    if not gone:
        return _passed(facts, check)
    some = ", ".join(gone[:MOST_NAMED]) + (f" and {len(gone) - MOST_NAMED} more" if len(gone) > MOST_NAMED else "")
    words = f"{some}: storage has not all bytes of {'it' if len(gone) == 1 else 'them'} any more. Upload again what is missing."
    return end(facts, "staging-failed", words, lifecycle.VALIDATING)


def look_at_home(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """Before hardware is paid for: is the copy of the home there, with all its bytes? Its hash is checked on the node."""
    answers = side_by_side(lambda facts: homes.trouble(facts.home), batch)
    return [_home_judged(facts, answer) for facts, answer in zip(batch, answers, strict=True)]


def _home_judged(facts: Facts, answer: object) -> Step:
    if isinstance(answer, Exception):
        return wait(facts)  # the storage did not answer; that says nothing about the home
    return suspend(facts, "home-missing", str(answer)) if answer else Step(facts, lifecycle.STARTING, detail="The home is there")


def perform(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """Do the checks that no other worker is at; the end of a check is announced. Too many for once are gone on with at once."""
    jobs = [facts.work.job for facts in batch]
    again = 0 if checking.perform(jobs, now) == checking.AT_ONCE else None
    done = Check.objects.filter(pk__any_of={job.checked_id for job in jobs}, done__isnull=False).in_bulk()
    return [_judge(one, done[one.work.job.checked_id]) if one.work.job.checked_id in done else wait(one, again) for one in batch]

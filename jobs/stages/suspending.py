"""Suspending: the session has ended, its home is saved, the cluster is released, the money is settled; only then Suspended.

What cannot be saved for want of room stays Active and says so. What lost its node goes back to the last copy; what never
had one fails, so that nobody resumes onto an empty disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .. import lifecycle
from .base import Facts, Step, end, stopped_reason, suspend
from .saving import home_in_words, sentences
from .stopping import on_the_way_down, pay, take_down


def decide(facts: Facts, now: datetime) -> Step:
    if facts.stops:
        return end(facts, stopped_reason(facts))
    return on_the_way_down(facts, now, release, settle) or _final(facts)


def release(batch: Sequence[Facts], now: datetime) -> list[Step]:
    return take_down(batch, now, settle)


def settle(batch: Sequence[Facts], now: datetime) -> list[Step]:
    pay(batch, now)
    return [decide(facts, now) for facts in batch]


def _final(facts: Facts) -> Step:
    work = facts.work
    if facts.home is None:
        return end(facts, "not-saved" if work.reason in ("", "wish", "idle") else _ending(work.reason), "No copy of its home ever arrived.")
    step = suspend(facts, work.reason or "wish", sentences(work.detail, home_in_words(facts)))
    step.to = lifecycle.SUSPENDED
    return step


def _ending(reason: str) -> str:
    return reason if reason in lifecycle.ENDINGS else "not-saved"

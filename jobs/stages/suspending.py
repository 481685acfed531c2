"""Suspending: the session has ended, its home is saved, the cluster is released, the money is settled; only then Suspended.

What cannot be saved for want of room stays Active and says so. What lost its node goes back to the last copy; what never
had one fails, so that nobody resumes onto an empty disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .. import lifecycle
from .base import Facts, Step, end, stopped_reason, suspend, wait
from .saving import back_to_active, could_not_save, home_in_words, sentences
from .stopping import may_destroy, pay, take_down, waits_for_saving


def decide(facts: Facts, now: datetime) -> Step:
    cluster = facts.cluster
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if cluster is not None and cluster.released is None:
        if cluster.releasing is None and could_not_save(facts, now):
            return back_to_active(facts)
        if cluster.releasing is None and waits_for_saving(facts, now):
            return wait(facts)
        return Step(facts, act=release) if may_destroy(facts, now) else wait(facts)
    if cluster is not None and cluster.settled is None:
        return Step(facts, act=settle)
    return _final(facts)


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

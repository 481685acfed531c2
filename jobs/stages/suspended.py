"""Suspended: nothing runs. It is ended by a wish, without being resumed, or by a rule of its kind after several warnings."""

from __future__ import annotations

from datetime import datetime

from .. import lifecycle
from ..lives import end_by_rule, facts_of
from .base import Facts, Step, end, stopped_reason, wait
from .warning import warn_of_end


def decide(facts: Facts, now: datetime) -> Step:
    """It stays until somebody ends it, or a rule of its kind does after its warnings."""
    if facts.stops:
        return _end(facts, stopped_reason(facts))
    station = facts.work.workstation
    found = end_by_rule(station.kind, facts_of(station, facts.work.since), now)
    if found and found[0].warn:
        return Step(facts, act=warn_of_end)
    if found and now >= found[0].at:
        return _end(facts, "stopped-by-rule", f"It reached {found[1]}.")
    return wait(facts)


def _end(facts: Facts, reason: str, detail: str = "") -> Step:
    """Through the teardown that every ending takes; there is no cluster to take down."""
    step = end(facts, reason, detail)
    step.to = lifecycle.STOPPING
    return step

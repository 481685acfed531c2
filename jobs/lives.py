"""When a workstation is ended by a rule: suspended for too long, or past the longest life of its kind. Pure.

One idea: a rule that is switched on, or made stricter, gives what exists the full time from that moment; what is near its end
is warned of several times.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from .foretold import End, Told, end_of
from .models import Workstation, WorkstationKind

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Facts:
    """`suspended` None: it is not suspended. `begun` None: its session was never there."""

    begun: datetime | None
    suspended: datetime | None
    told: Told = Told()


@dataclass(frozen=True)
class Rule:
    """One rule with the moment from which it counts for what was there before; `limit` zero: off."""

    limit: timedelta
    since: datetime | None
    words: str


def facts_of(station: Workstation, suspended: datetime | None) -> Facts:
    return Facts(station.begun, suspended, Told(station.end_warned, station.end_warned_at))


def end_by_rule(kind: WorkstationKind, facts: Facts, now: datetime) -> tuple[End, str] | None:
    """The nearest end that a rule of its kind sets, with the rule in words; None if none does."""
    life = Rule(timedelta(seconds=kind.max_life), kind.life_rule, f"its longest life of {_span(timedelta(seconds=kind.max_life))}")
    rest = Rule(kind.suspended_days * DAY, kind.suspended_rule, f"{kind.suspended_days} days suspended")
    ends = [(begun, rule) for begun, rule in ((facts.begun, life), (facts.suspended, rest)) if begun and rule.limit]
    if not ends:
        return None
    begun, rule = min(ends, key=lambda one: max(one[0], one[1].since or one[0]) + one[1].limit)
    counted = max(begun, rule.since or begun)
    warnings = [one * DAY for one in kind.suspended_warnings if one * DAY < rule.limit]
    return end_of(counted, rule.limit, warnings, facts.told, now), rule.words


def _span(limit: timedelta) -> str:
    hours = limit.total_seconds() / 3600
    return f"{hours / 24:g} days" if hours >= 48 else f"{hours:g} hours"

"""Whether a workstation is idle: judged by work done in it, never by an open tab.

Four signs of work (input, processor, graphics, a solver) leave the time at which they were last seen in files beside the
logs, so a look at a workstation costs four stats. `judge` is pure: what was seen and the rule in, when it will be suspended
out. What could not be asked is never read as quiet: without beats there is no verdict, and the time in which the portal was
away counts for nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from . import logs
from .foretold import Told, end_of
from .models import Cluster, Outage, Workstation

BUSY_CORES = 0.15
"""Cores in use from which on a session works; a desktop that nobody touches needs about a tenth of that."""
BUSY_TREE = 0.3
"""The same where the session's own machinery could not be told apart from what runs in it."""
BUSY_GPU = 0.05
QUIET = timedelta(seconds=60)
"""A sign not seen for so long is quiet. Beats come every few seconds."""
SETTING_UP = timedelta(hours=1)
"""A session that cannot be used yet is being set up, which is no idleness; for so long at most."""
HEARD = timedelta(seconds=120)
"""Beats missing for longer: nobody can say whether it works."""
SIGNS = ("input", "processor", "graphics", "solver")
NAMES = {"input": "Input", "processor": "Processor", "graphics": "Graphics", "solver": "Solver"}


@dataclass(frozen=True)
class Rule:
    """`after` zero: never idle. `warnings` are the times before the suspend at which people are told."""

    after: timedelta
    warnings: tuple[timedelta, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What is known of one session. `signs` are the last times of work, `begun` when it could be worked in."""

    begun: datetime
    heard: datetime | None
    signs: Mapping[str, datetime] = field(default_factory=dict)
    away_until: datetime | None = None
    stayed: datetime | None = None
    keep_until: datetime | None = None
    told: Told = Told()


@dataclass(frozen=True)
class Verdict:
    """`suspends_at` None: not for being idle, or nobody can say. `warn`: seconds ahead of the warning that is due now, or 0."""

    idle_since: datetime
    suspends_at: datetime | None
    warn: int = 0

    def is_over(self, now: datetime) -> bool:
        return self.suspends_at is not None and now >= self.suspends_at


@dataclass(frozen=True)
class Evidence:
    """One sign as the page shows it: quiet or not, since when, in words."""

    code: str
    name: str
    quiet: bool
    since: datetime
    words: str


# --- pure -------------------------------------------------------------------------------------------------------------
def signs_in(beat: Mapping[str, Any], at: float) -> dict[str, float]:
    """Which signs of work a beat carries, each with its time (unix seconds); `at` is the portal's time of the beat."""
    found = {}
    busy = beat.get("busy")
    if (_number(busy) >= BUSY_CORES) if busy is not None else (_number(beat.get("cpu")) >= BUSY_TREE):
        found["processor"] = at
    if _number(beat.get("gpu")) >= BUSY_GPU:
        found["graphics"] = at
    if beat.get("programs"):
        found["solver"] = at
    if (pressed := _number(beat.get("input_at"))) > 0:
        clock = _number(beat.get("clock")) or at  # the age counts: a node's clock may be wrong
        found["input"] = at - max(0.0, clock - pressed)
    return found


def judge(seen: Seen, rule: Rule, now: datetime) -> Verdict:
    """When it will be suspended, as far as that can be said."""
    since = max(moment for moment in (seen.begun, seen.away_until, seen.stayed, *seen.signs.values()) if moment is not None)
    if seen.begun > now:
        return Verdict(now, None)
    if not rule.after or seen.heard is None or now - max(seen.heard, seen.away_until or seen.heard) > HEARD:
        return Verdict(since, None)
    end = end_of(since, rule.after, rule.warnings, seen.told, now, keep=seen.keep_until)
    return Verdict(since, end.at, end.warn)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


# --- what is there ----------------------------------------------------------------------------------------------------
def note(directory: Path, beat: Mapping[str, Any], at: float) -> None:
    """Keep the signs of work that a beat carries."""
    for sign, moment in signs_in(beat, at).items():
        logs.touched(directory, sign, moment)


def rule_of(workstation: Workstation) -> Rule:
    kind = workstation.kind
    return Rule(timedelta(seconds=kind.idle_after), tuple(timedelta(seconds=one) for one in kind.idle_warnings))


def seen_of(workstation: Workstation, cluster: Cluster, heard: datetime | None, away_until: datetime | None) -> Seen:
    """Of an active workstation."""
    directory = logs.attempt_dir(workstation.workload.public_id, cluster.attempt)
    times = {sign: moment for sign in SIGNS if (moment := logs.last_touched(directory, sign))}
    begun = cluster.ready or (cluster.started or cluster.asked) + SETTING_UP
    told = Told(workstation.warned, workstation.warned_at)
    return Seen(begun, heard, times, away_until, workstation.stayed, workstation.keep_until, told)


def verdict(workstation: Workstation, now: datetime) -> Verdict | None:
    """For the page; None while it is not active."""
    seen = _look(workstation)
    return judge(seen, rule_of(workstation), now) if seen else None


def evidence(workstation: Workstation, now: datetime) -> list[Evidence]:
    """Every sign of work with its last time, for the page; empty while it is not active."""
    seen = _look(workstation)
    return [_shown(sign, seen, now) for sign in SIGNS] if seen else []


def _shown(sign: str, seen: Seen, now: datetime) -> Evidence:
    last = seen.signs.get(sign)
    since = min(max(last or seen.begun, seen.begun), now)
    if last is not None and now - last <= QUIET:
        return Evidence(sign, NAMES[sign], False, since, "at work")
    minutes = int((now - since).total_seconds() // 60)
    return Evidence(sign, NAMES[sign], True, since, f"quiet for {minutes} min" if last else f"never, for {minutes} min")


def _look(workstation: Workstation) -> Seen | None:
    cluster = workstation.workload.cluster
    if cluster is None or cluster.started is None or cluster.released:
        return None
    directory = logs.attempt_dir(workstation.workload.public_id, cluster.attempt)
    heard = logs.last_heard(directory).get(0)
    return seen_of(workstation, cluster, datetime.fromtimestamp(heard, UTC) if heard else None, Outage.last_end())

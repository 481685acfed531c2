"""How far a run is, where its residuals go, when it ends at this pace: what its own output tells, in words.

One idea: nothing is said that was not read or that does not follow from it; a pace counts from two readings that lie at
least PATIENCE apart, so that no first second is taken for the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from jobs import lifecycle, logs
from jobs.lifecycle import Tone
from portal import words

from .facts import Facts
from .links import line_of
from .text import clock_of, cut
from .values import Badge

PATIENCE = 10.0
"""Seconds that a pace is measured over at least."""
LEAST = 1.0
"""Percent that must have been done in that time."""
SHOWN = 8
"""Lines of the chart and rows of the table."""


@dataclass(frozen=True)
class Pace:
    """When the run ends if it goes on like this, and what it will have cost; `late` if its walltime is over before."""

    end: datetime
    cost: Decimal
    late: bool


@dataclass(frozen=True)
class SeriesRow:
    name: str
    now: str
    tolerance: str
    expected: str
    below: bool
    line: int  # which look of the chart


@dataclass(frozen=True)
class Course:
    """The card: one row a series, and the way to the end."""

    title: str
    badge: Badge | None
    counts: str
    rows: list[SeriesRow]
    tolerances: bool
    points: int
    notes: list[str]


@dataclass(frozen=True)
class Alarm:
    message: str
    text: str
    quote: str
    where: str
    href: str


def says(facts: Facts) -> str:
    """increment 14 of 40, residuals falling; empty where nothing is known."""
    text, way = facts.progress.get("text", ""), facts.progress.get("direction", "")
    return ", ".join(filter(None, [str(text), f"residuals {way}" if way else ""]))


def pace(facts: Facts) -> Pace | None:
    """None before the pace is known, and once nobody waits for the end any more."""
    end = _end(facts)
    if end is None or facts.cluster is None:
        return None
    rest = Decimal(str(max(0.0, (end - facts.now).total_seconds())))
    until = facts.cluster.walltime_until
    return Pace(end, facts.cost.spent + facts.cost.rate * rest / 3600, bool(until and end > until))


def ends(facts: Facts) -> str:
    """ends about 10:20"""
    end = _end(facts)
    return f"ends about {clock_of(end, facts.now)}" if end else ""


def course(facts: Facts) -> Course | None:
    """None while nothing is known of where it goes."""
    said = facts.progress
    series = said.get("series") or []
    if not series and not pace(facts):
        return None
    rows = [_row(one, at) for at, one in enumerate(series[:SHOWN], 1)]
    return Course(
        "Last values" if facts.is_over else "Time to finish",
        _badge(facts),
        str(said.get("x") or "step"),
        rows,
        any(row.tolerance for row in rows),
        int(said.get("points") or 0),
        _notes(facts),
    )


def alarm(facts: Facts) -> Alarm | None:
    """What should be looked at while it runs; once it is over the verdict says it."""
    found = facts.progress.get("alarm")
    if not found or facts.is_over:
        return None
    where = f"{found['file']} line {found['line']}" if found.get("line") else found["file"]
    return Alarm(
        cut(found["message"]), _what_now(facts, found), cut(found.get("text", "")), where, line_of(facts, found["file"], found.get("line"))
    )


def chart(facts: Facts) -> dict[str, Any]:
    """The points of all series, as the page draws them: {title, x, logarithmic, series: [{name, points, tolerance}]}."""
    series = logs.chart(facts.logs_dir)[:SHOWN]
    logarithmic = bool(series) and series[0]["logarithmic"]
    title = "Residuals" if logarithmic else "Course of the run"
    return {"title": title, "x": series[0]["x"] if series else "", "logarithmic": logarithmic, "series": series}


# --- private ----------------------------------------------------------------------------------------------------------
def _row(one: dict[str, Any], line: int) -> SeriesRow:
    tolerance, reach = one.get("tolerance"), one.get("reach")
    below = tolerance is not None and abs(one["y"]) <= tolerance
    expected = f"at about {words.count(round(reach))}" if reach and reach >= 10 else f"at about {reach:.3g}" if reach else ""
    return SeriesRow(one["name"], f"{one['y']:.3g}", f"{tolerance:.3g}" if tolerance else "", expected, below, line)


def _badge(facts: Facts) -> Badge | None:
    found, way = facts.progress.get("alarm"), facts.progress.get("direction")
    if facts.is_over:
        return None
    if found and found["diverging"]:
        return Badge("Diverging", Tone.FAIL, "trending-up")
    return {"falling": Badge("Falling", Tone.WORK, "trending-down"), "rising": Badge("Rising", Tone.LOOK, "trending-up")}.get(way or "")


def _end(facts: Facts) -> datetime | None:
    """When it ends if it goes on as it did since its progress was read first."""
    said = facts.progress
    percent, first = said.get("percent"), said.get("first")
    waits = facts.work.status == lifecycle.RUNNING and not facts.wants_stop
    if not waits or facts.cluster is None or not first or percent is None or percent >= 100:
        return None
    seconds, done = said["at"] - first[1], percent - first[0]
    if seconds < PATIENCE or done < LEAST:
        return None
    return max(facts.now, _moment(said["at"] + seconds * (100 - percent) / done))


def _notes(facts: Facts) -> list[str]:
    """How much is done, what is left of it and of the walltime, what could not be read."""
    said, found = facts.progress, pace(facts)
    notes = [f"{words.percent(said['percent'])} done"] if said.get("percent") is not None else []
    if found:
        notes.append(f"{words.duration(found.end - facts.now)} to go at this pace")
    if found and found.late and facts.cluster and facts.cluster.walltime_until:
        notes.append(f"its walltime is over before that, {clock_of(facts.cluster.walltime_until, facts.now)}")
    if said.get("trouble"):
        notes.append(f"not followed at the moment: {said['trouble']}")
    return notes


def _what_now(facts: Facts, found: dict[str, Any]) -> str:
    if facts.wants_stop or facts.work.status == lifecycle.STOPPING:
        return "It is being stopped; what was written so far is saved."
    if found["diverging"] and facts.job.stop_when_diverging:
        return "It stops by the rule that was set for it; what was written so far is saved."
    if found["diverging"]:
        return "It goes on, and costs, until it ends by itself or somebody stops it."
    return "It goes on; look at the output."


def _moment(at: float) -> datetime:
    try:
        return datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.now(UTC) + timedelta(days=36500)

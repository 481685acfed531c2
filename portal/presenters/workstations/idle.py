"""Why it counts as idle, and what happens then: the note, the four signs of work, the chart behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs import idleness, lifecycle
from jobs.lifecycle import Tone
from portal import words

from ..text import clock_of, plural
from .cost import active_rate
from .facts import WorkstationFacts

ICONS = {"input": "keyboard", "processor": "cpu", "graphics": "device-desktop-analytics", "solver": "terminal-2"}
QUIET_NAMES = {"input": "No key or pointer", "processor": "Processor quiet", "graphics": "Graphics quiet", "solver": "No solver runs"}
QUIET_ICONS = {**ICONS, "input": "keyboard-off"}
CHARTED = 1800
"""Seconds that the chart reaches back."""
KEEPS = (1, 4, 8, 12, 24, 48, 72)
"""Hours that are offered for keeping it on, as far as its kind allows."""


@dataclass(frozen=True)
class Note:
    """What stands above the session: it will be suspended, could not be saved, or is kept on."""

    tone: str
    icon: str
    title: str
    text: str
    stay: bool = False
    keep_hours: int = 0
    keep_cost: str = ""


@dataclass(frozen=True)
class SignRow:
    tone: str
    icon: str
    name: str
    words: str


@dataclass(frozen=True)
class Chart:
    """Points in a box of 300 by 100, ready to be drawn; `marks` are moments of input, `idle` where idleness began."""

    cpu: str
    area: str
    marks: list[float] = field(default_factory=list)
    idle: float | None = None
    ticks: list[tuple[float, str]] = field(default_factory=list)
    top: str = ""
    label: str = ""


@dataclass(frozen=True)
class IdleCard:
    title: str
    rows: list[SignRow]
    rule: str
    chart: Chart | None
    kept: datetime | None
    keeps: list[tuple[int, str]]


def note(facts: WorkstationFacts) -> Note | None:
    """The one thing to know now, if there is one."""
    if facts.work.status != lifecycle.ACTIVE:
        return None
    if facts.unsaved:
        text = f"{facts.unsaved} It goes on, with everything in it; ask again once there is room, or force stop it."
        return Note(Tone.FAIL, "alert-triangle", "Its home could not be saved, so it was not suspended.", text)
    said, since = facts.verdict, facts.idle_since
    if since is None or said is None or said.suspends_at is None:
        return None
    title = f"Idle for {words.duration(facts.now - since)}. It will be suspended at {clock_of(said.suspends_at, facts.now)}."
    text = "Programs will end; its home is saved first. Resuming opens a new session with your files."
    hours = max((one for one in keep_hours(facts) if one <= 1), default=0)
    return Note(Tone.LOOK, "zzz", title, text, True, hours, words.money(hours * active_rate(facts)))


def card(facts: WorkstationFacts) -> IdleCard | None:
    """None while it is not active."""
    if facts.work.status != lifecycle.ACTIVE or not facts.evidence:
        return None
    return IdleCard(
        "Why it counts as idle" if facts.idle_since else "Whether it is in use",
        [_sign(facts, one) for one in facts.evidence],
        _rule(facts),
        _chart(facts),
        facts.kept_until,
        [(hours, words.money(hours * active_rate(facts))) for hours in keep_hours(facts)],
    )


def keep_hours(facts: WorkstationFacts) -> list[int]:
    """Hours for which it may be kept on."""
    return [hours for hours in KEEPS if hours * 3600 <= facts.kind.keep_limit] if facts.kind.idle_after else []


# --- private ----------------------------------------------------------------------------------------------------------
def _sign(facts: WorkstationFacts, one: Any) -> SignRow:
    if one.quiet:
        length = words.duration(facts.now - one.since) if facts.now - one.since >= idleness.QUIET else "nothing yet"
        return SignRow(Tone.WAIT, QUIET_ICONS.get(one.code, "circle-dashed"), QUIET_NAMES.get(one.code, one.name), length)
    return SignRow(Tone.PASS, ICONS.get(one.code, "activity"), one.name, one.words)


def _rule(facts: WorkstationFacts) -> str:
    after = facts.kind.idle_after
    if not after:
        return "It is never suspended for being idle."
    told = " A note here and a mail come before." if facts.kind.idle_warnings else ""
    return f"All four must be quiet for {words.duration(after)}: a solver that computes keeps it on, an open tab alone does not.{told}"


def _chart(facts: WorkstationFacts) -> Chart | None:
    beats = [beat for beat in facts.beats(CHARTED) if beat.get("cpu") is not None or beat.get("busy") is not None]
    if len(beats) < 2:
        return None
    end, cores = facts.now.timestamp(), max(1.0, float(facts.work.cores))
    points = [(_x(beat["at"], end), 100 - min(100.0, 100 * _busy(beat) / cores)) for beat in beats]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = sorted({round(_x(at, end), 1) for beat in beats if (at := beat.get("input_at")) and end - CHARTED < at <= end})
    idle = _x(facts.idle_since.timestamp(), end) if facts.idle_since and end - facts.idle_since.timestamp() < CHARTED else None
    label = f"Processor over the last half hour, now at {_busy(beats[-1]):.1f} of {cores:g} cores; {len(marks)} moments of input."
    area = f"{points[0][0]:.1f},100 {line} {points[-1][0]:.1f},100"
    return Chart(line, area, marks, idle, _ticks(facts, end), plural(facts.work.cores, "core"), label)


def _ticks(facts: WorkstationFacts, end: float) -> Sequence[tuple[float, str]] | Any:
    step = 600
    first = (end - CHARTED) // step * step + step
    moments = [first + at * step for at in range(3)]
    return [
        (round(_x(at, end) / 3, 1), clock_of(datetime.fromtimestamp(at, facts.now.tzinfo), facts.now)) for at in moments if at < end - 60
    ]


def _x(at: float, end: float) -> float:
    return 300 * max(0.0, 1 - (end - at) / CHARTED)


def _busy(beat: dict[str, Any]) -> float:
    return float(beat["busy"] if beat.get("busy") is not None else beat.get("cpu") or 0.0)

"""The history of a job: its events as a list, its stages on one time axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from jobs import lifecycle
from jobs.lifecycle import Tone, Wish
from jobs.models import Event
from portal import words

from .facts import Facts
from .stages import LOOKS, Kind, standing
from .text import cut, who

TICKS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800)
WISHES = {Wish.STOP: "Stop asked for", Wish.FORCE_STOP: "Force stop asked for", Wish.RUN: "Asked to run", Wish.SUSPEND: "Suspend asked for"}
SAID = {"keep": "Kept on until", "keep-no-more": "No longer kept on", "stay": "Said to be in use"}
"""What people tell a workstation beside their wishes."""
SOURCES = {"engine": "engine", "agent": "agent", "backend": "backend"}


@dataclass(frozen=True)
class EventRow:
    at: datetime
    text: str
    more: str
    tone: str
    icon: str
    by: str


@dataclass(frozen=True)
class Segment:
    """A stay in a stage: place and width in percent of the axis."""

    label: str
    tone: str
    left: float
    width: float
    title: str


@dataclass(frozen=True)
class Tick:
    left: float
    word: str


@dataclass(frozen=True)
class Axis:
    label: str
    segments: list[Segment]
    ticks: list[Tick]
    dots: list[tuple[float, EventRow]]
    now: float | None


def events(facts: Facts) -> list[EventRow]:
    """Newest first."""
    return [_event(event) for event in reversed(facts.events)]


def axis(facts: Facts) -> Axis | None:
    """The stages of this attempt on one axis; None before it was submitted."""
    times = list(facts.times.values())
    if not times:
        return None
    start = times[0].begun
    end = max(time.ended or facts.now for time in times)
    length = max((end - start).total_seconds(), 1)
    tones = {status.code: _tone(kind) for status, kind in standing(facts)}

    def place(moment: datetime) -> float:
        return round(min(100.0, max(0.0, 100 * (moment - start).total_seconds() / length)), 2)

    segments = []
    for time in times:
        left, right = place(time.begun), place(time.ended or facts.now)
        label = facts.work.table[time.code].label
        title = f"{label}, from {timezone.localtime(time.begun):%H:%M:%S}"
        segments.append(Segment(label, tones.get(time.code, ""), left, max(0.6, round(right - left, 2)), title))
    shown = [event for event in facts.events if event.at >= start and event.before == event.after or event.source == "user"]
    dots = [(place(event.at), _event(event)) for event in shown if event.at >= start]
    label = f"Stages from {timezone.localtime(start):%H:%M} to {timezone.localtime(end):%H:%M}"
    return Axis(label, segments, _ticks(start, end, place), dots, None if facts.is_over else 100.0)


def _ticks(start: datetime, end: datetime, place: Callable[[datetime], float]) -> list[Tick]:
    length = (end - start).total_seconds()
    step = next((tick for tick in TICKS if length / tick <= 6), TICKS[-1])
    first = start.timestamp() // step * step + step
    moments = [datetime.fromtimestamp(first + at * step, start.tzinfo) for at in range(int(length // step) + 1)]
    form = "%H:%M:%S" if step < 60 else "%H:%M" if step < 86400 else "%d %b"
    return [
        Tick(place(moment), f"{timezone.localtime(moment):{form}}") for moment in moments if moment < end - timedelta(seconds=length / 14)
    ]


def _tone(kind: Kind) -> str:
    return str(LOOKS[kind][1])


def _event(event: Event) -> EventRow:
    by = who(event.by) if event.by else SOURCES.get(event.source, event.source)
    if event.reason == "alarm":
        return EventRow(event.at, cut(event.detail, 300), "", Tone.LOOK, "alert-triangle", by)
    if event.reason == "note":
        return EventRow(event.at, cut(event.detail, 300), "", "", "note", by)
    if event.reason in SAID:
        return EventRow(event.at, SAID[event.reason], _moment(event.detail), "", "clock-plus", by)
    if event.before == event.after or not event.after:
        text = WISHES.get(event.reason, event.reason.replace("-", " ").capitalize() or "Note")  # type: ignore[call-overload]
        tone, icon = (Tone.WAIT, "player-stop") if event.reason in WISHES else ("", "note")
        return EventRow(event.at, text, cut(event.detail, 300), tone, icon, by)
    row = {**lifecycle.WORKSTATION.rows, **lifecycle.JOB.rows}.get(event.after)
    label, tone, icon = (row.label, row.tone, row.icon) if row else (event.after, "", "note")
    if event.after == lifecycle.QUEUED:
        label, icon = ("Submitted", "send") if event.before == lifecycle.DRAFT else ("Back in the queue", "arrow-back-up")
    if event.reason == "resume":
        label, icon = "Resumed", "player-play"
    ending = lifecycle.ENDINGS.get(event.reason)
    rest = lifecycle.SUSPENSIONS.get(event.reason, "") if event.after in (lifecycle.SUSPENDING, lifecycle.SUSPENDED) else ""
    more = " ".join(filter(None, [rest or (ending.sentence if ending else ""), event.detail]))
    return EventRow(event.at, label, cut(more, 300), Tone.PASS if row and row.tone == Tone.WORK else tone, icon, by)


def _moment(text: str) -> str:
    """A time as an event has it, in the portal's zone; anything else as it is."""
    try:
        return words.exact(datetime.fromisoformat(text))
    except ValueError:
        return cut(text, 300)

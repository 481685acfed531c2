"""The five stages as the Status page lists them: where each stands, since when, and what it says.

One idea: `standing` decides from the lifecycle table and the history alone which stage passed, works, waits, failed, was
skipped or is yet to come; the sentences (sentences.py) only describe. The narrow forms (one line, five pips) use the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from jobs import lifecycle
from jobs.lifecycle import Status, Tone

from . import course, sentences
from .facts import Facts
from .text import usually


class Kind(StrEnum):
    PASSED = "passed"
    WORKING = "working"
    WAITING = "waiting"
    FAILED = "failed"
    STOPPED = "stopped"
    SKIPPED = "skipped"
    NEXT = "not yet"


LOOKS = {
    Kind.PASSED: ("Passed", Tone.PASS, "check", ""),
    Kind.WORKING: ("Working", Tone.WORK, "", "is-working"),
    Kind.WAITING: ("Waiting", Tone.WAIT, "", "is-waiting"),
    Kind.FAILED: ("Failed", Tone.FAIL, "x", "is-failed"),
    Kind.STOPPED: ("Stopped here", Tone.WAIT, "player-stop", ""),
    Kind.SKIPPED: ("Skipped", "", "player-skip-forward", "is-next"),
    Kind.NEXT: ("Not yet", "", "", "is-next"),
}
ICONS = {
    lifecycle.QUEUED: "hourglass-empty",
    lifecycle.VALIDATING: "file-check",
    lifecycle.STARTING: "server-2",
    lifecycle.RUNNING: "player-play",
    lifecycle.ACTIVE: "activity",
    lifecycle.STOPPING: "flag",
    lifecycle.SUSPENDING: "player-pause",
    lifecycle.SUSPENDED: "player-pause",
}
LASTING = (lifecycle.RUNNING, lifecycle.ACTIVE, lifecycle.SUSPENDED)
"""As long as they are wanted: no time is usual for them."""


class Voice(Protocol):
    """What stages say: sentences.py for jobs, workstations/says.py for workstations."""

    def of(self, facts: Facts, code: str, kind: str) -> sentences.Says: ...

    def silent(self, facts: Facts) -> str: ...


@dataclass(frozen=True)
class StageRow:
    """One row of the list. `says` and `more` are sentences, `bar` a share done in percent with its words."""

    code: str
    label: str
    kind: Kind
    word: str
    tone: str
    icon: str
    look: str
    says: sentences.Says
    begun: datetime | None = None
    ended: datetime | None = None
    note: str = ""
    current: bool = False

    @property
    def help(self) -> str:
        """The anchor of its entry in the help, where it waits or failed."""
        asked = self.kind in (Kind.WAITING, Kind.FAILED) or (self.kind == Kind.WORKING and self.tone == Tone.LOOK)
        return f"stage-{self.code}" if asked else ""


def rows(facts: Facts, voice: Voice = sentences) -> list[StageRow]:
    """The five stages of a workload, in order."""
    return [_row(facts, status, kind, voice) for status, kind in standing(facts)]


def current(facts: Facts) -> StageRow | None:
    """The row of the stage it is in, or failed in; the list of jobs says what that one says."""
    return next((_row(facts, status, kind, sentences) for status, kind in standing(facts) if _is_current(facts, status, kind)), None)


def pips(facts: Facts) -> tuple[list[str], str]:
    """Five tones and the words for them, as a row of the list shows them."""
    found = standing(facts)
    tones = [_pip(kind) for _, kind in found]
    return tones, _in_words(facts, found)


def standing(facts: Facts) -> list[tuple[Status, Kind]]:
    """Each of the five stages with where it stands."""
    stages = facts.work.table.stages()
    if facts.work.status in (lifecycle.SUSPENDING, lifecycle.SUSPENDED):
        stages = [*stages[:-1], facts.work.row]  # it is on its way to rest, not to its end
    codes = [status.code for status in stages]
    here = codes.index(facts.work.status) if facts.work.status in codes else None
    return [(status, _kind(facts, status.code, at, here)) for at, status in enumerate(stages)]


def _kind(facts: Facts, code: str, at: int, here: int | None) -> Kind:
    if facts.work.failed_stage == code:
        return Kind.FAILED
    if here is not None and at >= here:
        return Kind.NEXT if at > here else _now(facts, code)
    if facts.work.status == lifecycle.DRAFT:
        return Kind.NEXT
    if code not in facts.times or _never_left(facts, code):
        return Kind.SKIPPED
    return Kind.STOPPED if _stopped_in(facts) == code else Kind.PASSED


def _now(facts: Facts, code: str) -> Kind:
    return Kind.WAITING if facts.work.table[code].tone == Tone.WAIT else Kind.WORKING


def _never_left(facts: Facts, code: str) -> bool:
    """Queued of a job whose input was refused while it waited: it never got through that gate."""
    refused = facts.work.failed_stage == lifecycle.VALIDATING and lifecycle.VALIDATING not in facts.times
    return code == lifecycle.QUEUED and refused


def _stopped_in(facts: Facts) -> str:
    """The stage in which a stop was accepted; empty if nobody stopped it."""
    work = facts.work
    stopped = work.outcome == lifecycle.Outcome.STOPPED or (facts.wants_stop and work.is_active)
    if not stopped:
        return ""
    visited = [code for code in facts.times if code != lifecycle.STOPPING]
    return visited[-1] if visited else ""


def _pip(kind: Kind) -> str:
    if kind in (Kind.SKIPPED, Kind.NEXT):
        return ""
    return str(LOOKS[kind][1])


def _in_words(facts: Facts, found: list[tuple[Status, Kind]]) -> str:
    for at, (status, kind) in enumerate(found, 1):
        if kind == Kind.FAILED:
            return f"Failed in stage {at} of 5: {status.label}"
    for at, (status, kind) in enumerate(found, 1):
        if kind in (Kind.WORKING, Kind.WAITING):
            return f"Stage {at} of 5: {status.label}"
    passed = sum(kind == Kind.PASSED for _, kind in found)
    return f"{facts.work.row.label}, {passed} of 5 stages passed"


def _row(facts: Facts, status: Status, kind: Kind, voice: Voice) -> StageRow:
    word, tone, icon, look = LOOKS[kind]
    times = facts.times.get(status.code) if kind not in (Kind.NEXT, Kind.SKIPPED) else None
    says = voice.of(facts, status.code, str(kind))
    row = StageRow(
        status.code,
        status.label,
        kind,
        says.word or word,
        says.tone or str(tone),
        icon or ICONS[status.code],
        look,
        says,
        begun=times.begun if times else None,
        ended=times.ended if times else None,
        note=_note(facts, status, kind),
        current=_is_current(facts, status, kind),
    )
    return _slow(facts, row, voice)


def _is_current(facts: Facts, status: Status, kind: Kind) -> bool:
    return status.code == facts.work.status or (kind == Kind.FAILED and facts.is_over)


def _note(facts: Facts, status: Status, kind: Kind) -> str:
    if status.code == lifecycle.RUNNING:
        return course.ends(facts) if kind == Kind.WORKING else ""
    if kind == Kind.SKIPPED or status.code in LASTING:
        return ""
    return usually(facts.usual(status.code))


def _slow(facts: Facts, row: StageRow, voice: Voice) -> StageRow:
    """Amber where it takes longer than 9 of 10 did here, or where nodes are not heard."""
    if row.kind not in (Kind.WORKING, Kind.WAITING) or row.begun is None:
        return row
    if facts.silent and row.kind == Kind.WORKING:
        says = replace(row.says, more=voice.silent(facts))
        return replace(row, word="May be stuck", tone=Tone.LOOK, icon="alert-triangle", look="", says=says)
    usual = facts.usual(row.code) if row.code not in LASTING else None
    if usual and (facts.now - row.begun).total_seconds() > max(usual[1], 10):
        known = row.says.more and row.says.more.rstrip(".") + ". "
        more = f"{known}Takes longer than 9 of 10 did here."
        return replace(row, word=f"{row.word}, slow", tone=Tone.LOOK, says=replace(row.says, more=more))
    return row

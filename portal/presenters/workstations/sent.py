"""Files that are sent into its home, in words: on the way, there, or why not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobs import lifecycle
from jobs.lifecycle import Tone
from jobs.models import Sent

from ..text import plural
from .facts import WorkstationFacts

SHOWN = 50


@dataclass(frozen=True)
class SentRow:
    """`again`: the file to send once more, if it could not be brought; `back` is the word for taking it off the list."""

    pk: int
    name: str
    size: int
    tone: str
    icon: str
    word: str
    says: str
    at: datetime
    trouble: str = ""
    again: str = ""
    back: str = "Dismiss"


@dataclass(frozen=True)
class SentCard:
    rows: list[SentRow]
    says: str
    more: str


def card(facts: WorkstationFacts) -> SentCard:
    found = list(facts.station.sent.select_related("file")[: SHOWN + 1])
    waiting = sum(one.waits for one in found)
    more = f"The newest {SHOWN} are shown." if len(found) > SHOWN else ""
    return SentCard([_row(facts, one) for one in found[:SHOWN]], _says(facts, waiting, found), more)


# --- private ----------------------------------------------------------------------------------------------------------
def _row(facts: WorkstationFacts, one: Sent) -> SentRow:
    if one.arrived:
        return SentRow(one.pk, one.name, one.file.size, Tone.PASS, "circle-check", "Arrived", "arrived", one.arrived)
    if one.trouble:
        again = "" if facts.is_over or one.file.deleted else one.file.public_id
        return SentRow(one.pk, one.name, one.file.size, Tone.FAIL, "circle-x", "Not brought", "sent", one.made, one.trouble, again)
    return SentRow(one.pk, one.name, one.file.size, Tone.WAIT, "clock", "Waiting", "sent", one.made, back="Take back")


def _says(facts: WorkstationFacts, waiting: int, found: list[Sent]) -> str:
    if waiting:
        return f"{plural(waiting, 'file')} {'waits' if waiting == 1 else 'wait'}: {_when(facts, waiting == 1)}"
    wrong = sum(bool(one.trouble) for one in found)
    return f"{plural(wrong, 'file')} could not be brought" if wrong else "all there"


def _when(facts: WorkstationFacts, single: bool) -> str:
    """What ends the wait."""
    status, s = facts.work.status, "s" if single else ""
    if facts.is_over:
        return f"never arrive{s}, it is over"
    if status in (lifecycle.SUSPENDED, lifecycle.SUSPENDING):
        return f"arrive{s} at the next resume"
    if status == lifecycle.ACTIVE and not facts.wants_rest:
        return f"arrive{s} in a moment"
    return f"arrive{s} when its session is there"

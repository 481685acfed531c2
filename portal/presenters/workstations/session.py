"""The session in the page: how it is reached, and what stands in its place while it cannot be.

One idea: the element that is connected is never replaced by a push; this small fragment inside of it is, and says to the
script whether there is anything to connect to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs import lifecycle
from jobs.lifecycle import Tone

from ..text import who
from . import says
from .facts import WorkstationFacts

SOCKETS = {"desktop": "desktop", "terminal": "terminal"}
KEYS = (
    ("Control_L Alt_L Delete", "Ctrl+Alt+Del"),
    ("Alt_L Tab", "Alt+Tab"),
    ("Control_L Escape", "Ctrl+Esc"),
    ("Alt_L F4", "Alt+F4"),
    ("Control_L w", "Ctrl+W"),
    ("Control_L t", "Ctrl+T"),
    ("Super_L", "Menu"),
    ("Escape", "Esc"),
    ("Tab", "Tab"),
    ("F11", "F11"),
    ("Print", "Print"),
)
"""Keys that browsers keep for themselves, or that a phone does not have: X names, and what stands on the button."""
WORDS = {"desktop": "Desktop", "terminal": "Terminal", "jupyter": "JupyterLab"}


@dataclass(frozen=True)
class Desk:
    """What does not change while the page is open. `mode`: "input", "look" or "" (the session is not for this person)."""

    session: str
    word: str
    socket: str
    picture: str
    mode: str
    owner: str
    keys: tuple[tuple[str, str], ...] = KEYS


@dataclass(frozen=True)
class Veil:
    """What stands in place of the session. `ready`: it can be connected to."""

    ready: bool
    tone: str
    icon: str
    title: str
    text: str
    picture: bool = False


def desk(facts: WorkstationFacts, user: Any, share: str = "") -> Desk:
    """`share` is the secret of a link, for somebody who came by one."""
    session = facts.kind.session
    mode = "look" if share else facts.station.access(user)
    path = f"/relay/{facts.name}/{SOCKETS[session]}" if session in SOCKETS else ""
    socket = f"{path}?share={share}" if path and share else path
    picture = f"/relay/{facts.name}/picture.png" if session == "desktop" and mode == "input" else ""  # nobody looks unannounced
    return Desk(session, WORDS[session], socket, picture, mode, who(facts.work.owner))


def veil(facts: WorkstationFacts) -> Veil:
    work, word = facts.work, WORDS[facts.kind.session]
    if facts.ready and work.status == lifecycle.ACTIVE and not facts.wants_rest:
        title = f"{word} is ready" if facts.kind.session == "jupyter" else f"Connecting to the {word.lower()}"
        return Veil(True, Tone.WORK, "plug-connected", title, "This needs JavaScript.")
    if facts.ready and work.status == lifecycle.ACTIVE:
        return Veil(True, Tone.WORK, "hourglass-high", "It is about to end", "What is open is asked to save.")
    title, text = _waits(facts, word)
    return Veil(False, work.row.tone, _icon(facts), title, text)


# --- private ----------------------------------------------------------------------------------------------------------
def _waits(facts: WorkstationFacts, word: str) -> tuple[str, str]:
    status = facts.work.status
    if status == lifecycle.DRAFT:
        return "Not started yet", "Start it to get hardware and a session."
    if status == lifecycle.SUSPENDED:
        return "Suspended", "Nothing runs. Resume it, and a new session opens here with your files."
    if status in (lifecycle.SUSPENDING, lifecycle.STOPPING):
        return facts.work.row.label, f"{says.saving(facts)}."
    if status in lifecycle.REST_CODES:
        return facts.work.row.label, "It has ended for good. The last copy of its home is under Files." if facts.home else "It has ended."
    if status == lifecycle.ACTIVE:
        return f"{word} is being started", "It appears here as soon as it answers."
    said = says.of(facts, status, "waiting" if status == lifecycle.QUEUED else "working")
    return facts.work.row.label, f"{said.text}. {word} appears here by itself."


def _icon(facts: WorkstationFacts) -> str:
    return "device-desktop-off" if facts.is_over else facts.work.row.icon

"""What a job waits for: the gates of the queue, and a stop step by step.

One idea: each step says what is true so far and when the next one comes by itself; nothing is called over that may still run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs import lifecycle, scheduling
from jobs.lifecycle import Tone, Wish
from jobs.models import Cluster
from portal import words

from . import endings
from .facts import Facts
from .sentences import command_over, saved_of
from .text import clock_of, plural

GATES = {"coretype": "Hardware", "budget": "Budget", "capacity": "Capacity", "limits": "Limits", "place": "Place in line", "line": "Queue"}


@dataclass(frozen=True)
class GateRow:
    name: str
    sentence: str
    more: str
    tone: str
    icon: str
    word: str
    holds: bool = False
    since: datetime | None = None
    clock: str = ""
    """`since` as a time of the day."""


def gates(facts: Facts) -> list[GateRow]:
    """In order, each with its evidence; what comes after the one that holds is not asked yet."""
    rows, held = [], False
    for gate in facts.gates:
        tone, icon, word = _look(gate, held)
        clock = clock_of(gate.since, facts.now) if gate.since else ""
        held = held or gate.holds
        name = GATES.get(gate.code, gate.code.capitalize())
        rows.append(GateRow(name, gate.sentence, gate.more, tone, icon, word, gate.holds, gate.since, clock))
    return rows


def _look(gate: scheduling.Gate, held: bool) -> tuple[str, str, str]:
    if gate.passed:
        return Tone.PASS, "circle-check", "Open"
    return (Tone.WAIT, "hourglass-empty", "Holds") if gate.holds else (Tone.WAIT, "circle-dashed", "Not yet" if held else "Waits")


# --- a stop, step by step ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    word: str
    text: str
    tone: str
    icon: str
    at: datetime | None = None
    next: datetime | None = None  # when it goes on by itself
    next_words: str = ""


@dataclass(frozen=True)
class Stopping:
    title: str
    steps: list[Step] = field(default_factory=list)


def stopping(facts: Facts) -> Stopping | None:
    """Signal sent, command ending, files saved, nodes gone: what is true so far, and when the next step comes by itself."""
    work, cluster = facts.work, facts.cluster
    if not work.is_active or cluster is None or not (facts.wants_stop or work.status == lifecycle.STOPPING):
        return None
    steps = [_asked(facts)] if facts.wants_stop else []
    steps += [_command(facts, cluster), _saving(facts, cluster), _release(cluster)]
    return Stopping("Stopping" if facts.wants_stop else "Saving and releasing", steps)


def _asked(facts: Facts) -> Step:
    forced = facts.work.wish == Wish.FORCE_STOP
    return Step(
        "Force stop asked for" if forced else "Stop asked for", "Killed at once" if forced else "", Tone.PASS, "check", facts.work.wished_at
    )


def _command(facts: Facts, cluster: Cluster) -> Step:
    if command_over(facts):
        text = endings.short(facts) if cluster.exited else "it never started"
        return Step("Command ended", text, Tone.PASS, "check", cluster.exited)
    grace = facts.job.software.software.grace
    kill = facts.work.wished_at + timedelta(seconds=grace) if facts.work.wish == Wish.STOP and facts.work.wished_at else None
    if kill and kill > facts.now:
        return Step("Command ending", "its whole process tree was told to end", Tone.WORK, "", None, kill, "killed, if it has not ended,")
    return Step("Command ending", "what is left of its process tree is killed", Tone.WORK, "")


def _saving(facts: Facts, cluster: Cluster) -> Step:
    if facts.work.wish == Wish.FORCE_STOP and not cluster.saved:
        return Step("Files", "not saved any more: it was force stopped", Tone.LOOK, "alert-triangle")
    saved, total = saved_of(facts)
    text = f"{words.count(saved)} of {plural(total, 'file')}" if total else f"{plural(saved, 'file')} so far" if saved else ""
    if cluster.saved:
        return Step("Files saved", text, Tone.PASS, "check", cluster.saved)
    if not command_over(facts):
        return Step("Files to save", "once the command has ended", "", "circle-dashed")
    return Step("Files being saved", text, Tone.WORK, "")


def _release(cluster: Cluster) -> Step:
    nodes = plural(cluster.nodes_wanted, "node")
    if cluster.released:
        return Step("Nodes gone", nodes, Tone.PASS, "check", cluster.released)
    if cluster.releasing:
        return Step("Nodes being handed back", f"0 of {nodes} gone", Tone.WORK, "", cluster.releasing)
    return Step("Nodes to hand back", nodes, "", "circle-dashed")

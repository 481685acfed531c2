"""The help page, made of the tables that the engine goes by: statuses, endings, exit codes, verdicts.

One idea: nothing here spells a status or a reason again. What the tables do not say (what may hold a stage up, what to
do then) stands beside them, a row a stage; a test sees to it that no row is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from jobs import lifecycle
from jobs.lifecycle import Outcome, Reason, Status
from jobs.verdicts import exit as exits
from jobs.verdicts.base import Label
from portal import words

from .values import VERDICTS


@dataclass(frozen=True)
class StageHelp:
    status: Status
    waits: str
    fails: str
    offer: str
    reasons: list[Reason]


@dataclass(frozen=True)
class StatusHelp:
    status: Status
    next: list[Status]
    limit: str


@dataclass(frozen=True)
class CodeHelp:
    code: str
    name: str
    sentence: SafeString
    advice: SafeString


WAITS = {
    lifecycle.QUEUED: "A free place: enough cores of its coretype, and a budget that can pay the first hour. The page names the one "
    "thing that holds, since when, and who is ahead in line.",
    lifecycle.VALIDATING: "The checks: whether every file that the command names is there, whether archives open, whether the shell "
    "can read the command, whether decks of known solvers make sense.",
    lifecycle.STARTING: "The backend, until every node is up, and the inputs, until each has arrived with its checksum. Billing "
    "starts with the first node that is up.",
    lifecycle.RUNNING: "Nothing but the command. See its output as it is written, and processor, memory and disk under Health.",
    lifecycle.STOPPING: "The files of the job folder, until each is saved with its checksum, and the backend, until it says that "
    "nothing is left. Billing ends there.",
}
FAILS = {
    lifecycle.QUEUED: "The coretype is no longer offered, more is asked for than there will ever be, or the budget was closed.",
    lifecycle.VALIDATING: "A file is missing or has another name, the command has a syntax error, an archive is broken, or a deck "
    "has errors.",
    lifecycle.STARTING: "A node or its image is broken, a node can't reach the portal, or an input could not be brought there.",
    lifecycle.RUNNING: "The command ended with an error or by a signal, ran out of memory or of walltime, or a node was lost.",
    lifecycle.STOPPING: "The storage is full or can't be reached, or a file changed while it was copied.",
}
OFFER = {
    lifecycle.QUEUED: "Another coretype, fewer cores, or a word with the owner of the budget.",
    lifecycle.VALIDATING: "Each finding names its file and line. Fix them, then submit again: nothing was charged.",
    lifecycle.STARTING: f"Try again or take another coretype. Broken nodes are tried {lifecycle.ATTEMPT_LIMIT} times before the job fails.",
    lifecycle.RUNNING: "Read the last lines and the memory chart; then clone the job with more memory, more time or a repaired input.",
    lifecycle.STOPPING: "The Files tab says which files are safe; what is not yet saved is tried again.",
}
"""What may hold a stage up, why it fails, what to do: a row a stage."""

VERDICT_WORDS = {
    Label.CONVERGED: "The solver says that it reached what it was asked to reach.",
    Label.FINISHED: "It came to its regular end; there was nothing to converge.",
    Label.NOT_CONVERGED: "It came to its end without reaching its tolerance. Look at the residuals before you use the result.",
    Label.DIVERGED: "The solution blew up. What was written after that is worth nothing.",
    Label.INCOMPLETE: "It ended before it was through: what is there is true as far as it goes.",
    Label.UNKNOWN: "The output was not judged: no solver that is known here wrote it, or it says nothing of the result.",
}


def page() -> dict[str, Any]:
    return {
        "stages": [stage(row) for row in lifecycle.JOB.stages()],
        "statuses": [status(row) for row in lifecycle.JOB.values()],
        "outcomes": [(outcome, [one for one in lifecycle.ENDINGS.values() if one.outcome == outcome]) for outcome in Outcome],
        "desk": [desk_status(row) for row in lifecycle.WORKSTATION.values()],
        "suspensions": list(lifecycle.SUSPENSIONS.items()),
        "codes": codes(),
        "verdicts": [(VERDICTS[label], VERDICT_WORDS[label]) for label in Label],
        "labels": _labels(),
    }


def stage(row: Status) -> StageHelp:
    reasons = [one for one in lifecycle.ENDINGS.values() if one.stage == row.stage]
    return StageHelp(row, WAITS[row.code], FAILS[row.code], OFFER[row.code], reasons)


def status(row: Status) -> StatusHelp:
    return StatusHelp(row, [lifecycle.JOB[code] for code in row.next], words.duration(row.limit))


def desk_status(row: Status) -> StatusHelp:
    """A status of workstations."""
    return StatusHelp(row, [lifecycle.WORKSTATION[code] for code in row.next], words.duration(row.limit))


def codes() -> list[CodeHelp]:
    return [_code(code, meaning) for code, meaning in exits.table()]


def _code(code: str, meaning: exits.Meaning) -> CodeHelp:
    return CodeHelp(code, meaning.name, words.coded(f"The command {meaning.sentence}."), words.coded(meaning.advice))


def _labels() -> dict[str, str]:
    return {row.code: row.label for row in lifecycle.JOB.values()}

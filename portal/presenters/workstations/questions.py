"""What is asked before a workstation is suspended, ended or deleted: what goes, what stays."""

from __future__ import annotations

from django.urls import reverse

from jobs import lifecycle
from portal import words

from ..text import plural
from ..values import Question
from .cost import hourly, suspended_rate
from .facts import WorkstationFacts
from .home import summary

EMPTY = ("a fifo", "a socket")
"""As agents say why something is in no copy."""
NAMED, LONGEST = 3, 60
"""Things left out that a question names, and letters of each."""


def suspend(facts: WorkstationFacts) -> Question:
    title, action, back = f"Suspend {facts.work.name}?", _to(facts, "workstation-suspend"), _to(facts, "workstation")
    if facts.work.status != lifecycle.ACTIVE:
        text = "It leaves the queue, or its start is given up; its home stays as it is."
        return Question(title, "Suspend", action, back, text, "player-pause", keep="Let it start")
    text = (
        "Programs that are open will end: save in them first. Its home is saved and comes back as it is now when you resume, "
        f"at the same address. Until then only its disk is charged, {hourly(suspended_rate(facts))} an hour."
    )
    loses = [("Open programs and windows", "end"), ("What they have not saved", "is lost"), *_home(facts)]
    return Question(title, "Suspend", action, back, text, "player-pause", keep="Keep it on", loses=loses)


def end(facts: WorkstationFacts, force: bool) -> Question:
    """Graceful: the home is saved first. Forced: killed at once, back to the last copy."""
    action, back = _to(facts, "workstation-stop"), _to(facts, "workstation")
    if force:
        text = "Its programs are killed at once and nothing more is saved. What is left of its home is the last copy."
        title = f"Force stop {facts.work.name}?"
        return Question(title, "Force stop", action, back, text, "bolt", "fail", "Let it save", _since_copy(facts), [("force", "1")])
    if facts.work.status == lifecycle.SUSPENDED:
        text = "It ends for good, without being started again. The last copy of its home can still be downloaded from its Files tab."
        return Question(f"End {facts.work.name}?", "End it", action, back, text, "player-stop", keep="Keep it suspended")
    text = (
        "It ends for good and cannot be resumed. Its home is saved first and can be downloaded from its Files tab. "
        "To go on later, suspend it instead."
    )
    loses = [("Open programs and windows", "end"), ("What they have not saved", "is lost")]
    return Question(f"End {facts.work.name}?", "End it", action, back, text, "player-stop", keep="Keep it", loses=loses)


def delete(facts: WorkstationFacts) -> Question:
    action, back = _to(facts, "workstation-delete"), _to(facts, "workstation-settings")
    loses = [("The workstation, its settings and history", "")]
    loses += [("A copy of its home", summary(copy)) for copy in facts.copies]
    text = "What it cost stays in the ledger."
    return Question(f"Delete {facts.work.name}?", "Delete", action, back, text, "trash", "fail", "Keep it", loses=loses)


# --- private ----------------------------------------------------------------------------------------------------------
def _to(facts: WorkstationFacts, view: str) -> str:
    return reverse(view, args=[facts.work.public_id])


def _home(facts: WorkstationFacts) -> list[tuple[str, str]]:
    files = facts.listing.get("files_total")
    size = facts.listing.get("bytes_total")
    much = f"{plural(int(files), 'file')}, {words.size(size)}" if files else "as it is"
    return [("Its home", f"is kept: {much}"), *_left_out(facts)]


def _left_out(facts: WorkstationFacts) -> list[tuple[str, str]]:
    """What its last copy could not hold, and so the next one can hardly. Fifos and sockets hold nothing that could be lost."""
    lost = [(path, why) for path, why in (facts.home.skipped if facts.home else []) if why not in EMPTY]
    found = [("Not in its last copy", f"{_end(path)} ({why})") for path, why in lost[:NAMED]]
    if len(lost) > NAMED:
        found.append(("Not in its last copy", f"{words.count(len(lost) - NAMED)} more, named in its Files tab"))
    return found


def _end(path: str) -> str:
    return path if len(path) <= LONGEST else f"\u2026{path[-LONGEST:]}"


def _since_copy(facts: WorkstationFacts) -> list[tuple[str, str]]:
    if facts.home is None or facts.home.whole is None:
        return [("Everything in its home", "no copy was made yet")]
    return [("What changed in its home", f"since the copy {words.relative(facts.home.whole, facts.now)}")]

"""What each stage of a workstation says: one sentence, and the evidence in small below it.

One idea: only what is known is said. The stages themselves are those of jobs (presenters/stages.py); this is their voice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from jobs import lifecycle
from jobs.lifecycle import Wish
from portal import words

from ..facts import SILENT, Facts
from ..sentences import Says
from ..text import clock_of, cut, plural
from .facts import WorkstationFacts


def of(facts: Facts, code: str, kind: str) -> Says:
    """What the stage `code`, which stands as `kind`, says."""
    if kind == "skipped":
        return Says("Not needed")
    if kind == "failed":
        return Says(*why(cast(WorkstationFacts, facts)))
    speak: dict[str, Callable[[Any, str], Says]] = {
        lifecycle.QUEUED: _queued,
        lifecycle.VALIDATING: _validating,
        lifecycle.STARTING: _starting,
        lifecycle.ACTIVE: _active,
        lifecycle.SUSPENDING: _suspending,
        lifecycle.SUSPENDED: _suspended,
        lifecycle.STOPPING: _stopping,
    }
    return speak[code](facts, kind)


def silent(facts: Facts) -> str:
    """What is said when its node should report and does not."""
    last = clock_of(min(facts.heard[node] for node in facts.silent), facts.now)
    after = "If it stays away, the workstation is suspended at the last copy of its home."
    return f"The node was last heard at {last}, over {SILENT} s ago. {after}"


def why(facts: WorkstationFacts) -> tuple[str, str]:
    """Why it is suspended, failed or stopped: one sentence and the evidence."""
    work = facts.work
    if work.status in (lifecycle.SUSPENDING, lifecycle.SUSPENDED):
        return lifecycle.SUSPENSIONS.get(work.reason, ""), cut(work.detail, 240)
    ending = lifecycle.ENDINGS.get(work.reason)
    return (ending.sentence if ending else ""), cut(work.detail, 240)


def saving(facts: WorkstationFacts) -> str:
    """How far the last copy of its home is, as far as that is known."""
    cluster = facts.cluster
    part = next((copy for copy in facts.station.copies.all() if not copy.whole and copy.attempt == facts.work.attempt), None)
    if cluster is None or cluster.releasing:
        return "The home is saved; the node is being handed back"
    if part is not None:
        return f"Its home is being saved: {plural(part.files, 'file')}, up to {words.size(part.size)}"
    return "Programs are asked to save and end; then the home is saved" if not cluster.exited else "The home is about to be saved"


# --- private: one stage each ------------------------------------------------------------------------------------------
def _queued(facts: WorkstationFacts, kind: str) -> Says:
    if kind != "waiting":
        return Says("Capacity and money for the first hour")
    gate = facts.holding
    return Says(gate.sentence, gate.more) if gate else Says("Next in line: everything it needs is there")


def _validating(facts: WorkstationFacts, kind: str) -> Says:
    if facts.home is None:
        return Says("Nothing to check: its home is new")
    return Says("The copy of its home is there", words.size(facts.home.size))


def _starting(facts: WorkstationFacts, kind: str) -> Says:
    home = facts.home
    brought = f"its home of {words.size(home.size)} is brought back" if home else "with an empty home"
    if kind != "working":
        return Says(f"One node of {facts.work.coretype}, {brought}")
    cluster = facts.cluster
    if cluster is None or not facts.nodes:
        eta = f"Expected about {clock_of(cluster.eta, facts.now)}. " if cluster and cluster.eta and cluster.eta > facts.now else ""
        return Says("Hardware is asked for", eta + (cut(cluster.trouble) if cluster else ""))
    if not cluster.staged:
        return _restoring(cluster.staging)
    return Says("The session is being started")


def _restoring(staging: dict[str, Any]) -> Says:
    done, total = staging.get("bytes", 0), staging.get("of_bytes", 0)
    if not total:
        return Says("Its node is up")
    said = f"{words.size(done)} of {words.size(total)}"
    return Says(f"Its home is brought back, {said}", bar=100 * done / total, bar_words=f"{said} of its home are back")


def _active(facts: WorkstationFacts, kind: str) -> Says:
    if kind == "not yet":
        return Says(f"{facts.kind.get_session_display()} in this page")
    return Says("In use" if facts.idle_since is None else "Idle")


def _suspending(facts: WorkstationFacts, kind: str) -> Says:
    return Says(saving(facts))


def _suspended(facts: WorkstationFacts, kind: str) -> Says:
    return Says(*why(facts), word="Suspended")


def _stopping(facts: WorkstationFacts, kind: str) -> Says:
    if kind == "not yet":
        return Says("Its home is saved, then the node is handed back")
    if kind == "working" and facts.work.wish == Wish.FORCE_STOP:
        return Says("Killed at once; nothing more is saved")
    return Says(saving(facts) if kind == "working" else "Handed back")

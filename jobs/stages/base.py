"""What a stage is made of: facts, steps, and how a decision is written down.

`decide(facts, now)` is pure: it looks at facts and says what comes next. A step may carry an act (something outside the
database), which the engine performs outside any transaction; its answer is again a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .. import lifecycle
from ..idleness import Seen
from ..lifecycle import Wish
from ..models import Check, Cluster, HomeCopy, Workload


@dataclass(frozen=True)
class Facts:
    """Everything that is known of one workload when the engine looks at it."""

    work: Workload
    cluster: Cluster | None
    nodes_up: int = 0
    heard: datetime | None = None
    """Last sign of life of the node heard least recently."""
    watched_since: datetime | None = None
    """Since when this portal has been up without a break: silence counts from there."""
    silent_limit: float = 900
    create_timeout: float = 60
    home: HomeCopy | None = None
    """The last whole copy of a workstation's home."""
    seen: Seen | None = None
    """Signs of work in an active workstation."""

    @property
    def suspends(self) -> bool:
        return self.work.wish == Wish.SUSPEND

    @property
    def stops(self) -> bool:
        return self.work.wish in (Wish.STOP, Wish.FORCE_STOP)

    @property
    def forced(self) -> bool:
        return self.work.wish == Wish.FORCE_STOP


Act = Callable[["Sequence[Facts]", datetime], "list[Step]"]
"""Something outside the database, for all facts of a batch that want it; an answer for each."""
PAUSE_AFTER_BUG = 60.0


@dataclass
class Step:
    """What comes next for one workload: a status (`to`), or an act, or only a later look (`again`, seconds)."""

    facts: Facts
    to: str = ""
    reason: str = ""
    detail: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    act: Act | None = None
    again: float | None = None

    @property
    def work(self) -> Workload:
        return self.facts.work


def wait(facts: Facts, seconds: float | None = None) -> Step:
    """Look again later; by default as often as the table says."""
    return Step(facts, again=facts.work.row.every if seconds is None else seconds)


def flag(facts: Facts, error: Exception) -> Step:
    """A bug met this row: pushed ahead, and marked so that a person looks."""
    step = wait(facts, PAUSE_AFTER_BUG)
    step.fields = {"flagged": f"{type(error).__name__}: {error}"[:2000]}
    return step


def end(facts: Facts, reason: str, detail: str = "", failed_stage: str = "") -> Step:
    """Towards the end for this reason: by the teardown if a cluster may exist, at once if none can."""
    ending = lifecycle.ENDINGS[reason]
    fields: dict[str, Any] = {"reason": reason, "detail": detail[:2000], "outcome": ending.outcome.value, "again": ""}
    fields["failed_stage"] = (failed_stage or _stage_of(facts, ending)) if ending.outcome == lifecycle.Outcome.FAILED else ""
    to = lifecycle.STOPPING if facts.work.row.holds else lifecycle.STATUS_OF[ending.outcome]
    return Step(facts, to, reason, detail, fields)


def end_of_findings(facts: Facts, check: Check) -> Step:
    """The check has found errors, wherever it stands by then."""
    return end(facts, "findings", f"{check.errors} error{'s' if check.errors > 1 else ''} in the input")


def suspend(facts: Facts, reason: str, detail: str = "") -> Step:
    """Towards Suspended for a reason of lifecycle.SUSPENSIONS: at once if no cluster can exist."""
    fields = {"reason": reason, "detail": detail[:2000], "outcome": "", "failed_stage": "", "again": ""}
    return Step(facts, lifecycle.SUSPENDING if facts.work.row.holds else lifecycle.SUSPENDED, reason, detail, fields)


def give_up(facts: Facts, reason: str, detail: str = "") -> Step:
    """What a job fails by sends a workstation whose home is safe back to Suspended."""
    return end(facts, reason, detail) if facts.home is None else suspend(facts, reason, detail)


def _stage_of(facts: Facts, ending: lifecycle.Reason) -> str:
    """The status code of the stage that gets the red X."""
    if ending.stage is None:
        return facts.work.status
    return next((row.code for row in facts.work.table.stages() if row.stage == ending.stage), facts.work.status)


def retry(facts: Facts, counted: bool, detail: str, pause: float, now: datetime) -> Step:
    """Through the teardown back to Queued, for a new attempt."""
    fields = {"again": "counted" if counted else "uncounted", "not_before": now + timedelta(seconds=pause), "detail": detail[:2000]}
    return Step(facts, lifecycle.STOPPING, "again", detail, fields)


def stopped_reason(facts: Facts) -> str:
    """Who wished the end: the owner, an admin, or by force."""
    if facts.forced:
        return "force-stopped"
    by = facts.work.wished_by_id
    return "stopped" if by is None or by == facts.work.owner_id else "stopped-by-admin"

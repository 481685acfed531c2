"""Every status of jobs and workstations, every way out, every reason: tables, pure Python.

One row a status. `holds` says that a cluster may exist and cost money; building a table fails if a holding status could
lead to rest without passing Stopping Cluster or Suspending, so an orphan cannot be written down. Nobody else spells a
status: choices, badges, the stage list, the public API and the tables of the README are derived from these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .reasons import ENDINGS, REASON_CHOICES, SUSPENSIONS, Reason
from .terms import Outcome, Stage, Tone, Wish

__all__ = [
    "ACTIVE", "ACTIVE_CODES", "ATTEMPT_LIMIT", "CHOICES", "COMPLETED", "DRAFT", "ENDINGS", "FAILED", "HOLDING_CODES", "JOB", "Lifecycle",
    "Outcome", "QUEUED", "REASON_CHOICES", "REST_CODES", "RUNNING", "Reason", "STARTED_CODES", "STARTING", "STATUS_OF", "STOPPED",
    "STOPPING", "SUSPENDED", "SUSPENDING", "SUSPENSIONS", "Stage", "Status", "TABLES", "Tone", "VALIDATING", "WORKSTATION", "Wish",
]  # fmt: skip


@dataclass(frozen=True)
class Status:
    """One row. `every` is how often the engine looks (s), `limit` how long it may last (s) before the engine ends it."""

    code: str
    label: str
    next: tuple[str, ...] = ()
    stage: Stage | None = None
    holds: bool = False
    every: float | None = None
    limit: float | None = None
    tone: Tone = Tone.WAIT
    icon: str = "hourglass-empty"
    about: str = ""

    @property
    def is_active(self) -> bool:
        return bool(self.next) and self.every is not None

    def __str__(self) -> str:
        return self.label


class Lifecycle(Mapping[str, Status]):
    """The table of one kind of workload, checked when it is built."""

    def __init__(self, kind: str, rows: Iterable[Status], releasing: Iterable[str]) -> None:
        self.kind = kind
        self.rows = {row.code: row for row in rows}
        self.releasing = frozenset(releasing)
        self._check()

    def __getitem__(self, code: str) -> Status:
        return self.rows[code]

    def __iter__(self):
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def allows(self, old: str, new: str) -> bool:
        """Whether this status may follow that one."""
        return new in self.rows[old].next

    def stages(self) -> list[Status]:
        """The five statuses that the Status page lists, in order."""
        main = (QUEUED, VALIDATING, STARTING, RUNNING if RUNNING in self.rows else ACTIVE, STOPPING)
        return [self.rows[code] for code in main]

    def active(self) -> list[str]:
        """Codes of those that the engine looks after."""
        return [code for code, row in self.rows.items() if row.is_active]

    def holding(self) -> list[str]:
        """Codes of those in which a cluster may exist and cost money."""
        return [code for code, row in self.rows.items() if row.holds]

    def _check(self) -> None:
        for row in self.rows.values():
            for code in row.next:
                if code not in self.rows:
                    raise ValueError(f"{self.kind}: {row.code} leads to {code}, which is not in the table")
                self._check_release(row, self.rows[code])
            if row.next and row.stage and row.every is None:
                raise ValueError(f"{self.kind}: {row.code} is active and nobody looks at it")

    def _check_release(self, row: Status, to: Status) -> None:
        if row.holds and not to.holds and row.code not in self.releasing:
            raise ValueError(f"{self.kind}: {row.code} may hold a cluster and leads to {to.code} without releasing it")


DRAFT, QUEUED, VALIDATING, STARTING, RUNNING = "draft", "queued", "validating", "starting", "running"
ACTIVE, SUSPENDING, SUSPENDED, STOPPING = "active", "suspending", "suspended", "stopping"
COMPLETED, FAILED, STOPPED = "completed", "failed", "stopped"

_DRAFT = Status(DRAFT, "Draft", (QUEUED,), icon="pencil", about="Being filled in; nothing has been asked for yet.")
_ENDS = (
    Status(
        COMPLETED,
        "Completed",
        tone=Tone.PASS,
        icon="circle-check",
        about="The command ran and exited normally. That is no proof of a good result: see the verdict.",
    ),
    Status(FAILED, "Failed", tone=Tone.FAIL, icon="circle-x", about="One stage could not be finished; the red X says which one and why."),
    Status(STOPPED, "Stopped", icon="player-stop", about="Somebody, or a rule that somebody set, ended it."),
)
_QUEUED_ABOUT = "Accepted; waits for capacity of its coretype in its region and for a budget that can pay the first hour."
_VALIDATING_ABOUT = "Files and launch command are checked before any hardware is paid for."
_STARTING_ABOUT = "Hardware is provisioned and inputs are staged. Takes minutes in a cloud; nothing is wrong."
_STOPPING_ABOUT = "Outputs are copied from the job folder to storage, then the cluster is destroyed. What was written elsewhere is gone."

JOB = Lifecycle(
    "job",
    [
        _DRAFT,
        Status(QUEUED, "Queued", (VALIDATING, FAILED, STOPPED), Stage.QUEUED, every=15, about=_QUEUED_ABOUT),
        Status(
            VALIDATING,
            "Validating Input",
            (STARTING, FAILED, STOPPED),
            Stage.VALIDATING,
            every=5,
            limit=600,
            tone=Tone.WORK,
            icon="file-search",
            about=_VALIDATING_ABOUT,
        ),
        Status(
            STARTING,
            "Starting Cluster",
            (RUNNING, STOPPING),
            Stage.STARTING,
            True,
            every=5,
            limit=1800,
            tone=Tone.WORK,
            icon="server-2",
            about=_STARTING_ABOUT,
        ),
        Status(
            RUNNING,
            "Running Job",
            (STOPPING,),
            Stage.RUNNING,
            True,
            every=15,
            tone=Tone.WORK,
            icon="player-play",
            about="The command runs. Live output and health live here.",
        ),
        Status(
            STOPPING,
            "Stopping Cluster",
            (COMPLETED, FAILED, STOPPED, QUEUED),
            Stage.STOPPING,
            True,
            every=2,
            tone=Tone.WORK,
            icon="flag",
            about=_STOPPING_ABOUT,
        ),
        *_ENDS,
    ],
    releasing=[STOPPING],
)

WORKSTATION = Lifecycle(
    "workstation",
    [
        _DRAFT,
        Status(QUEUED, "Queued", (VALIDATING, FAILED, STOPPED, SUSPENDED), Stage.QUEUED, every=15, about=_QUEUED_ABOUT),
        Status(
            VALIDATING,
            "Validating Input",
            (STARTING, FAILED, STOPPED, SUSPENDED),
            Stage.VALIDATING,
            every=5,
            limit=600,
            tone=Tone.WORK,
            icon="file-search",
            about=_VALIDATING_ABOUT,
        ),
        Status(
            STARTING,
            "Starting Cluster",
            (ACTIVE, STOPPING, SUSPENDING),
            Stage.STARTING,
            True,
            every=5,
            limit=1800,
            tone=Tone.WORK,
            icon="server-2",
            about=_STARTING_ABOUT,
        ),
        Status(
            ACTIVE,
            "Active",
            (SUSPENDING, STOPPING),
            Stage.ACTIVE,
            True,
            every=15,
            tone=Tone.WORK,
            icon="activity",
            about="The desktop is there to be used.",
        ),
        Status(
            SUSPENDING,
            "Suspending",
            (SUSPENDED, ACTIVE, STOPPING),
            Stage.STOPPING,
            True,
            every=2,
            tone=Tone.WORK,
            icon="player-pause",
            about="The home is saved, then the cluster is destroyed.",
        ),
        Status(
            SUSPENDED,
            "Suspended",
            (QUEUED, STOPPING),
            every=300,
            icon="player-pause",
            about="Nothing runs; the home is kept and only its disk space is charged.",
        ),
        Status(
            STOPPING,
            "Stopping Cluster",
            (STOPPED, FAILED, QUEUED, ACTIVE),
            Stage.STOPPING,
            True,
            every=2,
            tone=Tone.WORK,
            icon="flag",
            about="The home is saved, then the cluster is destroyed.",
        ),
        *_ENDS[1:],
    ],
    releasing=[STOPPING, SUSPENDING],
)

TABLES: Mapping[str, Lifecycle] = {"job": JOB, "workstation": WORKSTATION}
CHOICES = [(row.code, row.label) for row in {**WORKSTATION.rows, **JOB.rows}.values()]
ACTIVE_CODES = sorted({*JOB.active(), *WORKSTATION.active()} - {SUSPENDED})
HOLDING_CODES = sorted({*JOB.holding(), *WORKSTATION.holding()})
STARTED_CODES = sorted({VALIDATING, *HOLDING_CODES})
"""Past Queued: these hold their capacity and their first hour."""
REST_CODES = [COMPLETED, FAILED, STOPPED]

STATUS_OF = {Outcome.COMPLETED: COMPLETED, Outcome.FAILED: FAILED, Outcome.STOPPED: STOPPED}

ATTEMPT_LIMIT = 3
"""Tries against a broken node or image or failed staging; no capacity and preemption are not counted."""

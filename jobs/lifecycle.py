"""Every status of jobs and workstations, every way out, every reason: tables, pure Python.

One row a status. `holds` says that a cluster may exist and cost money; building a table fails if a holding status could
lead to rest without passing Stopping Cluster or Suspending, so an orphan cannot be written down. Nobody else spells a
status: choices, badges, the stage list, the public API and the tables of the README are derived from these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """How a status looks: always a colour, an icon and a word together."""

    WAIT = "wait"
    WORK = "work"
    PASS = "pass"
    FAIL = "fail"
    LOOK = "look"


class Stage(StrEnum):
    """The stages that people see; a status is in one of them or at rest."""

    QUEUED = "Queued"
    VALIDATING = "Validating Input"
    STARTING = "Starting Cluster"
    RUNNING = "Running Job"
    ACTIVE = "Active"
    STOPPING = "Stopping Cluster"


class Wish(StrEnum):
    """What the user wants; written by people only."""

    RUN = "run"
    SUSPEND = "suspend"
    STOP = "stop"
    FORCE_STOP = "force stop"


class Outcome(StrEnum):
    """How a workload ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


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
        return new in self.rows[old].next

    def stages(self) -> list[Status]:
        """The five statuses that the Status page lists, in order."""
        main = (QUEUED, VALIDATING, STARTING, RUNNING if RUNNING in self.rows else ACTIVE, STOPPING)
        return [self.rows[code] for code in main]

    def active(self) -> list[str]:
        return [code for code, row in self.rows.items() if row.is_active]

    def holding(self) -> list[str]:
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
            (STOPPED, FAILED, QUEUED),
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


@dataclass(frozen=True)
class Reason:
    """Why it ended, once: one enumerated code, the outcome that follows, the stage that gets the red X, and words.

    `stage` None means the stage it was in (failed) or none (completed, stopped). `again` offers to try the same once more.
    """

    code: str
    outcome: Outcome
    sentence: str
    stage: Stage | None = None
    advice: str = ""


ENDINGS: Mapping[str, Reason] = {
    reason.code: reason
    for reason in [
        Reason(
            "exit-0",
            Outcome.COMPLETED,
            "The command exited with 0.",
            advice="Exit code 0 is no proof of a good result: look at the output before you use it.",
        ),
        Reason("exit-code", Outcome.FAILED, "The command exited with an error.", Stage.RUNNING, "Read the last lines of the output."),
        Reason("signal", Outcome.FAILED, "The command was killed by a signal.", Stage.RUNNING, "Read the last lines of the output."),
        Reason(
            "out-of-memory",
            Outcome.FAILED,
            "The command was killed because it reached the memory limit.",
            Stage.RUNNING,
            "Take a coretype with more memory, fewer ranks a node, or more nodes.",
        ),
        Reason(
            "walltime",
            Outcome.FAILED,
            "The walltime was over before the command ended.",
            Stage.RUNNING,
            "Clone the job with a longer walltime; what was written so far is among its files.",
        ),
        Reason("node-lost", Outcome.FAILED, "A node of the cluster was lost.", None, "Submit again; nothing was wrong with the input."),
        Reason(
            "budget-used-up",
            Outcome.FAILED,
            "The budget could not pay for more time.",
            None,
            "Ask the budget's owner, then clone the job; what was written so far is among its files.",
        ),
        Reason(
            "cancelled-outside",
            Outcome.FAILED,
            "The cluster was cancelled on the backend, not here.",
            None,
            "Ask the admin of the cluster who cancelled it.",
        ),
        Reason("findings", Outcome.FAILED, "The input has errors.", Stage.VALIDATING, "Fix the findings and submit again."),
        Reason(
            "validation-broken",
            Outcome.FAILED,
            "The input could not be checked in time.",
            Stage.VALIDATING,
            "Try again; if it happens twice, tell your admin.",
        ),
        Reason("never-starts", Outcome.FAILED, "It can never start.", Stage.QUEUED, "Choose another coretype or fewer cores."),
        Reason("not-up", Outcome.FAILED, "The cluster was not up in time.", Stage.STARTING, "Try again, or take another coretype."),
        Reason("node-broken", Outcome.FAILED, "The cluster could not be started.", Stage.STARTING, "Try again, or take another coretype."),
        Reason(
            "staging-failed",
            Outcome.FAILED,
            "The inputs could not be brought to the cluster.",
            Stage.STARTING,
            "Try again; if a file is named, upload it again.",
        ),
        Reason(
            "no-capacity",
            Outcome.FAILED,
            "There was no capacity before the latest start that was set.",
            Stage.STARTING,
            "Take another coretype or a later start.",
        ),
        Reason(
            "not-saved",
            Outcome.FAILED,
            "Outputs could not be saved.",
            Stage.STOPPING,
            "The Files tab says which files are safe. Ask your admin for room in the storage.",
        ),
        Reason("stopped", Outcome.STOPPED, "Stopped by its owner."),
        Reason("stopped-by-admin", Outcome.STOPPED, "Stopped by an admin."),
        Reason("stopped-by-rule", Outcome.STOPPED, "Stopped by a rule that was set for it."),
        Reason("force-stopped", Outcome.STOPPED, "Force stopped: what was not saved yet was given up."),
    ]
}
REASON_CHOICES = [(code, reason.sentence) for code, reason in ENDINGS.items()]
STATUS_OF = {Outcome.COMPLETED: COMPLETED, Outcome.FAILED: FAILED, Outcome.STOPPED: STOPPED}

ATTEMPT_LIMIT = 3
"""Tries against a broken node or image or failed staging; no capacity and preemption are not counted."""

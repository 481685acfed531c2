"""The words of the lifecycle that tables and reasons share: tones, stages, wishes, outcomes. Spelt here and nowhere else."""

from __future__ import annotations

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

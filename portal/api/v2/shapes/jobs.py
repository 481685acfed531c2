"""Jobs: short, whole, how they stand and stood."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Truth(BaseModel):
    """What really happened. `exitCode` and `signal` are those of the command, `waitsFor` is a sentence while it is queued."""

    outcome: str | None = None
    stage: str | None = None
    headraceStatus: str = ""
    exitCode: int | None = None
    signal: int | None = None
    failedStage: str | None = None
    reason: str | None = None
    detail: str | None = None
    attempt: int = 1
    verdict: str | None = None
    waitsFor: str | None = None


class Content(BaseModel):
    content: str


class JobShort(Truth):
    id: str
    name: str
    owner: str
    dateInserted: str
    analysisNames: list[str]
    sharedWith: list[str]
    storage: int
    isVisible: bool
    jobStatus: Content
    clusterStatusDisplay: Content
    tags: list[str]


class JobAnalysisOut(BaseModel):
    analysis: dict[str, str]
    command: str
    envVars: dict[str, str]
    pipefail: bool
    useMpi: bool
    flags: dict[str, Any]
    useRescaleLicense: bool
    userDefinedLicenseSettings: dict[str, Any]
    hardware: dict[str, Any]
    inputFiles: list[dict[str, Any]]


class JobOut(JobShort):
    """`cost` and `costAtMost` are decimals as text."""

    description: str
    isLowPriority: bool
    projectId: str | None
    jobanalyses: list[JobAnalysisOut]
    jobvariables: list[Any]
    expectedRuns: int
    includeNominalRun: bool
    isTemplateDryRun: bool
    dateSubmitted: str | None
    dateCompleted: str | None
    url: str
    cost: str
    costAtMost: str
    verdictDetail: dict[str, Any] | None


class StatusOut(Truth):
    """The newest entry of a job also says what really happened; in older ones those keys are empty."""

    status: str
    statusDate: str
    statusReason: str | None


class ClusterStatus(BaseModel):
    status: str
    statusDate: str
    statusReason: str | None


class Submitted(BaseModel):
    id: str
    status: str


class StopAsked(BaseModel):
    id: str
    wish: str


class Shared(BaseModel):
    recipient: str
    supportDesk: bool


class ChoiceOut(BaseModel):
    """Why one of several choices of hardware does not start."""

    hardware: str
    gate: str
    sentence: str


class GateOut(BaseModel):
    """`choices`: at the gate that holds, of a job that names several kinds of hardware."""

    gate: str
    passed: bool
    holds: bool
    sentence: str
    since: str | None
    choices: list[ChoiceOut]


class TagOut(BaseModel):
    name: str
    normalizedName: str


class RunOut(BaseModel):
    id: str
    dateStarted: str | None
    dateCompleted: str | None
    type: int
    variables: list[Any]
    outputFileCount: int
    outputFileSize: int
    isOptimal: bool

"""What the API answers with: one class a thing. The OpenAPI document is made from these, and every answer is held to them.

Names are those that existing clients read; what they do not know stands beside it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel

Errors = dict[str, list[str]]
Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    count: int
    next: str | None
    previous: str | None
    results: list[Item]


def answers(body: Any, *refusals: int, status: int = 200) -> dict[int, Any]:
    """The answers of an operation: its own, the refusals that any may give, and those named."""
    return {status: body, **dict.fromkeys((400, 401, 429, *refusals), Errors)}


# --- account ----------------------------------------------------------------------------------------------------------
class Company(BaseModel):
    code: str
    name: str


class Workspace(BaseModel):
    id: str
    name: str


class Me(BaseModel):
    email: str
    username: str
    fullName: str
    isAdmin: bool
    company: Company
    workspace: Workspace


class ProjectOut(BaseModel):
    id: str
    name: str


# --- catalogue --------------------------------------------------------------------------------------------------------
class VersionOut(BaseModel):
    id: str
    versionCode: str
    version: str
    allowedCoreTypes: list[str]
    mpiCommand: str
    command: str


class SoftwareOut(BaseModel):
    code: str
    name: str
    description: str
    vendorName: str
    licenseSettings: list[Any]
    versions: list[VersionOut]


class CoretypeOut(BaseModel):
    """`memory` in MiB a core, `memoryPerNode` in bytes, `price` a core and hour; `freeCores` is null where nobody knows."""

    code: str
    name: str
    displayOrder: int
    isDeprecated: bool
    isActive: bool
    price: float
    lowPriorityPrice: float
    cores: list[int]
    memory: int
    memoryPerNode: int
    storage: int
    walltimeRequired: bool
    maxWalltimeHours: float
    coresPerNode: int
    maxNodes: int
    categoryCodes: list[str]
    processorInfo: str
    region: str
    freeCores: int | None
    totalCores: int | None


class Amount(BaseModel):
    amount: str
    currency: str


class PriceOut(BaseModel):
    coreType: str
    planType: str
    os: str
    isActive: bool
    value: Amount


class BudgetOut(BaseModel):
    """Amounts are decimals as text, in `unit`."""

    id: int
    name: str
    project: str | None
    member: str | None
    unit: str
    strictness: str
    amount: str
    spent: str
    held: str
    left: str
    isActive: bool


# --- files ------------------------------------------------------------------------------------------------------------
class Checksum(BaseModel):
    hashFunction: str
    fileHash: str


class FileOut(BaseModel):
    """Sizes in bytes. A log that still grows is not uploaded yet and has no checksum."""

    id: str
    name: str
    relativePath: str
    path: str
    typeId: int
    decryptedSize: int
    size: int
    isUploaded: bool
    isDeleted: bool
    md5: str | None
    sha256: str | None
    fileChecksums: list[Checksum]
    owner: str
    dateUploaded: str
    downloadUrl: str


class Lines(BaseModel):
    lines: list[str]


class Tail(BaseModel):
    fileType: str
    lines: list[str]


# --- jobs -------------------------------------------------------------------------------------------------------------
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


class GateOut(BaseModel):
    gate: str
    passed: bool
    holds: bool
    sentence: str
    since: str | None


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


# --- what runs --------------------------------------------------------------------------------------------------------
class FolderEntry(BaseModel):
    """`resource` is the address at which its last lines can be read."""

    path: str
    size: int
    resource: str


class Snapshot(BaseModel):
    """No archive is made: `data` says what lies in the job folder now."""

    data: list[FolderEntry]
    exitcode: int
    lastSnapshotID: str | None
    reason: str | None


class NodeOut(BaseModel):
    publicIp: str | None
    hostname: str
    username: str | None
    sshPort: int | None
    role: str

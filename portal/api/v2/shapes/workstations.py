"""Workstations, their kinds, and the copies of their homes."""

from __future__ import annotations

from pydantic import BaseModel


class KindOut(BaseModel):
    """Times in seconds, the home's limit in bytes; 0 is no limit. `coreTypes` are those that the caller may use for it."""

    code: str
    name: str
    description: str
    session: str
    software: list[str]
    homeLimit: int
    idleAfter: int
    keepLimit: int
    maxLife: int
    suspendedDays: int
    coreTypes: list[str]


class HomeOut(BaseModel):
    """A whole copy of a home: a tar. `skipped` are pairs of path and reason, the `unread` first: what a failing disk did not give."""

    id: int
    why: str
    size: int
    files: int
    sha256: str
    dateMade: str
    skipped: list[list[str]]
    unread: int


class CopyFile(BaseModel):
    """Something in a copy of a home. `kind` is file, folder, link (its target is `leadsTo`) or other; files alone have an address."""

    index: int
    path: str
    kind: str
    size: int
    dateModified: str
    leadsTo: str | None
    downloadUrl: str | None


class SentOut(BaseModel):
    """A file on its way into a home. `status` is waiting, arrived or failed; `path` where it is, once it arrived."""

    id: int
    fileId: str
    path: str
    size: int
    status: str
    trouble: str | None
    dateSent: str
    dateArrived: str | None


class WorkstationShort(BaseModel):
    """`status` is a stage's name, or Draft, Suspending, Suspended, Stopped, Failed; `reason` a code, `detail` words for people."""

    id: str
    name: str
    owner: str
    kind: str
    status: str
    wish: str
    outcome: str | None
    reason: str | None
    detail: str | None
    attempt: int
    waitsFor: str | None
    dateInserted: str


class IdleOut(BaseModel):
    """`suspendsAt` null: not for being idle, or nobody can say. A sign of work is quiet since `since`."""

    idleSince: str
    suspendsAt: str | None
    quiet: dict[str, bool]


class WorkstationOut(WorkstationShort):
    """`isReady`: its session can be connected to. Amounts are money; `diskPerHour` is what it costs while it is suspended."""

    description: str
    projectId: str | None
    coreType: str
    cores: int
    isReady: bool
    unsaved: str | None
    home: HomeOut | None
    idle: IdleOut | None
    keepUntil: str | None
    cannotSuspend: str | None
    cannotResume: str | None
    cost: str
    perHour: str
    diskPerHour: str
    dateSubmitted: str | None
    dateEnded: str | None
    url: str


class Done(BaseModel):
    """The verb was taken; how it stands now."""

    id: str
    status: str
    wish: str


class ShareMade(BaseModel):
    """`url` opens the session for looking; it is not shown again."""

    url: str
    expires: str

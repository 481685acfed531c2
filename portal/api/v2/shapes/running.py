"""A look into what runs."""

from __future__ import annotations

from pydantic import BaseModel


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

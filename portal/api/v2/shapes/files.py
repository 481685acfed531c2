"""Files and their lines."""

from __future__ import annotations

from pydantic import BaseModel


class Checksum(BaseModel):
    hashFunction: str
    fileHash: str


class FileOut(BaseModel):
    """Sizes in bytes. A log that still grows is not uploaded yet and has no checksum.

    `pathBytes` is the path as base64 where its bytes are no UTF-8; its other names are then only for reading.
    """

    id: str
    name: str
    relativePath: str
    path: str
    pathBytes: str | None
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

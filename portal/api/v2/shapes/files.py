"""Files and their lines."""

from __future__ import annotations

from pydantic import BaseModel


class Checksum(BaseModel):
    hashFunction: str
    fileHash: str


class FileOut(BaseModel):
    """Sizes in bytes. A log that still grows is not uploaded yet and has no checksum.

    Names may be any bytes that a file system takes. As text a byte that is no UTF-8, a control character, and a backslash that
    would look like this, is \\xHH (two small hexadecimal digits); what is shown may be sent back. `pathBytes` is then the path as base64.
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

"""Looks into zip and tar archives without unpacking them to disk.

The one idea to know: whatever an archive says is hostile. Entries are listed one after the other under limits of
count and size, and the list stops at the first limit that is passed.
"""

from __future__ import annotations

import contextlib
import io
import posixpath
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from .base import Finding, Inputs, error
from .tree import is_windows

if TYPE_CHECKING:
    from .plan import Step

MAX_ENTRIES = 100_000
MAX_BYTES = 200 << 30
_RATIO = 100  # unpacked to packed; honest archives of text stay well below
_FREE = 256 << 20  # bytes that may be unpacked whatever the ratio
_ENDS = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz))$", re.I)
_BROKEN: tuple[type[BaseException], ...] = (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError, zlib.error, ValueError, NotImplementedError,
           RuntimeError, KeyError, OverflowError)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    name: str
    size: int
    kind: str  # file, folder, link, other
    target: str = ""  # of a link
    mode: int = 0
    locked: bool = False  # needs a password


@dataclass(frozen=True)
class Looked:
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]


def is_archive(name: str) -> bool:
    return bool(_ENDS.search(name))


def look(inputs: Inputs, name: str) -> Looked:
    """All entries, and what is wrong with them. Never raises; remembered, as it may be long."""
    cache = inputs.__dict__.setdefault("_looked", {}) if hasattr(inputs, "__dict__") else {}
    if name not in cache:
        cache[name] = _look(inputs, name)
    return cache[name]


def member_names(inputs: Inputs, name: str) -> list[str] | None:
    """Names that unpacking would make; None if the archive is not among the inputs or can't be read."""
    try:
        if name not in inputs.names():
            return None
        looked = look(inputs, name)
    except _BROKEN:
        return None
    return [posixpath.normpath(entry.name) for entry in looked.entries] or None


def named_by(step: Step) -> str | None:
    """The archive that a `tar x` or `unzip` step unpacks, as a name in the job folder."""
    words = list(step.argv[1:])
    if step.program in ("unzip", "7z"):
        plain = [word for word in words if word and not word.startswith("-") and is_archive(word)]
        return step.path(plain[0]) if plain else None
    letters = (words[0] or "").lstrip("-") if words else ""
    extracts = "x" in letters.split("=")[0] or "--extract" in words or any(w and re.match(r"-\w*x", w) for w in words)
    archive = next((word for word in words if word and is_archive(word)), None)
    return step.path(archive) if extracts and archive else None


def _look(inputs: Inputs, name: str) -> Looked:
    entries: list[Entry] = []
    findings: list[Finding] = []
    total, packed = 0, max(1, inputs.size(name))
    try:
        with inputs.open(name) as stream:
            for entry in _entries(stream, packed):
                entries.append(entry)
                total += entry.size
                if trouble := _too_big(name, len(entries), total, packed):
                    findings.append(trouble)
                    break
                findings += _bad_entry(name, entry) if len(findings) < 20 else []
    except _TooMuch:
        findings.append(_bomb(name, packed))
    except _BROKEN as problem:
        findings.append(_broken(name, problem))
    return Looked(tuple(entries), tuple(findings))


def _entries(stream: BinaryIO, packed: int) -> Iterator[Entry]:
    head = stream.read(6)
    stream.seek(0)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zip_entries(stream)
    return _tar_entries(stream, head, packed)


def _zip_entries(stream: BinaryIO) -> Iterator[Entry]:
    count = _zip_count(stream)
    if count > MAX_ENTRIES:  # the list itself would need too much memory
        for number in range(MAX_ENTRIES + 1):
            yield Entry(f"{number}", 0, "file")
        return
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            kind, mode = "folder" if info.is_dir() else "file", info.external_attr >> 16
            if stat.S_ISLNK(mode):
                target = archive.read(info)[:4096].decode("utf-8", "replace") if info.file_size < 4096 else "?"
                yield Entry(info.orig_filename, 0, "link", target)
            else:
                odd = stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
                yield Entry(info.orig_filename, info.file_size, "other" if odd else kind, "", mode & 0o777, bool(info.flag_bits & 1))


def _zip_count(stream: BinaryIO) -> int:
    """Number of entries by the record at the end."""
    end = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, end - 70_000))
    tail = stream.read()
    stream.seek(0)
    wide = tail.rfind(b"PK\x06\x06")
    if wide >= 0:
        return int.from_bytes(tail[wide + 32 : wide + 40], "little")
    at = tail.rfind(b"PK\x05\x06")
    return int.from_bytes(tail[at + 10 : at + 12], "little") if at >= 0 else 0


class _TooMuch(Exception):
    """More comes out of a compressed stream than an honest one holds."""


class _Limited(io.RawIOBase):
    """A decompressed stream that stops when it grows out of all proportion."""

    def __init__(self, stream: BinaryIO, packed: int) -> None:
        self.stream = stream
        self.limit = min(max(_FREE, packed * _RATIO), MAX_BYTES)
        self.done = 0

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.done += len(data)
        if self.done > self.limit:
            raise _TooMuch
        return data


def _tar_entries(stream: BinaryIO, head: bytes, packed: int) -> Iterator[Entry]:
    kinds = {tarfile.REGTYPE: "file", tarfile.AREGTYPE: "file", tarfile.DIRTYPE: "folder", tarfile.GNUTYPE_SPARSE: "file",
             tarfile.CONTTYPE: "file", tarfile.SYMTYPE: "link", tarfile.LNKTYPE: "link"}  # fmt: skip
    source = decompressed(stream, head, packed)
    with tarfile.open(fileobj=source, mode="r|" if source is not stream else "r:") as archive:
        for info in archive:
            yield Entry(info.name, info.size, kinds.get(info.type, "other"), info.linkname, info.mode & 0o777)
            archive.members.clear()  # type: ignore[attr-defined]  # the module would keep them all


def decompressed(stream: BinaryIO, head: bytes, packed: int) -> BinaryIO:
    opened: BinaryIO
    if head.startswith(b"\x1f\x8b"):
        import gzip

        opened = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]  # noqa: SIM115
    elif head.startswith(b"BZh"):
        import bz2

        opened = bz2.BZ2File(stream)  # type: ignore[assignment]
    elif head.startswith(b"\xfd7zXZ"):
        import lzma

        opened = lzma.LZMAFile(stream)  # type: ignore[assignment]  # noqa: SIM115
    else:
        return stream
    return _Limited(opened, packed)  # type: ignore[return-value]


def _too_big(name: str, count: int, total: int, packed: int) -> Finding | None:
    if count > MAX_ENTRIES:
        return error(f"{name} holds more than {MAX_ENTRIES:,} entries.", file=name, thing="entries",
                     remedy="Pack only what the job needs, or join the many small files.")  # fmt: skip
    if total > MAX_BYTES or (total > _FREE and total > packed * _RATIO):
        return _bomb(name, packed)
    return None


def _bomb(name: str, packed: int) -> Finding:
    return error(
        f"{name} is {packed:,} bytes and would unpack to more than {_RATIO} times that, past the limit for archives.",
        file=name, thing="size", remedy="Upload the files themselves, or an archive of what the job needs.",
    )  # fmt: skip


def _broken(name: str, problem: BaseException) -> Finding:
    detail = str(problem) or type(problem).__name__
    return error(f"{name} can't be opened as an archive ({detail[:120]}).", file=name, thing=name,
                 remedy="Pack it again and upload it again; the upload may have been cut short.")  # fmt: skip


def _bad_entry(archive: str, entry: Entry) -> list[Finding]:
    name = entry.name
    found: list[str] = []
    flat = name.replace("\\", "/")
    if name.startswith("/") or is_windows(name):
        found.append("has an absolute path")
    elif ".." in flat.split("/"):
        found.append("leads out of the job folder")
    elif "\\" in name:
        found.append("has backslashes in its name")
    if "\0" in name or any(ord(char) < 32 for char in name):
        found.append("has control characters in its name")
    if len(posixpath.basename(name).encode("utf-8", "replace")) > 255:
        found.append("has a name longer than 255 bytes")
    if entry.locked:
        found.append("is locked by a password")
    if entry.kind == "other":
        found.append("is a device or another special file")
    if entry.kind == "link" and _leads_out(entry):
        found.append(f"is a link that leads out of the job folder ({entry.target[:80]!r})")
    shown = repr(name)[1:-1] if not name.isprintable() else name
    return [error(f"{archive}: the entry {shown[:200]} {why}; the whole archive is refused.", file=archive,
                  thing=shown[:200], remedy="Pack it again with plain relative names.") for why in found]  # fmt: skip


def _leads_out(entry: Entry) -> bool:
    target = entry.target.replace("\\", "/")
    if target.startswith("/") or is_windows(entry.target):
        return True
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(entry.name), target))
    return joined == ".." or joined.startswith("../")


with contextlib.suppress(ImportError):  # lzma may be missing in a small Python
    import lzma as _lzma

    _BROKEN += (_lzma.LZMAError,)

"""What a job's cluster sent back: bytes in storage, a manifest file per attempt, no database row per file.

Small files arrive many a request and stay together in one stored object (a pack); the index says where each lies. Paths
are labels that a user chose: they are never used as a path here. Whatever arrives twice is harmless: the last one counts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage

from . import logs, names, places


class PastEnd(Exception):
    """A chunk does not continue what is there; `size` is where to go on."""

    def __init__(self, size: int) -> None:
        super().__init__(f"continue at {size}")
        self.size = size


class Damaged(Exception):
    """The bytes do not have the checksum that came with them; send them again from the start."""


# --- writing: what agents send ----------------------------------------------------------------------------------------
def store_batch(public_id: str, attempt: int, files: Sequence[Mapping[str, Any]], body: memoryview) -> tuple[int, list[dict[str, str]]]:
    """Keep many small files. `files` says path, size, sha256, mode, mtime in the order of their bytes in `body`.

    Returns how many were stored and which were not (wrong checksum). Raises ValueError if sizes and bytes disagree.
    """
    if sum(int(entry["size"]) for entry in files) != len(body):
        raise ValueError("the sizes do not add up to the bytes")
    good, failed, offset = [], [], 0
    for entry in files:
        size = int(entry["size"])
        if hashlib.sha256(body[offset : offset + size]).hexdigest() == entry["sha256"]:
            good.append({**entry, "offset": offset})
        else:
            failed.append({"path": entry["path"], "message": "checksum differs"})
        offset += size
    if good:
        key = default_storage.save(f"{_prefix(public_id, attempt)}/pack", ContentFile(bytes(body)))
        _append(public_id, attempt, [{**entry, "key": key} for entry in good])
    return len(good), failed


def store_chunk(public_id: str, attempt: int, path: str, offset: int, size: int, data: bytes, sha256: str | None) -> int:
    """Keep a piece of a big file; with `sha256` it is the last one. Returns the bytes that are there. Raises PastEnd, Damaged,
    and OSError (ENOSPC) before a byte is written that the rest of the file would have no room for."""
    part = _folder(public_id, attempt) / ("part-" + hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32])
    part.parent.mkdir(parents=True, exist_ok=True)
    with open(part, "ab") as file:
        have = file.tell()
        if offset > have or offset + len(data) < have:
            raise PastEnd(have)
        _need_room(part.parent, size - have)
        file.write(data[have - offset :])
        have = file.tell()
    if sha256 is None:
        return have
    if have != size or _sha256(part) != sha256:
        part.unlink(missing_ok=True)
        raise Damaged(path)
    key = places.moved(part, default_storage.get_available_name(f"{_prefix(public_id, attempt)}/file"))
    _append(public_id, attempt, [{"path": path, "size": size, "sha256": sha256, "key": key, "offset": 0}])
    return have


def write_manifest(public_id: str, attempt: int, part: int, last: bool, lines: bytes) -> None:
    """Keep a part of the agent's manifest; a part that comes again replaces itself."""
    folder = _folder(public_id, attempt)
    folder.mkdir(parents=True, exist_ok=True)
    for line in lines.splitlines():
        json.loads(line)
    (folder / f"manifest-{part:06d}").write_bytes(lines)
    if last:
        with open(folder / "manifest.new", "wb") as file:
            for index in range(part + 1):
                file.write((folder / f"manifest-{index:06d}").read_bytes())
        os.replace(folder / "manifest.new", folder / "manifest")
        for piece in folder.glob("part-*"):  # the agent is through: what is not whole now never will be
            piece.unlink(missing_ok=True)


def delete(public_id: str, attempt: int) -> None:
    """Remove every stored byte of an attempt's outputs; the manifest goes with the logs."""
    for key in {entry["key"] for entry in _index_lines(public_id, attempt)}:
        default_storage.delete(key)
    folder = _folder(public_id, attempt)
    for path in folder.glob("*") if folder.is_dir() else []:
        path.unlink(missing_ok=True)


def _need_room(folder: Path, need: int) -> None:
    """A file can be announced that no disk holds (a sparse one): better that it stays behind than that everything stops."""
    if need > places.room(folder):
        raise places.full_disk()


def _append(public_id: str, attempt: int, entries: Sequence[Mapping[str, Any]]) -> None:
    folder = _folder(public_id, attempt)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "index", "ab") as file:
        file.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))


def _prefix(public_id: str, attempt: int) -> str:
    return f"outputs/{public_id}/{attempt}"


def _folder(public_id: str, attempt: int) -> Path:
    return Path(logs.attempt_dir(public_id, attempt)) / "outputs"


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- reading ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Entry:
    """One line of the manifest. `kind` is file, dir, skipped (a link, a device...) or failed; `detail` says why."""

    index: int
    path: str
    size: int = 0
    sha256: str = ""
    mode: int = 0o644
    mtime: float = 0
    kind: str = "file"
    detail: str = ""
    key: str = ""
    offset: int = 0

    @property
    def name(self) -> str:
        """The path as text that can be shown."""
        return names.shown(self.path)


class Slice(File):
    """The bytes of one small file inside its pack."""

    def __init__(self, file: Any, offset: int, size: int) -> None:
        super().__init__(file)
        self.first, self.length, self.at = offset, size, 0
        file.seek(offset)

    @property
    def size(self) -> int:
        return self.length

    def read(self, count: int = -1) -> bytes:
        rest = self.length - self.at
        data = self.file.read(rest if count is None or count < 0 else min(count, rest))
        self.at += len(data)
        return bytes(data)

    def seek(self, position: int, whence: int = 0) -> int:
        base = {0: 0, 1: self.at, 2: self.length}[whence]
        self.at = max(0, min(self.length, base + position))
        self.file.seek(self.first + self.at)
        return self.at

    def tell(self) -> int:
        return self.at


@dataclass(frozen=True)
class Manifest:
    """The outputs of one attempt, as far as they have arrived; `complete` once the agent has said what there is."""

    all: tuple[Entry, ...]
    complete: bool

    @property
    def files(self) -> int:
        return sum(entry.kind == "file" for entry in self.all)

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.all if entry.kind == "file")

    def entries(self, start: int = 0, count: int = 200, search: str = "") -> list[Entry]:
        found = (entry for entry in self.all if search.lower() in entry.name.lower()) if search else iter(self.all)
        return [entry for position, entry in enumerate(found) if start <= position < start + count]

    def entry(self, index: int) -> Entry | None:
        return self.all[index] if 0 <= index < len(self.all) else None

    def named(self, path: str) -> Entry | None:
        return next((entry for entry in self.all if entry.path == path), None)

    def open(self, entry: Entry) -> BinaryIO:
        """The bytes of a file; raises FileNotFoundError for what was skipped or did not arrive."""
        if entry.kind != "file" or not entry.key:
            raise FileNotFoundError(entry.path)
        return Slice(default_storage.open(entry.key, "rb"), entry.offset, entry.size)  # type: ignore[return-value]


def manifest(public_id: str, attempt: int) -> Manifest:
    """What has arrived; kept in memory until the files behind it change."""
    folder = _folder(public_id, attempt)
    index, told = _stamp(folder / "index"), _stamp(folder / "manifest")
    return _load(public_id, attempt, index, told) if index or told else Manifest((), False)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=16)
def _load(public_id: str, attempt: int, index: object, told: object) -> Manifest:
    stored = {line["path"]: line for line in _index_lines(public_id, attempt)}
    if told is None:
        return Manifest(tuple(_entry(number, line, line) for number, line in enumerate(stored.values())), False)
    lines = _lines(_folder(public_id, attempt) / "manifest")
    return Manifest(tuple(_entry(number, line, stored.get(line["path"])) for number, line in enumerate(lines)), True)


def _entry(number: int, line: Mapping[str, Any], place: Mapping[str, Any] | None) -> Entry:
    kind, detail = "file", ""
    if line.get("dir"):
        kind = "dir"
    elif "skipped" in line:
        kind, detail = "skipped", _why_skipped(line)
    elif "failed" in line:
        kind, detail = "failed", str(line["failed"])
    elif place is None:
        kind, detail = "failed", "did not arrive"
    return Entry(
        number,
        line["path"],
        int(line.get("size", 0)),
        line.get("sha256", ""),
        int(line.get("mode", 0o644)),
        float(line.get("mtime", 0)),
        kind,
        detail,
        (place or {}).get("key", ""),
        int((place or {}).get("offset", 0)),
    )


def _why_skipped(line: Mapping[str, Any]) -> str:
    """A link by where it leads, else its kind or what the agent said of it."""
    detail = str(line.get("detail") or "")
    return f"link to {detail}" if detail and line["skipped"] == "symlink" else detail or str(line["skipped"])


def _index_lines(public_id: str, attempt: int) -> Iterator[dict[str, Any]]:
    return _lines(_folder(public_id, attempt) / "index")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):  # the last line may still be on its way
                yield json.loads(line)

"""What is inside a copy of a home: a tar in file storage, read as it is, never unpacked.

One idea: its headers are walked once and kept as places, so that a folder is listed, and a file sent or taken over, by its
stretch of bytes. Names come from users and are only ever shown or cleaned, never used as paths of this machine.
"""

from __future__ import annotations

import tarfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, BinaryIO

from django.core.exceptions import ValidationError

from jobs import homes, names
from jobs.models import HomeCopy, StoredFile
from portal import storing, streams
from portal.forms.names import clean_path

MOST = 200_000
"""Entries that are listed of one copy."""
KEPT = 4
"""Copies whose places are kept in memory."""
UNREAD = "HEADRACE.unread"
"""As agents write it: the member before, of the same name, could not be read and is none (jobs/agent/home.py)."""
TAKEN_FILES, TAKEN_BYTES = 500, 1 << 30
"""What may be taken over at once."""


class TooMuch(Exception):
    """More than may be taken over at once."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`index` is its place in the archive, `offset` that of its bytes; `detail` where a link leads."""

    index: int
    name: str
    kind: str  # "file", "folder", "link", "other"
    size: int
    mtime: float
    offset: int
    detail: str = ""

    def within(self, folder: str) -> str:
        """Its name from a folder on. Raises ValidationError if it does not lie in it."""
        if not folder:
            return self.name
        if not self.name.startswith(f"{folder}/"):
            raise ValidationError(f"It does not lie in the folder {folder[:80]}.")
        return self.name[len(folder) + 1 :]


@dataclass(frozen=True)
class Item:
    """A line of a folder's list: an entry, or a folder with what is below it."""

    name: str
    path: str
    entry: Entry | None
    files: int = 0
    size: int = 0


@dataclass(frozen=True)
class Contents:
    entries: Sequence[Entry]
    cut: bool

    def folder(self, path: str) -> list[Item]:
        """What lies in a folder: folders first, by name."""
        start, folders, files = f"{path}/" if path else "", OrderedDict[str, list[int]](), []
        for entry in self.entries:
            if not entry.name.startswith(start) or entry.name == path:
                continue
            head, slash, _ = entry.name[len(start) :].partition("/")
            if slash or entry.kind == "folder":
                sums = folders.setdefault(head, [0, 0])
                sums[0] += entry.kind == "file"
                sums[1] += entry.size
            else:
                files.append(Item(head, entry.name, entry, 1, entry.size))
        below = [Item(name, start + name, None, count, size) for name, (count, size) in sorted(folders.items())]
        return below + sorted(files, key=lambda item: item.name)

    def below(self, path: str) -> list[Entry]:
        """Every file in a folder, however deep."""
        return [entry for entry in self.entries if entry.kind == "file" and (not path or entry.name.startswith(f"{path}/"))]

    def at(self, index: int) -> Entry | None:
        return self.entries[index] if 0 <= index < len(self.entries) else None


def contents(copy: HomeCopy) -> Contents:
    """Raises FileNotFoundError if the storage has lost it, ValueError if it is no archive."""
    with _lock:
        known = _kept.get(copy.key)
        if known is None:
            known = _kept[copy.key] = _read(copy)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(copy.key)
    return known


def stretch(copy: HomeCopy, entry: Entry) -> streams.Stretch:
    """The bytes of a file in it."""
    return streams.Stretch(lambda: homes.open_copy(copy), entry.offset, entry.offset + entry.size)


def take(user: Any, copy: HomeCopy, entries: Sequence[Entry], root: str = "") -> tuple[list[StoredFile], list[str]]:
    """Over to the files of a person, named from `root` on; with words for each that could not be. Raises TooMuch, NoRoom."""
    size = sum(entry.size for entry in entries)
    if len(entries) > TAKEN_FILES or size > TAKEN_BYTES:
        raise TooMuch
    taken, wrong = [], []
    for entry in entries:
        try:
            taken.append(_taken(user, copy, entry, clean_path(entry.within(root))))
        except ValidationError as error:
            wrong.append(f"{entry.name[-80:]}: {error.messages[0]}")
    return taken, wrong


# --- private ----------------------------------------------------------------------------------------------------------
def _taken(user: Any, copy: HomeCopy, entry: Entry, name: str) -> StoredFile:
    with homes.open_copy(copy) as file:
        file.seek(entry.offset)
        return storing.keep(user, name, _Slice(file, entry.size), entry.size)  # type: ignore[arg-type]


class _Slice:
    """The next so many bytes of a file, as a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.left = file, size

    def read(self, size: int) -> bytes:
        piece = self.file.read(min(size, self.left))
        self.left -= len(piece)
        return piece


def _read(copy: HomeCopy) -> Contents:
    with homes.open_copy(copy) as file:
        try:
            with tarfile.open(fileobj=file, mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
                return _walked(tar)
        except tarfile.TarError as error:
            raise ValueError(f"not an archive: {error}") from error


def _walked(tar: tarfile.TarFile) -> Contents:
    found: list[Entry] = []
    places: dict[str, int] = {}  # of files, by their names in the archive
    for info, name in _named(tar):
        if UNREAD in info.pax_headers:
            if found and places.get(info.name) == len(found) - 1:
                found.pop(places.pop(info.name))
            continue
        if len(found) >= MOST:
            return Contents(found, True)
        first = found[places[info.linkname]] if info.islnk() and info.linkname in places else None
        if info.isreg() or first:
            places[info.name] = len(found)
        if first:
            found.append(replace(first, index=len(found), name=name))
            continue
        kind = "file" if info.isreg() else "folder" if info.isdir() else "link" if info.issym() or info.islnk() else "other"
        detail = names.shown(info.linkname) if kind == "link" else ""
        found.append(Entry(len(found), name, kind, info.size if kind == "file" else 0, float(info.mtime), info.offset_data, detail))
    return Contents(found, False)


def _named(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, str]]:
    """Members whose names lie inside; what is read is let go, so that memory holds places only."""
    while (info := tar.next()) is not None:
        tar.members = []  # type: ignore[attr-defined]
        parts = [part for part in info.name.split("/") if part not in ("", ".")]
        if parts and ".." not in parts:
            yield info, names.shown("/".join(parts))


_kept: OrderedDict[str, Contents] = OrderedDict()
_lock = Lock()

"""What validators see and say: Inputs, Request, Finding.

A validator reads the inputs before hardware is paid for. The one idea to know: it sees names, sizes and bytes
only through Inputs, so that a folder, the storage and a packed archive look the same to it, it never follows a
path out of the job folder, and it says nothing about what it does not understand.
"""

from __future__ import annotations

import difflib
import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable


class Severity(StrEnum):
    ERROR = "error"  # refused
    WARNING = "warning"  # shown, goes on


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, where it is, and the remedy.

    `fix` names a fix that is safe with one click: strip-bom, unix-line-ends, executable, rename:<to>, ranks:<n>.
    """

    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    thing: str = ""
    remedy: str = ""
    fix: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "severity": str(self.severity)}


def error(message: str, **more: Any) -> Finding:
    return Finding(Severity.ERROR, message, **more)


def warning(message: str, **more: Any) -> Finding:
    return Finding(Severity.WARNING, message, **more)


@runtime_checkable
class Inputs(Protocol):
    """The files of a job by their relative POSIX names, as the job folder will hold them."""

    def names(self) -> Sequence[str]: ...

    def size(self, name: str) -> int: ...

    def open(self, name: str) -> BinaryIO: ...


class Folder:
    """Inputs that lie in a folder. Links that lead out of it, sockets, fifos and devices are in `skipped`, never opened."""

    def __init__(self, path: str | os.PathLike[str], limit: int = 1_000_000) -> None:
        self.path = Path(path)
        self.skipped: list[tuple[str, str]] = []
        self.folders: list[str] = []
        self._sizes: dict[str, int] = {}
        self._modes: dict[str, int] = {}
        self._links: dict[str, str] = {}
        self._walk("", limit)

    def names(self) -> Sequence[str]:
        return list(self._sizes)

    def size(self, name: str) -> int:
        return self._sizes[name]

    def mode(self, name: str) -> int | None:
        return self._modes.get(name)

    def open(self, name: str) -> BinaryIO:
        if name not in self._sizes:
            raise FileNotFoundError(name)
        descriptor = os.open(self._links.get(name) or self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        return os.fdopen(descriptor, "rb")

    def _walk(self, top: str, limit: int) -> None:
        pending = [top]
        while pending and len(self._sizes) < limit:
            folder = pending.pop()
            for entry in _entries(self.path / folder):
                name = posixpath.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    self.folders.append(name)
                    pending.append(name)
                else:
                    self._add(name, entry)

    def _add(self, name: str, entry: os.DirEntry[str]) -> None:
        path = self._inside(entry) if entry.is_symlink() else entry.path
        info = os.lstat(path) if path else entry.stat(follow_symlinks=False)
        if stat.S_ISREG(info.st_mode):
            self._sizes[name] = info.st_size
            self._modes[name] = stat.S_IMODE(info.st_mode)
            self._links.update({name: path} if path and path != entry.path else {})
        else:
            self.skipped.append((name, "symlink" if entry.is_symlink() else "special"))

    def _inside(self, entry: os.DirEntry[str]) -> str | None:
        """Where a link leads, if that is in the folder."""
        real, top = os.path.realpath(entry.path), os.path.realpath(self.path)
        return real if real.startswith(top + os.sep) and os.path.isfile(real) else None


@dataclass(frozen=True)
class StoredFile:
    """`path`: where the bytes lie on this machine, if they do; a child process then reads them by itself."""

    name: str
    size: int
    opener: Callable[[], BinaryIO]
    mode: int | None = None
    path: str | None = None


class Stored:
    """Inputs that lie in a storage: (name, size, opener[, mode[, path]]) for each. The same name twice stays visible."""

    def __init__(self, files: Iterable[StoredFile | tuple[Any, ...]]) -> None:
        listed = [file if isinstance(file, StoredFile) else StoredFile(*file) for file in files]
        self._names = [file.name for file in listed]
        self._files = {file.name: file for file in listed}

    def names(self) -> Sequence[str]:
        return self._names

    def files(self) -> Sequence[StoredFile]:
        return list(self._files.values())

    def size(self, name: str) -> int:
        return self._files[name].size

    def mode(self, name: str) -> int | None:
        return self._files[name].mode

    def open(self, name: str) -> BinaryIO:
        return self._files[name].opener()


@dataclass(frozen=True)
class Request:
    """What is to be validated. `command` holds the lines joined by newlines; `memory` is bytes per node."""

    software: str
    version: str
    command: str
    cores: int
    inputs: Inputs
    nodes: int = 1
    memory: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def mode_of(inputs: Inputs, name: str) -> int | None:
    """Permission bits of one input; None where its source does not know them."""
    ask = getattr(inputs, "mode", None)
    return ask(name) if ask else None


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant: equal but for case, in another folder, or alike; else None."""
    names = list(names)
    for same in (str.lower, posixpath.basename, lambda text: posixpath.basename(text).lower()):
        found = [name for name in names if same(name) == same(word)]
        if found:
            return min(found, key=len)
    by_name = {posixpath.basename(name): name for name in reversed(names[:20_000])}
    close = difflib.get_close_matches(posixpath.basename(word), list(by_name)[:5_000], 1, 0.75)
    return by_name[close[0]] if close else None


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first, otherwise in the order found; what was said before is not said again."""
    unique = list(dict.fromkeys(findings))
    return sorted(unique, key=lambda finding: finding.severity != Severity.ERROR)


def _entries(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []

"""The job folder as it will be when a step of the command begins: the inputs and what earlier steps made.

The one idea to know: `exists` has three answers. None means that a program which we do not know ran before and may
have made anything; then nobody says that a file is missing.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable

from .base import nearest

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\|[A-Za-z]:[^/\\]*\.\w+$")
_SYSTEM = ("/usr/", "/opt/", "/etc/", "/bin/", "/sbin/", "/lib", "/proc/", "/sys/", "/dev/", "/apps/", "/sw/",
           "/software/", "/cvmfs/", "/nix/", "/snap/")  # fmt: skip


def is_windows(path: str) -> bool:
    """A path of a Windows machine: a drive, or a share."""
    return bool(_DRIVE.match(path))


def is_system(path: str) -> bool:
    """An absolute path that may well be there on a node: where programs are installed."""
    return path.startswith(_SYSTEM)


def resolve(cwd: str, path: str) -> str | None:
    """The name inside the job folder; None if the path is absolute or leads out of the folder."""
    if path.startswith(("/", "~")):
        return None
    name = posixpath.normpath(posixpath.join(cwd, path))
    if name == ".." or name.startswith("../"):
        return None
    return "" if name == "." else name


class Tree:
    def __init__(self, names: Iterable[str], folders: Iterable[str] = ()) -> None:
        self.inputs = frozenset(names)
        self.folders = frozenset(_parents(self.inputs)) | frozenset(folders)
        self.made: frozenset[str] = frozenset()
        self.patterns: tuple[str, ...] = ()
        self.anything = False

    def copy(self) -> Tree:
        """A picture of this moment; sets are shared, they are never changed in place."""
        other = object.__new__(Tree)
        other.__dict__.update(self.__dict__)
        return other

    def make(self, *names: str) -> None:
        patterns = [name for name in names if any(char in name for char in "*?[")]
        plain = set(names) - set(patterns)
        self.patterns += tuple(pattern for pattern in patterns if pattern not in self.patterns)
        self.made |= plain | _parents(plain)

    def exists(self, name: str) -> bool | None:
        """A file or folder of this name: True, False, or None where nobody can know."""
        if name in self.inputs or name in self.folders or name in self.made or name == "":
            return True
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.patterns):
            return True
        return None if self.anything else False

    def is_folder(self, name: str) -> bool | None:
        if name in self.folders or name == "":
            return True
        if name in self.inputs:
            return False
        return True if name in self.made else self.exists(name)

    def matches(self, pattern: str) -> list[str]:
        return [name for name in (*self.inputs, *self.folders) if fnmatch.fnmatchcase(name, pattern)]

    def nearest(self, name: str) -> str | None:
        return nearest(name, sorted(self.inputs | self.made))

    def nearest_folder(self, name: str) -> str | None:
        return nearest(name, sorted(self.folders | _parents(self.made)))


def _parents(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        parent = posixpath.dirname(name)
        while parent and parent not in found:
            found.add(parent)
            parent = posixpath.dirname(parent)
    return found

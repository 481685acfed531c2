"""The folders of clusters on this machine: their names, their marks, their locks.

The one idea: the name of a folder is the token and its prefix the phase, changed by rename alone, so whatever dies
between two steps leaves something that can be read off the names:

    .new-TOKEN    being prepared, nothing was started
    TOKEN         exists; cluster.json says what was asked for, the file `created` that every agent was started
    .gone-TOKEN   being removed, nothing of it runs
    .locks/TOKEN  held while one of the calls works on the token
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from .base import TryAgain

TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")

MARK = "cluster.json"
CREATED = "created"
NEW, GONE = ".new-", ".gone-"
_LOCKS = ".locks"
ADDRESS = ".portal"
"""Where the portal is now, for agents that were started with another address."""


class Folders:
    """`home` holds a folder per cluster and nothing else. Users of clusters may pass through it, not look into it."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def path(self, token: str) -> Path:
        return self.home / token

    def new(self, token: str) -> Path:
        return self.home / (NEW + token)

    def gone(self, token: str) -> Path:
        return self.home / (GONE + token)

    def has(self, token: str) -> bool:
        """In whatever phase."""
        return any(path.exists() for path in (self.path(token), self.new(token), self.gone(token)))

    def tokens(self) -> set[str]:
        """Of every folder with our mark, in whatever phase. OSError where it can't be read.

        Read twice, since a folder that is renamed in that moment may be missed once.
        """
        found = [name for _ in range(2) for name in self._names() if self._is_ours(name)]
        return {name.removeprefix(NEW).removeprefix(GONE) for name in found}

    def live(self) -> Iterator[dict[str, Any]]:
        """What was asked for by every cluster that is not being removed; one that can't be read asks for nothing."""
        for name in self._names():
            if not name.startswith(".") and self._is_ours(name):
                yield self.mark(name)

    def mark(self, token: str) -> dict[str, Any]:
        try:
            found = json.loads((self.path(token) / MARK).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def prepare(self) -> None:
        """Make what holds the clusters."""
        make(self.home, 0o711)
        make(self.home / _LOCKS, 0o700)

    def lock(self, name: str, wait: float) -> AbstractContextManager[Path]:
        """Alone with a token, or with the name ".all"."""
        return locked(self.home / _LOCKS / name, wait)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.home)
        except FileNotFoundError:
            return []

    def _is_ours(self, name: str) -> bool:
        if name.startswith((NEW, GONE)):
            return bool(TOKEN.fullmatch(name.removeprefix(NEW).removeprefix(GONE)))
        return bool(TOKEN.fullmatch(name)) and (self.home / name / MARK).exists()


@contextmanager
def locked(path: Path, wait: float) -> Iterator[Path]:
    """Alone among all threads and processes; TryAgain after `wait` seconds. Inside, the file may be removed."""
    held = _lock(path, time.monotonic() + wait)
    try:
        yield path
    finally:
        os.close(held)


def make(folder: Path, mode: int, uid: int = -1) -> None:
    """A folder with exactly this mode and owner; parents that are missing can be passed through by everybody."""
    try:
        folder.mkdir()
    except FileNotFoundError:
        make(folder.parent, 0o711)
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        pass
    os.chmod(folder, mode)
    os.chown(folder, uid, uid)


def write(path: Path, value: Any) -> None:
    """A file that only its owner reads, replaced whole."""
    new = path.with_name(path.name + ".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(value, file)
    os.replace(new, path)


def _lock(path: Path, deadline: float) -> int:
    while True:
        held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, held):
                return held
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(held)
                raise TryAgain("another call works on this cluster") from None
            time.sleep(0.01)
        os.close(held)


def _is_still(path: Path, held: int) -> bool:
    """Whether the file that was locked is the one that others will find: its last holder may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(held))
    except FileNotFoundError:
        return False

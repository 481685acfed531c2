"""Unprivileged users for clusters: numbers of a range that no account uses, each for one living cluster at a time.

The one idea: who has a number is a link UID -> folder of the cluster in one folder of the machine, made atomically, so
two portals on one machine never give out the same one. A number is given back by whoever removed the cluster.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from . import local_ipc
from . import local_processes as processes
from .base import TryAgain
from .local_folders import GONE, locked, make
from .local_removal import remove

SHARED = ("/tmp", "/tmp/.X11-unix", "/var/tmp", "/dev/shm")


class Uids:
    """The range first..last, given out round and round so that a number rests as long as possible."""

    def __init__(self, first: int, last: int, folder: Path) -> None:
        self.first, self.last, self._folder = first, last, folder

    def works(self) -> bool:
        """Whether numbers can be noted here."""
        try:
            make(self._folder, 0o700)
        except OSError:
            return False
        return os.access(self._folder, os.W_OK)

    def take(self, cluster: Path) -> int:
        """The number of this cluster's folder, the same at every call. TryAgain if all are taken."""
        make(self._folder, 0o700)
        with locked(self._folder / "lock", wait=10):
            known = self.of(cluster)
            if known is not None:
                return known
            for uid in self._in_turn():
                if self._claim(uid, cluster):
                    return uid
        raise TryAgain(f"all users from {self.first} to {self.last} are taken by other clusters")

    def of(self, cluster: Path) -> int | None:
        for uid, owner in self._taken().items():
            if owner == cluster:
                return uid
        return None

    def clusters(self, home: Path) -> set[str]:
        """Names of the folders in `home` that have a number, whether they still exist or not."""
        return {owner.name for owner in self._taken().values() if owner.parent == home}

    def end(self, uid: int) -> processes.Belongs:
        """SIGKILL to all that runs as this user now; returns the sign by which what is left can be told."""
        if not self.first <= uid <= self.last:
            raise ValueError(f"{uid} is not ours to end")
        processes.end_all_of(uid)
        return processes.runs_as(uid)

    def clear(self, uid: int, deadline: float) -> bool:
        """Remove what the user left outside of its cluster, for its next bearer not to find it."""
        files = all(remove(Path(place), name, deadline) for place in SHARED for name in _owned(place, uid))
        return local_ipc.clear(uid) and files

    def give_back(self, uid: int) -> None:
        (self._folder / str(uid)).unlink(missing_ok=True)

    def _in_turn(self) -> list[int]:
        everyone = list(range(self.first, self.last + 1))
        try:
            start = int((self._folder / "lock").read_text()) + 1 - self.first
        except (OSError, ValueError):
            start = 0
        return everyone[start:] + everyone[:start]

    def _claim(self, uid: int, cluster: Path) -> bool:
        link = self._folder / str(uid)
        if _has_account(uid) or (os.path.lexists(link) and not self._is_stale(link, uid)):
            return False
        link.unlink(missing_ok=True)
        os.symlink(cluster, link)
        (self._folder / "lock").write_text(str(uid))
        return True

    def _is_stale(self, link: Path, uid: int) -> bool:
        """Its cluster was removed by somebody else's hand, and nobody runs as it."""
        try:
            owner = Path(os.readlink(link))
        except OSError:
            return False
        if os.path.lexists(owner) or os.path.lexists(owner.with_name(GONE + owner.name)):
            return False
        return not self._runs(uid)

    def _runs(self, uid: int) -> bool:
        runs = processes.runs_as(uid)
        return any(runs(pid) and processes.start_time(pid) for pid in processes.pids())

    def _taken(self) -> dict[int, Path]:
        taken = {}
        for name in _listed(self._folder):
            if name.isdigit() and self.first <= int(name) <= self.last:
                try:
                    taken[int(name)] = Path(os.readlink(self._folder / name))
                except OSError:
                    continue
        return taken


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
        return True
    except KeyError:
        return False


def _owned(place: str, uid: int) -> list[str]:
    return [name for name in _listed(place) if _owner(os.path.join(place, name)) == uid]


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def _listed(place: str | Path) -> list[str]:
    try:
        return os.listdir(place)
    except OSError:
        return []

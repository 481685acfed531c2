"""Walls between the commands of clusters on this machine, its portal, and each other.

The one idea: a wall counts only after it was tried on this machine. Root gives every cluster an unprivileged uid of its
own; without root bubblewrap, else Landlock; else there is none, and the portal says so.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from .local_folders import make
from .local_uids import Uids

KINDS = ("uid", "bwrap", "landlock", "none")
READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys")
SIGNALS = "TERM,INT,HUP,QUIT,USR1,USR2"


class Sandbox(Protocol):
    """`name` is one of KINDS, `about` a few words for people."""

    name: str
    about: str

    def prepare(self, token: str, folder: Path) -> dict[str, Any]:
        """Make `work` and `tmp` in a cluster's folder; the part of the agents' start file that puts up the wall."""
        ...


class OwnUid:
    """An unprivileged user per cluster, who owns its folders."""

    name = "uid"
    about = "a user of its own for every cluster"

    def __init__(self, uids: Uids) -> None:
        self._uids = uids

    def prepare(self, token: str, folder: Path) -> dict[str, Any]:
        uid = self._uids.take(folder)
        _make_both(folder, uid)
        return {"run_as": {"uid": uid, "gid": uid}}

    @staticmethod
    def works(uids: Uids) -> bool:
        """Root in name may lack the right, and a container may lack the uids."""
        if os.geteuid() != 0:
            return False
        try:
            done = subprocess.run(["/bin/sh", "-c", "exit 0"], user=uids.first, group=uids.first, extra_groups=[], timeout=10, check=False)
        except (OSError, ValueError, subprocess.SubprocessError):
            return False
        return done.returncode == 0 and uids.works()


class Bubblewrap:
    """Its own view of the files and its own processes; the network is shared.

    A stop signals every process of the command, and if bwrap died of it, it would take all others with it at once. So
    it is started with the signals ignored, and they are set back inside, where `env` can do that (coreutils 8.31).
    """

    name = "bwrap"
    about = "bubblewrap"

    def __init__(self, readable: Sequence[str] = ()) -> None:
        self._program = shutil.which("bwrap") or "bwrap"
        self._env = shutil.which("env") or "env"
        self._readable = (*READABLE, *readable)
        self._survives_signals = True

    def prepare(self, token: str, folder: Path) -> dict[str, Any]:
        _make_both(folder)
        return {"wrap": self.wrap(str(folder / "work"), str(folder / "tmp"))}

    def wrap(self, work: str, tmp: str) -> list[str]:
        words = [self._program, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent"]
        words += ["--new-session", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        for path in self._readable:
            if os.path.islink(path):
                words += ["--symlink", os.readlink(path), path]
            elif os.path.exists(path):
                words += ["--ro-bind", path, path]
        words += ["--bind", work, work, "--bind", tmp, tmp, "--chdir", work, "--"]
        if not self._survives_signals:
            return words
        return [self._env, f"--ignore-signal={SIGNALS}", *words, self._env, f"--default-signal={SIGNALS}"]

    def works(self, folder: Path) -> bool:
        """Run it once, with all that a cluster would get."""
        if self._runs(str(folder)):
            return True
        self._survives_signals = False
        return self._runs(str(folder))

    def _runs(self, place: str) -> bool:
        try:
            command = [*self.wrap(place, place), "/bin/sh", "-c", "exit 0"]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.SubprocessError):
            return False
        return done.returncode == 0


class Landlock:
    """The kernel lets the command reach only these paths."""

    name = "landlock"
    about = "Landlock (files only)"

    def __init__(self, readable: Sequence[str] = ()) -> None:
        self._readable = (*READABLE, "/proc", "/dev", *readable)

    def prepare(self, token: str, folder: Path) -> dict[str, Any]:
        _make_both(folder)
        devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"]
        return {"landlock": {"rw": [str(folder / "work"), str(folder / "tmp"), *devices], "ro": list(self._readable)}}

    @staticmethod
    def works() -> bool:
        """Ask the kernel for the version it speaks: landlock_create_ruleset(NULL, 0, 1), number 444 everywhere."""
        call = ctypes.CDLL(None, use_errno=True).syscall
        return int(call(ctypes.c_long(444), None, ctypes.c_size_t(0), ctypes.c_uint(1))) >= 1


class NoSandbox:
    """A command can do what the portal's user can."""

    name = "none"
    about = "none: commands run with the rights of the portal's user"

    def prepare(self, token: str, folder: Path) -> dict[str, Any]:
        _make_both(folder)
        return {}


def choose(uids: Uids, probe: Path, readable: Sequence[str], kinds: Sequence[str] = KINDS) -> Sandbox:
    """The best of these kinds that works here. `probe` is a folder of ours to try it on."""
    if "uid" in kinds and OwnUid.works(uids):
        return OwnUid(uids)
    bubblewrap = Bubblewrap(readable)
    if "bwrap" in kinds and bubblewrap.works(probe):
        return bubblewrap
    if "landlock" in kinds and Landlock.works():
        return Landlock(readable)
    return NoSandbox()


def _make_both(folder: Path, uid: int = -1) -> None:
    for name in ("work", "tmp"):
        make(folder / name, 0o700, uid)

"""Processes of a cluster on this machine: who is alive, who belongs to it, and their end.

The one idea: a pid alone proves nothing. A process is known by pid and start time, a zombie is dead (init may reap
late), and a process is signalled through a descriptor that was taken before it was looked at.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

Belongs = Callable[[int], bool]

_QUIET_LOOKS = 3


def alive(mark: Path) -> bool:
    """Whether the process noted in a file as "PID STARTTIME" (field 22 of its stat) is alive."""
    try:
        pid, started = mark.read_text().split()
        return int(started) == start_time(int(pid))
    except (OSError, ValueError):
        return False


def start_time(pid: int) -> int | None:
    """In ticks since boot; None of what is gone or a zombie."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def pids() -> Iterator[int]:
    """All processes but this one, zombies too."""
    own = str(os.getpid())
    for name in os.listdir("/proc"):
        if name.isdigit() and name != own:
            yield int(name)


def carries(token: str) -> Belongs:
    """Processes started with HEADRACE_TOKEN=token in their environment."""
    wanted = f"\0HEADRACE_TOKEN={token}\0".encode()
    return lambda pid: wanted in b"\0" + _read(pid, "environ")


def runs_as(uid: int) -> Belongs:
    """Processes with this uid as real, effective, saved or file system uid."""
    wanted = str(uid).encode()
    return lambda pid: wanted in _uids(pid)


def works_in(folder: Path) -> Belongs:
    """Processes in this folder without a terminal: whoever looks around in a shell there is left alone."""
    inside = os.path.realpath(folder) + "/"

    def belongs(pid: int) -> bool:
        try:
            here = os.readlink(f"/proc/{pid}/cwd").removesuffix(" (deleted)") + "/"
        except OSError:
            return False
        fields = _stat(pid)
        return here.startswith(inside) and bool(fields) and fields[4] == "0"

    return belongs


def in_cgroup(path: str) -> Belongs:
    """Processes in a cgroup below this path, in whichever hierarchy."""
    wanted = path.encode()
    return lambda pid: wanted in _read(pid, "cgroup")


def started_with(argument: str) -> Belongs:
    """Processes with this among the words they were started with."""
    wanted = b"\0" + argument.encode() + b"\0"
    return lambda pid: wanted in _read(pid, "cmdline") and start_time(pid) is not None


def end(belongs: Belongs, deadline: float) -> bool:
    """SIGKILL until none is left; False if some are when time.monotonic() reaches the deadline.

    A look at /proc takes time, and a process that forks and exits in just that moment is missed by it, parent and child.
    An agent does so twice while it goes into the background, so it takes three looks in a row that find nobody.
    """
    quiet = 0
    while quiet < _QUIET_LOOKS:
        found = [pid for pid in pids() if belongs(pid) and _kill(pid, belongs)]
        quiet = 0 if found else quiet + 1
        if found and time.monotonic() >= deadline:
            return False
        if found:
            time.sleep(0.005)
    return True


def end_all_of(uid: int) -> None:
    """SIGKILL to every process of an unprivileged uid in one call, which no fork can outrun."""
    if uid < 1000:
        raise ValueError(f"uid {uid} is the system's")
    command, nothing = ["/bin/sh", "-c", "kill -9 -1"], subprocess.DEVNULL
    with suppress(OSError, subprocess.SubprocessError):  # it may be stopped by them: `end` looks again, needing nobody
        subprocess.run(
            command, user=uid, group=uid, extra_groups=[], cwd="/", env={},
            stdin=nothing, stdout=nothing, stderr=nothing, timeout=2, check=False,
        )  # fmt: skip


def _kill(pid: int, belongs: Belongs) -> bool:
    """Signal it, provided that it still is who it was. Whether there was somebody alive to signal."""
    descriptor = None
    try:
        descriptor = _held(pid)
        if start_time(pid) is None or not belongs(pid):
            return False
        if descriptor is None:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False
    except PermissionError:  # not ours to end, yet there: it counts as left
        return True
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _held(pid: int) -> int | None:
    """A descriptor that stays this process whatever becomes of the number; None where the kernel has none (before 5.3)."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except (OSError, AttributeError):
        return None


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third one on; the second may hold anything, brackets too."""
    return _read(pid, "stat").rpartition(b")")[2].decode().split()


def _uids(pid: int) -> list[bytes]:
    """Real, effective, saved and file system uid."""
    _, found, rest = _read(pid, "status").partition(b"\nUid:")
    return rest.partition(b"\n")[0].split() if found else []


def _read(pid: int, name: str) -> bytes:
    """A file of /proc, or nothing of a process that is gone; without Python's buffers, for a look reads hundreds."""
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)

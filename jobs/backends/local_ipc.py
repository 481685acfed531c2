"""System V shared memory, semaphores and queues of a user: they outlive its processes, and shared memory is memory.

The one idea: the kernel lists them in /proc/sysvipc with the uid of owner and maker; one call each takes them away.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

_REMOVE = 0  # IPC_RMID, linux/ipc.h


def clear(uid: int) -> bool:
    """Remove what this user owns or made; False if something stays."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in _of(uid, "shm"):
        libc.shmctl(number, _REMOVE, None)
    for number in _of(uid, "sem"):
        libc.semctl(number, 0, _REMOVE)
    for number in _of(uid, "msg"):
        libc.msgctl(number, _REMOVE, None)
    return not any(_of(uid, kind) for kind in ("shm", "sem", "msg"))


def _of(uid: int, kind: str) -> list[int]:
    try:
        head, *lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
    except (OSError, ValueError):  # a kernel without them
        return []
    names = head.split()
    rows = [dict(zip(names, line.split(), strict=False)) for line in lines]
    number = {"shm": "shmid", "sem": "semid", "msg": "msqid"}[kind]
    return [int(row[number]) for row in rows if str(uid) in (row["uid"], row["cuid"])]

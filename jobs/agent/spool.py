"""The command's output on disk, and how it is kept from filling the disk.

The one idea: the command writes straight into one growing file. Past head + tail the middle is given back to the file
system by punching holes; offsets stay true, and head and tail stay byte for byte.
"""
import ctypes
import os
from typing import Callable

STDOUT = "stdout"
HEAD, TAIL = 1 << 30, 64 << 20  # bytes kept when the spec names no limits
_KEEP_SIZE, _PUNCH_HOLE = 1, 2  # linux/falloc.h
_STEP = 16 << 20  # bytes that make a hole worth while

_libc = ctypes.CDLL(None, use_errno=True)


class Spool:
    """The output file and its hole. `head` and `tail` are in bytes."""

    def __init__(self, path: str, head: int, tail: int, log: Callable[[str], None]) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._head, self._tail, self._log = head, tail, log
        self._punched = head
        self._works = True

    @property
    def full(self) -> bool:
        """Whether the file is past what is kept, so that it wants to be looked at often."""
        return os.fstat(self.fd).st_size > self._head + self._tail

    def trim(self) -> None:
        """Gives back what lies between head and tail by now."""
        end = os.fstat(self.fd).st_size - self._tail
        if self._works and end - self._punched >= _STEP:
            self._works = _punch(self.fd, self._punched, end - self._punched)
            self._punched = end
            if not self._works:
                self._log("this file system has no holes: the output's file grows as the output does")

    def close(self) -> None:
        os.close(self.fd)


def limits(spec: object) -> "tuple[int, int]":
    """(head, tail) of a spec."""
    values = spec if isinstance(spec, dict) else {}
    return int(values.get("log_head") or HEAD), int(values.get("log_tail") or TAIL)


def _punch(fd: int, start: int, length: int) -> bool:
    offsets = ctypes.c_int64(start), ctypes.c_int64(length)
    return _libc.fallocate(ctypes.c_int(fd), ctypes.c_int(_KEEP_SIZE | _PUNCH_HOLE), *offsets) == 0

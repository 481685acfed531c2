"""Durable marks: small files in the agent's folder that say how far a command has come.

The one idea: a mark is on disk (file and folder synced) before the act that it names, so that after any death
`started` without an end means "lost", and never "run it again".
"""
import contextlib
import json
import os
import time
from typing import Any, Dict, Optional

STARTED = "started"  # {"pid", "starttime", "clock", "monotonic", "boot"}: written before the command's exec
ENDED = "ended"  # the command's own exit, while its tree may still be alive
EXIT = "exit.json"  # the report of the exit: nothing of the command is alive
STAGED = "staged"  # inputs are in place
RELEASED = "released"  # the portal let us go: nothing is left to do
LOCK = "lock"  # held while holder or reporter live
_RESERVE = "reserve"


def write(folder: str, name: str, value: Any) -> None:
    """Writes a mark and syncs it. A full disk gets the reserved block back first."""
    path = os.path.join(folder, name)
    data = json.dumps(value).encode("ascii")
    try:
        _write(path, data)
    except OSError:
        forget(folder, _RESERVE)
        _write(path, data)
    _sync_folder(folder)


def read(folder: str, name: str) -> Optional[Dict[str, Any]]:
    """The mark's value, or None without one."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return json.loads(file.read().decode("ascii"))
    except (OSError, ValueError):
        return None


def exists(folder: str, name: str) -> bool:
    """Whether the mark was set, readable or not."""
    return os.path.exists(os.path.join(folder, name))


def forget(folder: str, name: str) -> None:
    """Takes a mark back; it may be missing."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, name))


def save(folder: str, name: str, value: Any) -> None:
    """Like write, but not synced: for what may be asked again after a crash of the machine."""
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


def try_save(folder: str, name: str, value: Any) -> None:
    """Saves what only spares work later: a command that filled the disk must not keep its results from being sent."""
    with contextlib.suppress(OSError):
        save(folder, name, value)


def taken_away(folder: str) -> bool:
    """Whether the agent's folder was removed under it: then the cluster is destroyed, and so is all that runs in it."""
    try:
        os.stat(os.path.join(folder, LOCK))
    except FileNotFoundError:
        return True
    except OSError:
        return False  # a file system that has its troubles
    return False


def reserve(folder: str) -> None:
    """Keeps 64 KB of the disk for the marks of the end."""
    if not exists(folder, _RESERVE):
        try:
            _write(os.path.join(folder, _RESERVE), b"\1" * 65536)
        except OSError:
            forget(folder, _RESERVE)


def boot_id() -> str:
    """Names this boot of the machine: process ids and monotonic times mean nothing in another."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def now() -> Dict[str, Any]:
    """The moment, by both clocks."""
    return {"clock": time.time(), "monotonic": time.monotonic(), "boot": boot_id()}


def _write(path: str, data: bytes) -> None:
    with open(path + ".new", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def _sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

"""Where stored bytes lie on this machine, and how they get there without being written twice.

One idea: storage may be a folder or a service; only here is asked which.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import default_storage

SPARE = 256 << 20
"""Bytes of the disk that stay free of what is sent: without them logs and the database would stand still."""


def path_of(key: str) -> str | None:
    """A path, if storage is a folder; None where it is a service."""
    try:
        return default_storage.path(key)
    except NotImplementedError:
        return None


def holds(key: str, size: int) -> bool:
    """Whether storage still has that many bytes under the key. Raises what a service that is away raises."""
    try:
        return default_storage.size(key) == size
    except (FileNotFoundError, NotADirectoryError):
        return False


def lacks(key: str, size: int) -> bool:
    """Whether storage is a folder in which somebody deleted or cut it. A service is not asked: it loses nothing."""
    return path_of(key) is not None and not holds(key, size)


def moved(part: Path, key: str) -> str:
    """Move a complete file into storage; its key there. Raises FileNotFoundError where it has gone already."""
    target = path_of(key)
    if target is None:
        with part.open("rb") as file:
            key = default_storage.save(key, File(file))
        part.unlink()
        return key
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    os.replace(part, target)
    return key


def room(folder: Path) -> int:
    """Bytes that may still be written on the disk of `folder`; less than none if SPARE is used already."""
    return shutil.disk_usage(folder).free - SPARE


def full_disk() -> OSError:
    """What writing to a disk raises that is full."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def is_full(error: OSError) -> bool:
    """Whether that is why: a full disk, or a quota."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)

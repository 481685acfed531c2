"""The data folder: its lock, its sub-folders, who may look into them.

One idea: commands of users run under other user ids and have to walk through the data folder to their cluster's folder,
so the folder itself may be passed but not listed (711), and everything of the portal in it is closed (700, files 600).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from django.conf import settings

from jobs.checks import NETWORK_FILE_SYSTEMS, file_system_of

from . import Refusal

PASSABLE = 0o711
CLOSED = 0o700


def prepare(data: Path) -> IO[str]:
    """Make the data folder and lock it. The lock holds while the returned file is open. Raises Refusal."""
    _make(data, PASSABLE)
    kind = file_system_of(data) if settings.SQLITE else ""
    if kind in NETWORK_FILE_SYSTEMS:
        raise Refusal(f"The data folder {data} lies on {kind}; SQLite needs a local disk. Set --data or DATABASE_URL")
    _make(run(data), CLOSED)
    lock = _lock(run(data) / "lock", data)
    for folder in closed(data):
        _make(folder, CLOSED)
    _make(settings.CLUSTERS_DIR, PASSABLE)
    _close_files(data)
    return lock


def run(data: Path) -> Path:
    """Where sockets, the lock and the list of processes live."""
    return data / "run"


def log(data: Path) -> Path:
    """Where what the children print is kept."""
    return data / "log"


def closed(data: Path) -> Iterable[Path]:
    return [log(data), settings.LOGS_DIR, settings.FILES_DIR, settings.UPLOADS_DIR, settings.STATIC_ROOT]


def _make(folder: Path, mode: int) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(mode)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise Refusal(f"The folder {folder} cannot be written: {error.strerror}") from None


def _lock(path: Path, data: Path) -> IO[str]:
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise Refusal(f"The data folder {data} is in use by another `up` (process {file.read().strip() or 'unknown'})") from None
    except OSError as error:
        raise Refusal(f"The data folder {data} cannot be locked: {error.strerror}") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _close_files(data: Path) -> None:
    """The database exists with mode 600 before SQLite opens it: its journals get the same mode."""
    paths = [data / "secret_key"]
    if settings.SQLITE:
        database = Path(settings.DATABASES["default"]["NAME"])
        database.touch(mode=0o600)
        paths += [database, *database.parent.glob(database.name + "-*")]
    for path in paths:
        if path.exists():
            path.chmod(0o600)

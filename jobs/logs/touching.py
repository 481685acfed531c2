"""When work was last seen in a session, by its sign: the time of a file beside its logs, so that a key costs no row."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

INPUT = "input"
"""Somebody typed, clicked or moved the mouse. Other signs are in jobs.idleness."""


def touched(directory: Path, sign: str = INPUT, at: float | None = None) -> None:
    """There was work at `at` (unix seconds of the portal's clock; now if not given). Never goes back in time."""
    path = directory / sign
    at = time.time() if at is None else at
    if _time_of(path) >= at:
        return
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        directory.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.utime(fd, (at, at))
    finally:
        os.close(fd)


def last_touched(directory: Path, sign: str = INPUT) -> datetime | None:
    """When it was, or None if never in this attempt."""
    at = _time_of(directory / sign)
    return datetime.fromtimestamp(at, UTC) if at else None


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

"""When somebody was last at work in a session: the time of a file beside its logs, so that a key costs no row."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

_NAME = "input"


def touched(directory: Path) -> None:
    """Somebody was at work now."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / _NAME).touch()


def last_touched(directory: Path) -> datetime | None:
    """When it was, or None if never in this attempt."""
    try:
        return datetime.fromtimestamp((directory / _NAME).stat().st_mtime, UTC)
    except OSError:
        return None

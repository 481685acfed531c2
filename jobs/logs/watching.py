"""Who is looking: a mark that a stream is on somebody's screen, so that its node reports it quickly.

The one idea: a mark is a small file whose time of change is when somebody last looked. It ends by
itself, whatever dies, and every web process sees it.
"""

import os
import time
from pathlib import Path

from jobs.logs.names import encode

LASTS = 30.0  # seconds; whoever watches renews the mark at least every 10 s
FILE = "file:"  # streams with this prefix are files of the job that somebody tails


def watch(directory: Path, stream: str, now: float | None = None) -> bool:
    """Marks a stream as watched; true if it was not until now (then the agent is worth waking)."""
    now = time.time() if now is None else now
    path = directory / "watched" / encode(stream)
    fresh = not _is_fresh(path, now)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.fsencode(stream))
    os.utime(path, (now, now))
    return fresh


def watched(directory: Path, now: float | None = None) -> list[str]:
    """The streams that somebody watches now, by name; tailed files are "file:relative/path"."""
    now = time.time() if now is None else now
    try:
        found = list((directory / "watched").iterdir())
    except FileNotFoundError:
        return []
    return sorted(os.fsdecode(path.read_bytes()) for path in found if _is_fresh(path, now))


def watch_mark(directory: Path) -> int:
    """A number that grows whenever somebody begins to look or looks again: whole seconds of the newest mark."""
    try:
        return max((int(path.stat().st_mtime) for path in (directory / "watched").iterdir()), default=0)
    except FileNotFoundError:
        return 0


def _is_fresh(path: Path, now: float) -> bool:
    try:
        return now - path.stat().st_mtime < LASTS
    except FileNotFoundError:
        return False

"""Who is connected to a workstation, for its page: a small file beside its logs, written by the process that carries them.

All viewers of one workstation meet in one process (see the package), so there is one writer; pages may be anywhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jobs import logs
from portal.live import hub

from .access import Way

_here: dict[str, list[Way]] = {}


@contextmanager
def connected(way: Way) -> Iterator[None]:
    """Counts somebody as connected until the block ends."""
    ways = _here.setdefault(way.public_id, [])
    ways.append(way)
    _note(way)
    try:
        yield
    finally:
        ways.remove(way)
        _note(way)
        if not ways:
            _here.pop(way.public_id, None)


def viewers(public_id: str, attempt: int) -> list[dict[str, str]]:
    """[{"viewer": words, "mode": "act" or "look"}], each person once."""
    try:
        found = json.loads(_path(public_id, attempt).read_text())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _note(way: Way) -> None:
    """Never in the way of a connection: without room on the disk the page only says less."""
    rows = {(one.viewer, one.mode) for one in _here.get(way.public_id, [])}
    path = _path(way.public_id, way.attempt)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps([{"viewer": viewer, "mode": mode} for viewer, mode in sorted(rows)]))
        os.replace(fresh, path)
    hub.publish(f"workstation:{way.public_id}", {"viewers": len(rows)})


def _path(public_id: str, attempt: int) -> Path:
    return logs.attempt_dir(public_id, attempt) / "viewers.json"

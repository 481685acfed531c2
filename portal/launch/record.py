"""The list of running processes that `up` keeps for `status`.

One idea: a process is its id together with its start time (field 22 of /proc/PID/stat), so a number that the kernel gave
to somebody else is never taken for one of ours; a zombie counts as dead.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "processes.json"


@dataclass(frozen=True)
class Entry:
    name: str
    pid: int
    since: float
    started: int
    """Kernel's start time in clock ticks since boot."""


def write(folder: Path, entries: list[Entry]) -> None:
    fresh = folder / f".{NAME}.{os.getpid()}"
    fresh.write_text(json.dumps([asdict(entry) for entry in entries]))
    fresh.replace(folder / NAME)


def read(folder: Path) -> list[Entry] | None:
    """What `up` wrote, dead or alive; None if no `up` runs or ran here."""
    try:
        return [Entry(**entry) for entry in json.loads((folder / NAME).read_text())]
    except (OSError, ValueError, TypeError):
        return None


def remove(folder: Path) -> None:
    (folder / NAME).unlink(missing_ok=True)


def alive(entry: Entry) -> bool:
    return start_time(entry.pid) == entry.started


def start_time(pid: int) -> int | None:
    """None for a process that is not there or dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])

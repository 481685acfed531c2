"""Which bytes of a log are kept: the gaps beside a log file, and what lies between them.

The one idea: a gap is a hole in the file, so offsets stay what they were on the node. It is noted
before the file grows; a note past the file's end belongs to a call that was cut short and will come
again.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from jobs.logs.names import beside

REASON = 500  # characters


@dataclass(frozen=True)
class Gap:
    """Bytes that were written on the node and are not kept: from `start` up to `end`."""

    start: int
    end: int
    reason: str


def length(path: Path) -> int:
    """Bytes of a log file; 0 before the first one came."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def note(path: Path, gap: Gap) -> None:
    """Appends a gap to the notes of a log file."""
    with beside(path, "gaps").open("a") as file:
        file.write(json.dumps(asdict(gap)) + "\n")


def noted(path: Path) -> list[Gap]:
    """The gaps of a log file, in order, each once."""
    try:
        rows = beside(path, "gaps").read_text().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    found = dict.fromkeys(Gap(**json.loads(row)) for row in rows if row.endswith("}\n"))
    end = length(path)
    return [gap for gap in found if gap.end <= end]


def kept(path: Path, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The stretches (from, to) of a log file between two offsets that are kept."""
    stop = min(length(path), length(path) if end is None else end)
    for gap in noted(path):
        if start < min(gap.start, stop):
            yield start, min(gap.start, stop)
        start = max(start, gap.end)
    if start < stop:
        yield start, stop

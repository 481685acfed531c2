"""What kinds of nodes a Slurm cluster has, for an admin who wants to offer them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


@dataclass(frozen=True)
class Kind:
    """Alike nodes of a partition: `cores` and `memory` (bytes) of each, `longest` a job may last (s), None: no limit."""

    partition: str
    cores: int
    memory: int
    nodes: int
    longest: int | None
    gres: str = ""


WORDS = ("sinfo", "--noheader", "--exact", "--format=%R|%c|%m|%D|%l|%G")
"""sinfo, so that it prints a line a kind."""


def parse(text: str) -> Sequence[Kind]:
    """The kinds, biggest partition first; lines that are none are passed over."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and all(cell.rstrip("+").isdigit() for cell in cells[1:4]):
            cores, memory, nodes = (int(cell.rstrip("+")) for cell in cells[1:4])
            gres = "" if cells[5] in ("(null)", "N/A") else cells[5].split("(")[0]
            found.append(Kind(cells[0], cores, memory << 20, nodes, _seconds(cells[4]), gres))
    return sorted(found, key=lambda kind: (-kind.nodes * kind.cores, kind.partition))


def _seconds(text: str) -> int | None:
    """Of "1-02:03:04", "02:03:04" or "03:04" (minutes and seconds)."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds

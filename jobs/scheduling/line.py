"""The line of a pool, and the words for why somebody stands in it. Plain values; `deciding` and `gates` work on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ..capacity import Room
from ..models import Asker

TELL = 200
"""Places in line that are kept exact on the page; behind them it is "more than"."""


class Waiting(NamedTuple):
    """Why one workload waits: the gate that holds and its sentence. `never` means that waiting will not help.

    `in_line`: it stands in its pool's line; what a budget or a limit holds up does not, and blocks nobody.
    """

    code: str
    sentence: str
    more: str = ""
    never: bool = False
    in_line: bool = False


@dataclass
class Living:
    """What has cores of a pool: when it ends by its walltime, which of it may be interrupted, what is being freed."""

    ends: list[tuple[datetime, int]] = field(default_factory=list)
    cheap: list[tuple[datetime, int, int]] = field(default_factory=list)
    """Since when, cores, id of each economy workload."""
    coming: int = 0
    """Cores of what is stopping."""


@dataclass
class Line:
    """The line of one pool while `decide` goes through the queue. `living` loads, and is asked only if somebody must wait."""

    room: Room
    living: Callable[[], Living]
    interrupt: list[int] = field(default_factory=list)
    begun: list[tuple[datetime, int]] = field(default_factory=list)
    head: Asker | None = None
    shadow: datetime | None = None
    spare: int = 0
    ahead: int = 0


def cores_of(count: int) -> str:
    return f"{count} core{'' if count == 1 else 's'}"

"""The order of the queue: by priority, then by age, with a fair share between projects.

One idea: every core that a project has, running or further ahead in line, makes its next job look AGE_A_CORE younger, up
to MOST. A project that sends a thousand jobs at once thus does not shut out one that sends its first, and nobody starves:
after MOST of waiting, age alone decides. Economy work comes after work on demand of the same priority: else what was just
interrupted would take back the cores that it made room with. Work without a project counts for its owner. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from ..models import Asks

AGE_A_CORE = timedelta(seconds=60)
MOST = timedelta(hours=24)
ENOUGH = MOST // AGE_A_CORE
"""Cores that make it look so much younger."""
A = TypeVar("A", bound=Asks)


def in_turn(queue: Sequence[A], using: Mapping[Hashable, int]) -> list[A]:
    """`queue`, given by priority and age, in the order in which it is served. `using`: cores of what runs, by `side_of`."""
    sides = [side_of(work) for work in queue]
    if len(set(sides)) < 2:
        return list(queue)
    has: dict[tuple[int, Hashable], int] = {}
    keyed: list[tuple[int, bool, datetime, int, A]] = []
    for work, side in zip(queue, sides, strict=True):
        key = work.priority, side
        cores = has[key] if key in has else using.get(side, 0)
        has[key] = cores + work.total_cores
        younger = AGE_A_CORE * cores if cores < ENOUGH else MOST
        keyed.append((-work.priority, work.economy, work.asked + younger, work.pk, work))
    keyed.sort()  # no two have one id
    return [work for *_, work in keyed]


def side_of(work: Asks) -> Hashable:
    """Whose share it counts against."""
    return side(work.project_id, work.owner_id)


def side(project: int | None, owner: int) -> Hashable:
    return ("project", project) if project else ("owner", owner)

"""Who starts next and why the others wait.

`decide` is a pure function over the whole queue, in its order: money first, then capacity. A job that money or a limit
alone holds up blocks nobody. The first that lacks capacity in its pool is the head: its cores are kept free for it, and only
jobs that end before its start, or need cores it leaves over, may slip in behind it (backfill), so a big job never starves. For
a head on demand, running economy work is interrupted, the youngest first, if that is enough. A job that names several kinds
of hardware takes the first that can start now; while none can, it keeps its place in the line of the first that ever could.
What `decide` says is what the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from .. import ledger
from ..capacity import Pool
from ..models import Asker, Choice, Coretype
from ..models.rows import no_garbage
from .gates import ends_before, why_not
from .limits import Limits
from .line import Line, Waiting

Barred = Callable[[Asker], str]
"""Why this owner may not use this coretype at all, as a sentence; empty if they may."""


class Refusal(NamedTuple):
    """Why one choice of hardware did not start."""

    choice: Choice
    why: Waiting


@dataclass
class Decision:
    start: list[Asker] = field(default_factory=list)
    """Each with the hardware that it takes."""
    waits: dict[int, Waiting] = field(default_factory=dict)
    refused: dict[int, list[Refusal]] = field(default_factory=dict)
    """Choices that could not start, of jobs that have several, also of those that start on a later one."""
    interrupt: list[int] = field(default_factory=list)
    """Ids of running economy work that gives way to work on demand."""


@dataclass
class _Round:
    """What one pass over the queue looks at and uses up."""

    pool_of: Callable[[Coretype], Pool]
    lines: Mapping[Pool, Line]
    purse: ledger.Purse
    limits: Limits
    barred: Barred | None
    now: datetime
    _lines: dict[int, Line] = field(default_factory=dict)

    def line_of(self, work: Asker) -> Line:
        if (line := self._lines.get(work.coretype_id)) is None:
            line = self._lines[work.coretype_id] = self.lines[self.pool_of(work.coretype)]
        return line

    def why_not(self, work: Asker) -> Waiting | None:
        if self.barred is not None and (why := self.barred(work)):
            return Waiting("coretype", why, never=True)
        return why_not(work, self.line_of(work), self.purse, self.limits, self.now)


@no_garbage()
def decide(
    queue: Sequence[Asker],
    pool_of: Callable[[Coretype], Pool],
    lines: Mapping[Pool, Line],
    purse: ledger.Purse,
    now: datetime,
    most: int = 100,
    limits: Limits | None = None,
    barred: Barred | None = None,
) -> Decision:
    """Go through the queue once, in order. At most `most` starts, so that one transaction stays short."""
    decision, look = Decision(), _Round(pool_of, lines, purse, limits or Limits(), barred, now)
    for work in queue:
        refused = _refusals(work, look)
        starts = len(refused) < max(1, len(work.acceptable))
        if starts and len(decision.start) >= most:
            break
        if work.acceptable:
            decision.refused[work.pk] = [Refusal(choice, why) for choice, why in zip(work.acceptable, refused, strict=False)]
        if starts:
            decision.start.append(work)
            _start(work, look)
        else:
            decision.waits[work.pk] = _wait(work, refused, look)
    decision.interrupt = [pk for line in lines.values() for pk in line.interrupt]
    return decision


def keep_free(work: Asker, line: Line, now: datetime) -> str:
    """Make it the head of its line, if it lacks cores and there is none: when enough will be free, and how many it leaves over."""
    room = line.room
    if line.head is not None or room.free is None or room.queues_itself or work.total_cores <= room.free:
        return ""
    line.head, free = work, room.free
    for end, cores in sorted([*line.living().ends, *line.begun]):
        free += cores
        if free >= work.total_cores:
            line.shadow, line.spare = max(end, now), free - work.total_cores
            break
    return "" if work.economy else _make_room(work, line)


# --- private ----------------------------------------------------------------------------------------------------------
def _refusals(work: Asker, look: _Round) -> list[Waiting]:
    """Why its choices do not start, up to the one that does, which it then has."""
    if not work.acceptable:
        why = look.why_not(work)
        return [] if why is None else [why]
    refused: list[Waiting] = []
    for choice in work.acceptable:
        work.take(choice)
        why = look.why_not(work)
        if why is None:
            break
        refused.append(why)
    return refused


def _start(work: Asker, look: _Round) -> None:
    line = look.line_of(work)
    if line.head is not None and not ends_before(work, line, look.now):
        line.spare -= work.total_cores
    look.purse.hold(work, look.now)
    look.limits.take(work)
    line.room.held += work.total_cores
    line.begun.append((look.now + timedelta(seconds=work.walltime), work.total_cores))


def _wait(work: Asker, refused: Sequence[Waiting], look: _Round) -> Waiting:
    """It keeps its place for the first choice that waiting may help; its row goes on to name the first of all."""
    if not work.acceptable:
        return _stand(work, refused[0], look)
    at = next((at for at, why in enumerate(refused) if not why.never), 0)
    work.take(work.acceptable[at])
    why = _stand(work, refused[at], look)
    work.take(work.acceptable[0])
    return why


def _stand(work: Asker, why: Waiting, look: _Round) -> Waiting:
    """In the line of its pool, if it is that what it waits for."""
    if not why.in_line:
        return why
    line = look.line_of(work)
    line.ahead += 1
    more = keep_free(work, line, look.now) if line.head is None else ""
    return why._replace(more=more) if more else why


def _make_room(work: Asker, line: Line) -> str:
    """Interrupt economy work for a head on demand: the youngest, as few as it takes, and none if all would not do."""
    living = line.living()
    short = work.total_cores - (line.room.free or 0) - living.coming
    if short <= 0:
        return "Cores for it are being freed" if living.coming else ""
    chosen: list[int] = []
    for _, cores, pk in sorted(living.cheap, reverse=True):
        if short > 0:
            chosen.append(pk)
            short -= cores
    if short > 0:
        return ""
    line.interrupt = chosen
    return f"{len(chosen)} economy job{'' if len(chosen) == 1 else 's'} interrupted for it"

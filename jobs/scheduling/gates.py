"""The gates before a start, in their order: coretype, budget, capacity, limits, place in line. Each says why not, or nothing.

One idea: a gate only looks. What follows from it (cores kept free for the head, economy work that gives way) is `deciding`'s.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache

from .. import ledger
from ..models import Asker
from .limits import Limits
from .line import TELL, Line, Waiting, cores_of


def why_not(work: Asker, line: Line, purse: ledger.Purse, limits: Limits, now: datetime) -> Waiting | None:
    """The first gate that holds it back."""
    return (
        _coretype(work, line)
        or _later(work, now)
        or _budget(work, purse)
        or _capacity(work, line, limits)
        or limits.short(work)
        or _place(work, line, now)
    )


# --- in order ---------------------------------------------------------------------------------------------------------
def _coretype(work: Asker, line: Line) -> Waiting | None:
    kind = work.coretype
    if not kind.active:
        return Waiting("coretype", f"{kind.name} is not offered any more; choose another coretype", never=True)
    if work.economy and kind.economy_price is None:
        return Waiting("coretype", f"{kind.name} has no economy price any more; submit it on demand", never=True)
    if work.cores > kind.cores or work.nodes > kind.max_nodes:
        sentence = f"Asks for {work.nodes} x {work.cores} cores; {kind.name} has at most {kind.max_nodes} x {kind.cores}"
        return Waiting("coretype", sentence, never=True)
    if line.room.total is not None and work.total_cores > line.room.total and not line.room.queues_itself:
        return Waiting("coretype", f"Needs {cores_of(work.total_cores)} of {kind.name}; there are only {line.room.total}", never=True)
    return None


def _later(work: Asker, now: datetime) -> Waiting | None:
    """The backend had nothing when it was asked. Other choices of hardware need not wait for that."""
    if work.not_before is None or work.not_before <= now or (work.acceptable and work.tried not in (None, work.coretype_id)):
        return None
    sentence = f"No capacity for {work.coretype.name} when it was asked for; tries again at {work.not_before:%H:%M:%S} UTC"
    return Waiting("capacity", sentence, work.detail, in_line=True)


def _budget(work: Asker, purse: ledger.Purse) -> Waiting | None:
    short = purse.short(work)
    if short is None:
        return None
    budget = short.budget
    if budget is None or short.why:
        return Waiting("budget", short.why, never=short.never)
    left = purse.left[budget.pk]
    more = f"Price {work.price.normalize():f} per core-hour, {cores_of(work.total_cores)}"
    sentence = f"Needs {ledger.amount_of(budget, short.needed)} for the first hour; {ledger.amount_of(budget, left)} free in {budget.name}"
    return Waiting("budget", sentence, more)


def _capacity(work: Asker, line: Line, limits: Limits) -> Waiting | None:
    room = line.room
    if room.queues_itself:
        return None
    free = room.free
    if free is None:
        return Waiting("capacity", f"The backend of {work.coretype.name} does not answer; trying again", in_line=True)
    if work.total_cores > free:
        return _lacks(needs(work, line), limits.short(work) is None)
    return None


def _place(work: Asker, line: Line, now: datetime) -> Waiting | None:
    if line.head is None or line.room.queues_itself or fits_behind(work, line, now):
        return None
    return Waiting("place", f"{line.ahead} ahead; cores are kept free for {line.head.name}", needs(work, line), in_line=True)


# --- words and sums ---------------------------------------------------------------------------------------------------
def needs(work: Asker, line: Line) -> str:
    return _needs(work.total_cores, work.coretype.name, line.room.free, min(line.ahead, TELL + 1))


@lru_cache  # far behind in a long line thousands are told the same
def _needs(cores: int, kind: str, free: int | None, ahead: int) -> str:
    place = "next in line" if ahead == 0 else f"{ahead} ahead" if ahead <= TELL else f"more than {TELL} ahead"
    return f"Needs {cores_of(cores)} of {kind}; {free} free; {place}"


@lru_cache
def _lacks(sentence: str, in_line: bool) -> Waiting:
    return Waiting("capacity", sentence, in_line=in_line)


def fits_behind(work: Asker, line: Line, now: datetime) -> bool:
    """Whether it may slip in behind the head: it ends before the head starts, or needs only what the head leaves over."""
    return ends_before(work, line, now) or work.total_cores <= line.spare


def ends_before(work: Asker, line: Line, now: datetime) -> bool:
    return line.shadow is not None and now + timedelta(seconds=work.walltime) <= line.shadow

"""Who starts next and why the others wait.

`decide` is a pure function over the whole queue, in its order: money first, then capacity. A job that money alone holds up
blocks nobody. The first that lacks capacity in its pool is the head: its cores are kept free for it, and only jobs that end
before its start, or need cores it leaves over, may slip in behind it (backfill), so a big job never starves. For a head on
demand, running economy work is interrupted, the youngest first, if that is enough. What `decide` says is what the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings

from .. import ledger
from ..capacity import Pool, Room
from ..models import Coretype, Workload

TELL = 200
"""Places in line that are kept exact on the page; behind them it is "more than"."""


@dataclass(frozen=True)
class Waiting:
    """Why one workload waits: the gate that holds and its sentence. `never` means that waiting will not help."""

    code: str
    sentence: str
    more: str = ""
    never: bool = False


@dataclass
class Decision:
    start: list[Workload] = field(default_factory=list)
    waits: dict[int, Waiting] = field(default_factory=dict)
    interrupt: list[int] = field(default_factory=list)
    """Ids of running economy work that gives way to work on demand."""


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
    head: Workload | None = None
    shadow: datetime | None = None
    spare: int = 0
    ahead: int = 0


def decide(
    queue: Sequence[Workload],
    pool_of: Callable[[Coretype], Pool],
    lines: Mapping[Pool, Line],
    purse: ledger.Purse,
    now: datetime,
    most: int = 100,
) -> Decision:
    """Go through the queue once, in order. At most `most` starts, so that one transaction stays short."""
    decision = Decision()
    for work in queue:
        line = lines[pool_of(work.coretype)]
        why = _why_not(work, line, purse, now)
        if why is None and len(decision.start) >= most:
            break
        if why is None:
            decision.start.append(work)
            purse.hold(work, now)
            line.room.held += work.total_cores
            line.begun.append((now + timedelta(seconds=work.walltime), work.total_cores))
        else:
            decision.waits[work.pk] = why
        line.ahead += why is not None and why.code in {"capacity", "place"}
    decision.interrupt = [pk for line in lines.values() for pk in line.interrupt]
    return decision


def _why_not(work: Workload, line: Line, purse: ledger.Purse, now: datetime) -> Waiting | None:
    return _coretype_gate(work, line) or _later(work, now) or _budget_gate(work, purse) or _capacity_gate(work, line, now)


def _later(work: Workload, now: datetime) -> Waiting | None:
    if work.not_before is None or work.not_before <= now:
        return None
    return Waiting(
        "capacity",
        f"No capacity for {work.coretype.name} when it was asked for; tries again at {work.not_before:%H:%M:%S} UTC",
        work.detail,
    )


def _coretype_gate(work: Workload, line: Line) -> Waiting | None:
    kind = work.coretype
    if not kind.active:
        return Waiting("coretype", f"{kind.name} is not offered any more; choose another coretype", never=True)
    if work.economy and kind.economy_price is None:
        return Waiting("coretype", f"{kind.name} has no economy price any more; submit it on demand", never=True)
    if work.cores > kind.cores or work.nodes > kind.max_nodes:
        return Waiting(
            "coretype", f"Asks for {work.nodes} x {work.cores} cores; {kind.name} has at most {kind.max_nodes} x {kind.cores}", never=True
        )
    if line.room.total is not None and work.total_cores > line.room.total and not line.room.queues_itself:
        return Waiting("coretype", f"Needs {cores_of(work.total_cores)} of {kind.name}; there are only {line.room.total}", never=True)
    return None


def _budget_gate(work: Workload, purse: ledger.Purse) -> Waiting | None:
    short = purse.short(work)
    if short is None:
        return None
    budget = short.budget
    if budget is None or short.why:
        return Waiting("budget", short.why, never=short.never)
    left = purse.left[budget.pk]
    more = f"Price {work.price.normalize():f} per core-hour, {cores_of(work.total_cores)}"
    sentence = f"Needs {amount_of(budget, short.needed)} for the first hour; {amount_of(budget, left)} free in {budget.name}"
    return Waiting("budget", sentence, more)


def amount_of(budget: ledger.Budget, amount: object) -> str:
    return f"{settings.CURRENCY}{amount:,.2f}" if budget.unit == ledger.Unit.MONEY else f"{amount:,.2f} core-hours"


def _capacity_gate(work: Workload, line: Line, now: datetime) -> Waiting | None:
    room = line.room
    if room.free is None:
        return None if room.queues_itself else Waiting("capacity", f"The backend of {work.coretype.name} does not answer; trying again")
    if room.queues_itself:
        return None
    need = work.total_cores
    if need > room.free:
        more = _keep_free(work, line, now)
        return Waiting("capacity", _needs(work, room, line.ahead), more)
    if line.head is not None and not _fits_behind(work, line, now):
        return Waiting("place", f"{line.ahead} ahead; cores are kept free for {line.head.name}", _needs(work, room, line.ahead))
    return None


def _needs(work: Workload, room: Room, ahead: int) -> str:
    place = "next in line" if ahead == 0 else f"{ahead} ahead" if ahead <= TELL else f"more than {TELL} ahead"
    return f"Needs {cores_of(work.total_cores)} of {work.coretype.name}; {room.free} free; {place}"


def cores_of(count: int) -> str:
    return f"{count} core{'' if count == 1 else 's'}"


def _keep_free(work: Workload, line: Line, now: datetime) -> str:
    """Make it the head of its line, if there is none: when enough cores will be free, and how many it leaves over."""
    if line.head is not None:
        return ""
    line.head, free = work, line.room.free or 0
    for end, cores in sorted([*line.living().ends, *line.begun]):
        free += cores
        if free >= work.total_cores:
            line.shadow, line.spare = max(end, now), free - work.total_cores
            break
    return "" if work.economy else _make_room(work, line)


def _make_room(work: Workload, line: Line) -> str:
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


def _fits_behind(work: Workload, line: Line, now: datetime) -> bool:
    if line.shadow is not None and now + timedelta(seconds=work.walltime) <= line.shadow:
        return True
    if work.total_cores <= line.spare:
        line.spare -= work.total_cores
        return True
    return False

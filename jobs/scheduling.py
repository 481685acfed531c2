"""Who starts next, why a job waits, and when it will start.

`decide` is a pure function over the whole queue: by priority, then age; money first, then capacity. A job that money
alone holds up blocks nobody. The first that lacks capacity in its pool is the head: its cores are kept free for it, and
only jobs that end before its start, or need cores it leaves over, may slip in behind it (backfill), so a big job never
starves. What `decide` says is what the page shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings

from . import capacity, ledger, lifecycle
from .capacity import Pool, Room
from .models import Cluster, Coretype, Workload

TELL = 200
"""Places in line that are kept exact on the page; behind them it is "more than"."""


@dataclass(frozen=True)
class Gate:
    """One thing that must be true before a start, with its evidence."""

    code: str
    name: str
    passed: bool
    sentence: str
    more: str = ""
    holds: bool = False
    since: datetime | None = None


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


@dataclass
class Line:
    """The line of one pool while `decide` goes through the queue."""

    room: Room
    running: Callable[[], list[tuple[datetime, int]]]
    """Loads when what runs in the pool ends by its walltime, with its cores; asked only if somebody must wait."""
    begun: list[tuple[datetime, int]] = field(default_factory=list)
    head: Workload | None = None
    shadow: datetime | None = None
    spare: int = 0
    ahead: int = 0


# --- deciding ---------------------------------------------------------------------------------------------------------
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
    if work.cores > kind.cores or work.nodes > kind.max_nodes:
        return Waiting(
            "coretype", f"Asks for {work.nodes} x {work.cores} cores; {kind.name} has at most {kind.max_nodes} x {kind.cores}", never=True
        )
    if line.room.total is not None and work.total_cores > line.room.total and not line.room.queues_itself:
        return Waiting("coretype", f"Needs {_cores(work.total_cores)} of {kind.name}; there are only {line.room.total}", never=True)
    return None


def _budget_gate(work: Workload, purse: ledger.Purse) -> Waiting | None:
    short = purse.short(work)
    if short is None:
        return None
    budget = short.budget
    if not budget.active:
        return Waiting("budget", f"Budget {budget.name} is closed; ask its owner", never=True)
    left = purse.left[budget.pk]
    more = f"Price {work.coretype.price.normalize():f} per core-hour, {_cores(work.total_cores)}"
    sentence = f"Needs {_amount(budget, short.needed)} for the first hour; {_amount(budget, left)} free in {budget.name}"
    return Waiting("budget", sentence, more)


def _amount(budget: ledger.Budget, amount: object) -> str:
    return f"{settings.CURRENCY}{amount:,.2f}" if budget.unit == ledger.Unit.MONEY else f"{amount:,.2f} core-hours"


def _capacity_gate(work: Workload, line: Line, now: datetime) -> Waiting | None:
    room = line.room
    if room.free is None:
        return None if room.queues_itself else Waiting("capacity", f"The backend of {work.coretype.name} does not answer; trying again")
    if room.queues_itself:
        return None
    need = work.total_cores
    if need > room.free:
        _keep_free(work, line, now)
        return Waiting("capacity", _needs(work, room, line.ahead))
    if line.head is not None and not _fits_behind(work, line, now):
        return Waiting("place", f"{line.ahead} ahead; cores are kept free for {line.head.name}", _needs(work, room, line.ahead))
    return None


def _needs(work: Workload, room: Room, ahead: int) -> str:
    place = "next in line" if ahead == 0 else f"{ahead} ahead" if ahead <= TELL else f"more than {TELL} ahead"
    return f"Needs {_cores(work.total_cores)} of {work.coretype.name}; {room.free} free; {place}"


def _cores(count: int) -> str:
    return f"{count} core{'' if count == 1 else 's'}"


def _keep_free(work: Workload, line: Line, now: datetime) -> None:
    """Make it the head of its line, if there is none: when enough cores will be free, and how many it leaves over."""
    if line.head is not None:
        return
    line.head, free = work, line.room.free or 0
    for end, cores in sorted([*line.running(), *line.begun]):
        free += cores
        if free >= work.total_cores:
            line.shadow, line.spare = max(end, now), free - work.total_cores
            return


def _fits_behind(work: Workload, line: Line, now: datetime) -> bool:
    if line.shadow is not None and now + timedelta(seconds=work.walltime) <= line.shadow:
        return True
    if work.total_cores <= line.spare:
        line.spare -= work.total_cores
        return True
    return False


# --- loading ----------------------------------------------------------------------------------------------------------
def waiting_line(limit: int = 10_000) -> list[Workload]:
    """The queue, in order."""
    rows = list(Workload.objects.filter(status=lifecycle.QUEUED).order_by("-priority", "submitted", "pk")[:limit])
    kinds = Coretype.objects.in_bulk({work.coretype_id for work in rows})
    for work in rows:  # one object a coretype, not one a row
        work.coretype = kinds[work.coretype_id]
    return rows


def lines_of(coretypes: Sequence[Coretype], capacities: dict[str, dict[str, capacity.backends.Capacity]]) -> dict[Pool, Line]:
    """A line a pool of these coretypes."""
    load = cache(lambda: _ends(capacities))
    rooms = capacity.rooms(coretypes, capacities)
    return {pool: Line(room, lambda pool=pool: load()[pool]) for pool, room in rooms.items()}  # type: ignore[misc]


def _ends(capacities: dict[str, dict[str, capacity.backends.Capacity]]) -> dict[Pool, list[tuple[datetime, int]]]:
    """When what runs ends by its walltime, and its cores, by pool."""
    kinds = Coretype.objects.in_bulk()
    until = dict(Cluster.objects.filter(released__isnull=True).values_list("workload_id", "walltime_until"))
    found: dict[Pool, list[tuple[datetime, int]]] = defaultdict(list)
    started = Workload.objects.filter(status__in=lifecycle.STARTED_CODES)
    rows = started.values_list("pk", "coretype_id", "nodes", "cores", "since", "walltime")
    for pk, kind, nodes, cores, since, walltime in rows:
        end = until.get(pk) or since + timedelta(seconds=walltime)
        found[capacity.pool_of(kinds[kind], capacities)].append((end, nodes * cores))
    return found


# --- explaining -------------------------------------------------------------------------------------------------------
def gates(workload: Workload, now: datetime) -> list[Gate]:
    """The gates in order, as the queue saw them last; the first that is not passed holds."""
    order = [("coretype", "Coretype"), ("budget", "Budget"), ("capacity", "Capacity"), ("place", "Place in line")]
    position = next((index for index, (name, _) in enumerate(order) if name == workload.gate), None)
    if position is None:
        return [Gate("line", "Queue", False, "Being looked at", holds=True, since=workload.submitted)]
    passed = _passed_sentences(workload)
    rows = []
    for index, (name, label) in enumerate(order):
        if index < position:
            rows.append(Gate(name, label, True, passed[name]))
        elif index == position:
            rows.append(Gate(name, label, False, workload.gate_text, workload.gate_more, True, workload.gate_since))
        else:
            rows.append(Gate(name, label, False, "Looked at after the gate before it"))
    return rows


def _passed_sentences(workload: Workload) -> dict[str, str]:
    kind = workload.coretype
    budgets = ledger.budgets_for(workload.owner, workload.project)
    names = ", ".join(f"{_amount(b, b.left)} free in {b.name}" for b in budgets) or "no budget applies"
    return {
        "coretype": f"{kind.name} is offered: up to {kind.max_nodes} x {kind.cores} cores",
        "budget": f"First hour {_amount_money(workload)}; {names}",
        "capacity": f"{_cores(workload.total_cores)} free",
        "place": "Next in line",
    }


def _amount_money(workload: Workload) -> str:
    return f"{settings.CURRENCY}{ledger.first_hour(workload.coretype, workload.nodes, workload.cores):,.2f}"


@dataclass(frozen=True)
class Occupancy:
    """Cores of a coretype's pool and what the coretype's own work takes of it; None: the backend could not be asked."""

    total: int | None
    busy: int
    free: int | None
    queued: int


def occupancy() -> dict[int, Occupancy]:
    """By coretype id. Calls the backends."""
    coretypes = list(Coretype.objects.all())
    capacities = capacity.snapshot(kind.backend for kind in coretypes)
    rooms = capacity.rooms(coretypes, capacities)
    busy = dict.fromkeys((kind.pk for kind in coretypes), 0)
    queued: dict[int, int] = defaultdict(int)
    for pk, status, nodes, cores in Workload.objects.filter(status__in=[lifecycle.QUEUED, *lifecycle.STARTED_CODES]).values_list(
        "coretype_id", "status", "nodes", "cores"
    ):
        (queued if status == lifecycle.QUEUED else busy)[pk] += nodes * cores
    found = {}
    for kind in coretypes:
        room = rooms[capacity.pool_of(kind, capacities)]
        found[kind.pk] = Occupancy(room.total, busy[kind.pk], room.free, queued[kind.pk])
    return found


def expected_start(workload: Workload, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Earliest and latest start of a queued workload by the walltimes of what runs and what stands before it."""
    capacities = capacity.snapshot([workload.coretype.backend])
    pool = capacity.pool_of(workload.coretype, capacities)
    line = lines_of([workload.coretype], capacities)[pool]
    if line.room.free is None or workload.gate == "budget":
        return None, None
    ahead = [w for w in waiting_line() if capacity.pool_of(w.coretype, capacities) == pool and _before(w, workload)]
    return now, _latest([*ahead, workload], line, now)


def _before(one: Workload, other: Workload) -> bool:
    return (-one.priority, one.submitted, one.pk) < (-other.priority, other.submitted, other.pk)


def _latest(order: Sequence[Workload], line: Line, now: datetime) -> datetime | None:
    """When the last of `order` starts if everything takes its whole walltime."""
    free, ends, clock = line.room.free or 0, sorted(line.running()), now
    for work in order:
        while free < work.total_cores and ends:
            end, cores = ends.pop(0)
            clock, free = max(clock, end), free + cores
        if free < work.total_cores:
            return None
        free -= work.total_cores
        ends = sorted([*ends, (clock + timedelta(seconds=work.walltime), work.total_cores)])
    return clock

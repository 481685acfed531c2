"""Deciding over 10,000 queued and 5,000 running jobs; and how true the foretold starts were in a week that is played.

Run: `uv run --group test python tests/bench/queueing.py`. No database: deciding and foretelling are pure. Beside deciding, the
bare limit: sorting as many rows. The week: 128 cores, jobs that use a share of their walltime which nobody knows before.
"""

from __future__ import annotations

import heapq
import os
import random
import statistics
import sys
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
CORES, WEEK, ROUNDS = 128, 7 * 86_400, 5


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    print(f"{'deciding over':<40} {'ms (median of 5)':>18} {'bare sort, ms':>15}")
    for title, money in (("10,000 queued, 5,000 running", True), ("the same, none has money", False)):
        print(f"{title:<40} {median(lambda money=money: deciding(money)):>18.1f} {median(sorting):>15.1f}")
    print()
    print(f"{'a week of jobs':<24} {'foretold':>9} {'inside':>8} {'median width / wait':>20} {'median wait':>12}")
    for title, busy in (("quiet, 85 % asked for", 0.85), ("full, 110 % asked for", 1.1)):
        told, inside, width, wait = week(busy)
        print(f"{title:<24} {told:>9} {inside:>8.1%} {width:>20.2f} {wait / 60:>9.0f} min")


def median(call) -> float:
    return 1000 * statistics.median(call() for _ in range(ROUNDS))


# --- deciding ---------------------------------------------------------------------------------------------------------
class Rich:
    """A purse without a database: enough for all, or for nobody."""

    def __init__(self, rich: bool) -> None:
        from jobs import ledger
        from jobs.models import Budget

        budget = Budget(pk=1, name="Wing", amount=Decimal(10**9 if rich else 0), spent=Decimal(0), held=Decimal(0))
        self.short_one = None if rich else ledger.Short(budget, Decimal(1))
        self.left = {1: budget.left}

    def short(self, work):
        return self.short_one

    def hold(self, work, now) -> None:
        pass


def deciding(rich: bool) -> float:
    from jobs.capacity import Room
    from jobs.models import Coretype, Workload
    from jobs.scheduling import Line, decide
    from jobs.scheduling.deciding import Living
    from jobs.scheduling.fair import in_turn

    now, draw = datetime(2026, 9, 17, tzinfo=UTC), random.Random(1)
    kind = Coretype(pk=1, code="basalt", name="Basalt", cores=64, max_nodes=8, price=Decimal("0.05"), active=True)
    queue = [
        Workload(pk=at, owner_id=at % 50, project_id=at % 20 + 1, coretype=kind, cores=draw.choice([1, 4, 16, 64]), walltime=3600 * draw.randint(1, 24),
                 submitted=now - timedelta(seconds=10_000 - at), made=now)
        for at in range(10_000)
    ]  # fmt: skip
    living = Living([(now + timedelta(seconds=draw.randint(60, 86_400)), 8) for _ in range(5_000)])
    line = Line(Room(("fake", ""), 40_100, 40_000), lambda: living)
    begun = time.perf_counter()
    decide(in_turn(queue, {}), lambda _: ("fake", ""), {("fake", ""): line}, Rich(rich), now)
    return time.perf_counter() - begun


def sorting() -> float:
    draw = random.Random(1)
    rows = [(draw.random(), at) for at in range(15_000)]
    begun = time.perf_counter()
    sorted(rows)
    return time.perf_counter() - begun


# --- a week -----------------------------------------------------------------------------------------------------------
def week(busy: float) -> tuple[int, float, float, float]:
    """How many starts were foretold, the share that was true, width of the interval by the wait, median wait in seconds."""
    from jobs.scheduling import forecast

    draw = random.Random(7)
    queue: deque = deque()
    running: list[tuple[float, int, float, float]] = []  # end, cores, start, walltime
    free, past, told, results = CORES, deque(maxlen=200), {}, []
    for at, arrival in enumerate(arrivals(busy, draw)):
        clock, cores, walltime, used = arrival
        free = advance(clock, queue, running, free, past, told, results)
        queue.append((at, clock, cores, walltime, used))
        free = start(clock, queue, running, free, told, results)
        if queue and queue[-1][0] == at:
            runs = [forecast.Runs(one[1], one[2], one[3]) for one in running]
            line = [forecast.Waits(one[2], one[3]) for one in queue]
            found = forecast.interval(free, runs, line, clock, list(past), at)
            if found:
                told[at] = (clock, *found)
    advance(float("inf"), queue, running, free, past, told, results)
    inside = [low - 1 <= began <= high + 1 for began, (_, low, high) in results]
    shares = [(high - low) / (began - asked) for began, (asked, low, high) in results if began > asked]
    waits = [began - asked for began, (asked, _, _) in results]
    return len(results), statistics.mean(inside), statistics.median(shares), statistics.median(waits)


def arrivals(busy: float, draw: random.Random):
    """When, cores, walltime asked for, seconds really used."""
    clock = 0.0
    while clock < WEEK:
        cores = draw.choice([4, 8, 8, 16, 16, 32, 64])
        walltime = 3600.0 * draw.choice([1, 2, 4, 8])
        used = walltime * min(1.0, max(0.02, draw.betavariate(2, 2.5)))
        yield clock, cores, walltime, used
        clock += draw.expovariate(busy * CORES / (21 * 3600 * 3.75 * 0.45))


def advance(until: float, queue, running, free: int, past, told, results) -> int:
    """Let jobs end up to a moment, starting what fits."""
    while running and running[0][0] <= until:
        end, cores, start_, walltime = heapq.heappop(running)
        past.append((end - start_) / walltime)
        free = start(end, queue, running, free + cores, told, results)
    return free


def start(clock: float, queue, running, free: int, told, results) -> int:
    while queue and queue[0][2] <= free:
        at, _, cores, walltime, used = queue.popleft()
        heapq.heappush(running, (clock + used, cores, clock, walltime))
        free -= cores
        if at in told:
            results.append((clock, told.pop(at)))
    return free


if __name__ == "__main__":
    main()

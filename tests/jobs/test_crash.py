"""The worker dies before every write, and before and after every outside act; the next worker must put it right.

The points are found by instrumentation: every INSERT, UPDATE and DELETE of the engine and every call of a backend. After
each death: one end, at most one run, no cluster, money exact.
"""

from __future__ import annotations

from decimal import Decimal

import factories
import playing
import pytest
from reaper import Death, Reaper, reaping, tried

from jobs import backends, engine, lifecycle, rounds
from jobs.models import Budget, Charge, Cluster, Hold, Workload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("cloud")]

FEWEST = 20
"""Points of death that were found when this was written, less a few; if there are fewer, something is not looked at."""


def live(work: Workload, clock: playing.Clock, reaper: Reaper, monkeypatch, runs: list[str], stop_at: str = "") -> None:
    """A job's life with a worker that may die once; agents and people go on whatever happens to it."""
    agents = []
    for _ in range(60):
        try:
            with reaping(reaper, monkeypatch):
                playing.turn_all(clock)
                playing.rounds_again()
                rounds.poll(clock())
                rounds.meter(clock())
                rounds.reconcile(clock())
        except Death:
            clock.forward(engine.LEASE + 1)
        work.refresh_from_db()
        if not work.is_active:
            return
        cluster = Cluster.objects.filter(workload=work, attempt=work.attempt).first()
        if stop_at == work.status:
            work.stop(work.owner, now=clock())
            stop_at = ""
        if work.status == lifecycle.STARTING and cluster and not agents and work.wish == "run" and _exists(cluster):
            agents = playing.boot(work, clock)
            runs.append(cluster.token)
        elif agents and work.status in (lifecycle.RUNNING, lifecycle.STOPPING) and not cluster.exited:
            clock.forward(60)
            playing.finish(agents[0], clock)
        clock.forward(1)
    pytest.fail(f"never ended: {work.status} after death at {reaper.names[reaper.at : reaper.at + 1]}")


def _exists(cluster: Cluster) -> bool:
    return cluster.token in backends.get("fake").tokens()


def judge(work: Workload, budget: Budget, runs: list[str], expected: str, spent_before: Decimal) -> None:
    assert work.status == expected
    assert len(runs) == len(set(runs)) <= 1
    assert list(backends.get("fake").tokens()) == []
    assert [event.after for event in work.events.all() if event.after in lifecycle.REST_CODES] == [expected]
    budget.refresh_from_db()
    assert budget.held == 0
    assert not Hold.objects.filter(workload=work, released__isnull=True).exists()
    cluster = work.clusters.filter(up__isnull=False).first()
    due = Decimal(0)
    if cluster:
        seconds = -(-(cluster.released - cluster.up).total_seconds() // 1)
        due = Decimal(int(seconds)) * Decimal("0.001") * work.total_cores
    assert budget.spent - spent_before == due == sum((c.amount for c in Charge.objects.filter(workload=work)), Decimal(0))


@pytest.mark.alone
@pytest.mark.parametrize(("stop_at", "expected"), [("", "completed"), ("running", "stopped"), ("starting", "stopped")])
def test_a_death_anywhere_leaves_nothing_behind(monkeypatch, tell, stop_at, expected):
    owner = factories.user()
    project = factories.project(owner)
    budget = factories.budget(project, 10_000)
    kind = factories.coretype(price=Decimal("3.6"))
    clock = playing.Clock()

    def one(at: int) -> Reaper:
        budget.refresh_from_db()
        before = budget.spent
        work = factories.job(owner, project=project, coretype=kind, cores=2).workload
        work.submit(owner, clock())
        reaper, runs = Reaper(at), []
        live(work, clock, reaper, monkeypatch, runs, stop_at)
        judge(work, budget, runs, expected, before)
        return reaper

    points = one(-1).count
    for at in tried(points):
        one(at)
    tell(f"{points} points of death on the way to {expected}{f' from {stop_at}' if stop_at else ''}")
    assert points >= FEWEST

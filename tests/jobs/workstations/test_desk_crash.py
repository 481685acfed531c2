"""A workstation's worker dies before every write and around every outside act; the next one must put it right.

After each death: one end, each session started once, no cluster, the home as it was, compute and disk exact to the second and
never both at a time.
"""

from __future__ import annotations

from decimal import Decimal
from math import ceil

import desks
import factories
import playing
import pytest
from reaper import Death, Reaper, reaping, tried

from jobs import backends, engine, rounds
from jobs.models import Budget, Charge, Workstation

pytestmark = pytest.mark.django_db(transaction=True)

FEWEST = 60
"""Points of death that were found when this was written, less a few."""
FEWEST_OWN = {"stop": 60, "suspend": 30, "lose": 30}
"""The same of those that matter and that no other story has."""
PRICE, DISK = Decimal("3.6"), Decimal("3.6") * 1024 * 1024
"""Per core and hour; per GiB and hour: a KiB costs 0.001 a second."""


class Story:
    """What people and agents do, whatever happens to the worker. `end` is how the second session ends."""

    def __init__(self, station: Workstation, clock: playing.Clock, end: str) -> None:
        self.station, self.clock, self.end = station, clock, end
        self.desk: desks.Desk | None = None
        self.runs: list[str] = []
        self.said: set[str] = set()
        self.ends_at = 0
        """Points before the second session."""

    def go_on(self) -> None:
        work = self.station.workload
        cluster = work.cluster
        here = self.desk is not None and cluster is not None and self.desk.agent.token == cluster.token
        if work.status == "starting" and cluster and not here and cluster.token in backends.get("fake").tokens():
            self.desk = desks.Desk(work, self.clock).boot()
            self.runs.append(cluster.token)
            assert self.desk.files == ({"mesh": b"x" * 700} if len(self.runs) > 1 else {})
            self.desk.files = {"mesh": b"x" * 700}
        elif here and not cluster.released and cluster.exited is None:
            self.desk.beat()
            if work.status == "active":
                self.clock.forward(60)
                self.wish("suspend" if len(self.runs) == 1 else self.end)
            elif self.desk.wish != "run" and not cluster.releasing:
                assert self.desk.obey() in ("saved", "killed")
        elif work.status == "suspended":
            self.clock.forward(90)
            self.wish("resume" if len(self.runs) == 1 else "stop")

    def wish(self, verb: str) -> None:
        if (key := f"{verb} {self.station.workload.attempt}") in self.said:
            return
        self.said.add(key)
        if verb == "lose":
            backends.get("fake").vanish(self.desk.agent.token)
            return
        assert getattr(self.station, verb)(self.station.workload.owner, now=self.clock()) == ""


def live(story: Story, clock: playing.Clock, reaper: Reaper, monkeypatch) -> None:
    for _ in range(60):
        playing.rounds_again()
        try:
            with reaping(reaper, monkeypatch):
                desks.turn(clock)
                rounds.poll(clock())
                rounds.meter(clock())
                rounds.reconcile(clock())
        except Death:
            clock.forward(engine.LEASE + 1)
        story.station.workload.refresh_from_db()
        if story.station.workload.status in ("stopped", "failed"):
            return
        story.go_on()
        if len(story.runs) == 1:
            story.ends_at = reaper.count
        clock.forward(1)
    pytest.fail(f"never ended: {story.station.workload.status} after death at {reaper.names[reaper.at : reaper.at + 1]}")


def judge(story: Story, budget: Budget, before: Decimal) -> None:
    work = story.station.workload
    assert (work.status, len(story.runs), len(set(story.runs))) == ("stopped", 2, 2)
    assert list(backends.get("fake").tokens()) == []
    assert [event.after for event in work.events.all() if event.after in ("stopped", "failed")] == ["stopped"]
    rounds_over(story.clock)
    budget.refresh_from_db()
    assert budget.held == 0
    assert not work.holds.filter(released__isnull=True).exists()
    assert not work.disk_uses.filter(settled__isnull=True).exists()
    assert budget.spent - before == compute(work) + disk(work) == sum(c.amount for c in Charge.objects.filter(workload=work))
    never_both(work)


def rounds_over(clock: playing.Clock) -> None:
    playing.rounds_again()
    rounds.meter(clock())


def compute(work) -> Decimal:
    ups = [(one.released if one.exited else min(one.released, one.charged_until)) - one.up for one in work.clusters.filter(up__isnull=False)]
    return sum((ceil(up.total_seconds()) * Decimal("0.001") * work.total_cores for up in ups), Decimal(0))


def disk(work) -> Decimal:
    """From every confirmed release to the next report of a cluster, or to the end."""
    clusters = list(work.clusters.filter(up__isnull=False).order_by("attempt"))
    ends = [one.up for one in clusters[1:]]
    suspended = [event for event in work.events.all() if event.after == "suspended" and event.before != event.after]
    if len(suspended) >= len(clusters):
        ends.append(work.since)
    seconds = [ceil((end - one.released).total_seconds()) for one, end in zip(clusters, ends, strict=False)]
    sizes = [use.size for use in work.disk_uses.order_by("attempt")]
    return sum((second * Decimal("0.001") * size / 1024 for second, size in zip(seconds, sizes, strict=True)), Decimal(0))


def never_both(work) -> None:
    """No moment is paid twice: neither two of a kind nor compute and disk together."""
    spans = sorted((charge.start, charge.end) for charge in Charge.objects.filter(workload=work))
    assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False))


@pytest.mark.alone
@pytest.mark.parametrize("end", ["stop", "suspend", "lose"])
def test_a_death_anywhere_leaves_home_and_money_exact(monkeypatch, tell, end):
    owner = factories.user()
    project = factories.project(owner)
    budget = factories.budget(project, 10_000_000)
    coretype = factories.coretype(price=PRICE, disk_price=DISK)
    clock = playing.Clock()

    def one(at: int) -> tuple[Reaper, Story]:
        budget.refresh_from_db()
        before = budget.spent
        station = factories.workstation(owner, project=project, coretype=coretype, cores=2)
        station.workload.submit(owner, clock())
        reaper, story = Reaper(at), Story(station, clock, end)
        live(story, clock, reaper, monkeypatch)
        judge(story, budget, before)
        return reaper, story

    reaper, story = one(-1)
    points, others = reaper.points(0 if end == "stop" else story.ends_at)  # the way there is the same
    every = 6 if end == "stop" else 12
    for at in [*(points[at] for at in tried(len(points), every)), *(others[at] for at in tried(len(others), 30))]:
        one(at)
    tell(f"{reaper.count} points of death of a workstation that ends by {end}, {len(points)} that matter on a way of its own")
    assert reaper.count >= FEWEST
    assert len(points) >= FEWEST_OWN[end]

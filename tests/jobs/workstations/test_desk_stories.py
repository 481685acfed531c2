"""Any story of a workstation: people, agents, lost nodes and full disks in any order; then the promises are counted.

Never onto an empty disk once there was a home, no cluster left behind, holds freed, each moment paid once, and a way out
of every status.
"""

from __future__ import annotations

from decimal import Decimal

import desks
import factories
import playing
from django.core.files.storage import default_storage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from jobs import backends, ledger, lifecycle, rounds
from jobs.models import Charge, Hold

DEEDS = ("suspend", "resume", "stop", "keep", "write", "grow", "copy", "obey", "obey", "boot", "boot", "lose", "wait", "wait", "pass")


class Story:
    def __init__(self) -> None:
        owner = factories.user()
        project = factories.project(owner)
        self.clock = playing.Clock()
        self.budget = factories.budget(project, 1000)
        hardware = factories.coretype(price=Decimal("3.6"), disk_price=Decimal(3600) * 1024)
        self.station = factories.workstation(owner, project=project, coretype=hardware, cores=2, walltime=10**8)
        self.station.workload.submit(owner, self.clock())
        self.owner, self.desk, self.kept = owner, None, None

    @property
    def work(self):
        self.station.workload.refresh_from_db()
        return self.station.workload

    def here(self) -> bool:
        cluster = self.work.cluster
        return bool(self.desk and cluster and self.desk.agent.token == cluster.token and not cluster.releasing and not cluster.exited)

    def do(self, deed: str) -> None:
        getattr(self, f"_{deed}", lambda: self._wish(deed))()
        self.clock.forward(1)
        if self.here():
            self.desk.beat()
        self.turn()

    def turn(self) -> None:
        playing.rounds_again()
        rounds.poll(self.clock())
        rounds.meter(self.clock())
        desks.turn(self.clock)

    def _wish(self, verb: str) -> None:
        """Done, or refused with words and nothing changed."""
        status = self.work.status
        why = getattr(self.station, verb)(self.owner, now=self.clock())
        assert why == "" or (why.endswith(".") and self.work.status == status)

    def _keep(self) -> None:
        self.station.keep(self.owner, None, self.clock())

    def _boot(self) -> None:
        work = self.work
        cluster = work.cluster
        if work.status == "starting" and work.wish == "run" and cluster and cluster.up is None:
            self.desk = desks.Desk(work, self.clock).boot()
            assert self.kept is None or self.desk.files in self.kept, "onto an empty disk"

    def _write(self) -> None:
        if self.here():
            self.desk.files = {**self.desk.files, f"f{len(self.desk.files)}": b"x"}

    def _grow(self) -> None:
        """More than fits, or again less."""
        limit = 1 << 20 if self.station.kind.home_limit > 1 << 20 else 20 << 30
        type(self.station.kind).objects.update(home_limit=limit)
        self.station.kind.home_limit = limit
        if self.here():
            self.desk.files.pop("big", None)
            if limit == 1 << 20:
                self.desk.files["big"] = bytes(2 << 20)

    def _copy(self) -> None:
        if self.here() and self.desk.copy() == "":
            self.kept = [*(self.kept or []), dict(self.desk.files)]

    def _obey(self) -> None:
        if self.here() and self.work.status in ("active", "suspending", "stopping") and self.desk.obey() == "saved":
            self.kept = [*(self.kept or []), dict(self.desk.files)]

    def _lose(self) -> None:
        if self.here():
            backends.get("fake").vanish(self.desk.agent.token)
            for _ in range(3):
                self.turn()

    def _wait(self) -> None:
        self.clock.forward(400)

    def _pass(self) -> None:
        self.clock.forward(7)


class Stories(TestCase):
    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.sampled_from(DEEDS), min_size=5, max_size=30))
    def test_any_story_ends_well(self, deeds):
        fake = backends.get("fake")
        fake.misbehave()
        for token in list(fake.tokens()):  # of a story that ended badly, and of other tests
            fake.vanish(token)
        story = Story()
        story.turn()
        for deed in deeds:
            story.do(deed)
        self.end(story)
        work = story.work
        assert list(fake.tokens()) == []
        assert not Hold.objects.filter(released__isnull=True).exists()
        story.budget.refresh_from_db()
        assert story.budget.held == 0
        charges = list(Charge.objects.filter(workload=work))
        assert story.budget.spent == sum((one.amount for one in charges if one.budget_id), Decimal(0)) <= story.budget.amount
        spans = sorted((one.start, one.end) for one in charges if one.budget_id)
        assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False))
        cost = ledger.cost(work, story.clock())
        assert (cost.running, cost.spent) == (0, sum((one.amount for one in charges), Decimal(0)))
        if story.kept:
            assert default_storage.exists(story.station.home.key)

    @staticmethod
    def end(story: Story) -> None:
        """There is always a way out: by force for what a stop can't save, which makes it Active again."""
        for turn in range(6):
            if story.work.status in lifecycle.REST_CODES:
                break
            polite = turn < 2 and story.work.wish != "stop"
            story._wish("stop") if polite else story.station.stop(story.owner, force=True, now=story.clock())
            story.do("obey")
            story.clock.forward(60)
            story.turn()
        assert story.work.status in ("stopped", "failed"), story.work.status
        story.turn()

"""A job in the queue, one that runs, and pools of the fake cloud."""

from decimal import Decimal

import factories
import playing
import pytest

from jobs import lifecycle
from jobs.models import Workload


@pytest.fixture
def queued(clock):
    """Make a job and submit it; `choices` are (coretype, nodes, cores)."""

    def make(owner, choices=(), **fields):
        if choices:
            kind, nodes, cores = choices[0]
            fields |= {"coretype": kind, "nodes": nodes, "cores": cores}
        work = factories.job(owner, **fields).workload
        work.accept(choices)
        assert work.submit(work.owner, clock())
        return Workload.objects.get(pk=work.pk)

    return make


@pytest.fixture
def turn(clock):
    """One turn of the queue; the rows afterwards."""

    def once(*works):
        playing.turn_all(clock, ("queued",))
        for work in works:
            work.refresh_from_db()

    return once


@pytest.fixture
def running(clock, queued):
    """A job that runs, and its agents."""

    def make(owner, choices=(), **fields):
        work = queued(owner, choices, **fields)
        playing.turn_all(clock, ("queued", "validating", "starting"))
        agents = playing.boot(Workload.objects.get(pk=work.pk), clock)
        playing.turn_all(clock, ("starting",))
        work.refresh_from_db()
        assert work.status == lifecycle.RUNNING
        return work, agents

    return make


@pytest.fixture
def granite(cloud, monkeypatch):
    """16 cores of granite and 8 of basalt, each a pool of its own."""
    monkeypatch.setattr(cloud, "pools", {"granite": 16, "basalt": 8})
    return factories.coretype(code="granite", cores=16, price=Decimal("0.1"), economy_price=Decimal("0.02"), walltime_max=7 * 86400)


@pytest.fixture
def basalt(granite):
    return factories.coretype(code="basalt", name="Basalt", cores=8, price=Decimal("0.3"), walltime_max=2 * 3600)

"""What is free is given out once: slots that end together, and turns that are taken twice."""

import factories
import playing
import pytest

from jobs import engine, gauging
from jobs.models import Cluster, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def small(cloud, monkeypatch):
    """A pool of 2 cores."""
    monkeypatch.setattr(cloud, "pools", {"": 2})
    gauging.forget()
    return factories.coretype(cores=2)


@pytest.fixture
def ten(clock, owner, small):
    works = [factories.job(owner, coretype=small, cores=1).workload for _ in range(10)]
    for work in works:
        assert work.submit(owner, clock.forward(1))
    playing.turn_all(clock, ("queued", "validating", "starting"))
    return works


def statuses(works):
    found = dict(Workload.objects.in_bulk([work.pk for work in works]))
    return [found[work.pk].status for work in works]


def test_two_slots_that_end_in_the_same_moment_start_exactly_two(ten, clock, owner):
    assert statuses(ten) == ["starting"] * 2 + ["queued"] * 8
    agents = [playing.boot(Workload.objects.get(pk=work.pk), clock)[0] for work in ten[:2]]
    playing.turn_all(clock)
    assert statuses(ten)[:2] == ["running"] * 2
    assert Workload.objects.get(pk=ten[0].pk).stop(owner, clock())
    playing.finish(agents[0], clock, code=0)
    playing.finish(agents[1], clock, code=None, signal=9)
    for _ in range(4):
        playing.turn_all(clock)
        assert Cluster.objects.filter(released__isnull=True).count() <= 2
    assert statuses(ten) == ["stopped", "failed"] + ["starting"] * 2 + ["queued"] * 6


def test_a_turn_that_is_delivered_again_while_the_first_is_under_way_makes_nothing_twice(small, clock, owner, cloud, monkeypatch):
    work = factories.job(owner, coretype=small, cores=1).workload
    assert work.submit(owner, clock())
    create, asked = cloud.create, []

    def slowly(token, spec):
        asked.append(token)
        if len(asked) == 1:
            for queue in ("queued", "starting"):
                engine.turn(queue, clock())
        return create(token, spec)

    monkeypatch.setattr(cloud, "create", slowly)
    playing.turn_all(clock, ("queued", "validating", "starting"))
    assert len(asked) == 1
    assert [cluster.token for cluster in Cluster.objects.all()] == asked

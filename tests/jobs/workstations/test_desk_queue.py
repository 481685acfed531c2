"""A workstation in the queue: money and capacity as for jobs, and nothing offered that its kind may not have."""

from decimal import Decimal

import desks
import factories
import playing
import pytest

from jobs import scheduling
from jobs.models import Coretype

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def station(owner, wing, cloud, monkeypatch):
    monkeypatch.setattr(cloud, "pools", {"busy": 8, "free": 8})
    factories.budget(wing, 1000)
    return factories.workstation(owner, project=wing, cores=8, walltime=3600, coretype=factories.coretype(code="busy"))


def status(station) -> str:
    station.workload.refresh_from_db()
    return station.workload.status


def busy(station, clock):
    """All cores of its hardware are taken by a job."""
    work = station.workload
    job = factories.job(work.owner, project=work.project, coretype=work.coretype, cores=8).workload
    job.submit(work.owner, clock())
    playing.turn_all(clock)
    playing.boot(job, clock)
    return job


def test_a_resume_waits_for_capacity_and_then_goes_on(station, clock, cloud, owner):
    desk = desks.start(station, clock)
    desk.files = {"a": b"1"}
    desks.suspend(station, desk, clock)
    job = busy(station, clock)
    assert station.resume(owner, clock()) == ""
    desks.turn(clock)
    assert (status(station), station.workload.gate) == ("queued", "capacity")
    job.stop(owner, force=True, now=clock())
    for _ in range(2):
        playing.turn_all(clock, ("running", "starting", "stopping"))
        clock.forward(3)
    assert desks.start(station, clock).files == {"a": b"1"}


def test_a_resume_whose_hardware_is_gone_goes_back_to_suspended(station, clock, owner):
    desk = desks.start(station, clock)
    desks.suspend(station, desk, clock)
    assert station.resume(owner, clock()) == ""
    Coretype.objects.filter(code="busy").update(cores=4)
    desks.turn(clock)
    assert (status(station), station.workload.reason) == ("suspended", "never-starts")
    Coretype.objects.filter(code="busy").update(active=False)
    station.workload.coretype.refresh_from_db()
    assert "not offered" in station.resume(owner, clock())


def test_no_hardware_is_offered_that_its_kind_may_not_have(station, clock, cloud, owner):
    factories.coretype(code="free", price=Decimal("0.1"))
    station.kind.coretypes.add(station.workload.coretype)
    busy(station, clock)
    station.workload.submit(owner, clock())
    desks.turn(clock)
    assert (status(station), station.workload.gate) == ("queued", "capacity")
    assert [one.code for one in scheduling.offers(station.workload, clock())] == []

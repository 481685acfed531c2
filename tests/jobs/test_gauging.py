"""What the backends have: asked by the engine's poll, written down with its age, read by pages without a call."""

from datetime import timedelta

import factories
import playing
import pytest

from jobs import backends, gauging, rounds, scheduling
from jobs.models import PoolState, Turn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def granite(cloud, monkeypatch):
    monkeypatch.setattr(cloud, "pools", {"": 16})
    gauging.forget()
    return factories.coretype(cores=16)


def silent(monkeypatch, error=None):
    def broken(self):
        if error:
            raise error
        return {"": backends.Capacity(None, None)}

    monkeypatch.setattr(type(backends.get("fake")), "capacity", broken)
    gauging.forget()


def test_the_poll_writes_what_a_backend_has(clock, granite):
    assert scheduling.occupancy(clock())[granite.pk].total is None
    rounds.poll(clock())
    row = PoolState.objects.get()
    assert (row.backend, row.code, row.total, row.at, row.trouble) == ("fake", "", 16, clock(), "")
    assert scheduling.occupancy(clock())[granite.pk] == scheduling.Occupancy(16, 0, 16, 0)


def test_the_same_answer_is_not_written_each_time(clock, granite):
    gauging.write(clock())
    assert gauging.write(clock.forward(5)) == 0
    assert PoolState.objects.get().at == clock() - timedelta(seconds=5)
    assert gauging.write(clock.forward(10)) == 0
    assert PoolState.objects.get().at == clock()


@pytest.mark.parametrize("error", [None, backends.TryAgain("no route"), backends.Refused("no such partition")])
def test_a_backend_that_falls_silent_leaves_its_figures_and_they_grow_old(clock, granite, monkeypatch, error):
    gauging.write(clock())
    told = clock()
    silent(monkeypatch, error)
    assert gauging.write(clock.forward(70)) == 1
    row = PoolState.objects.get()
    assert (row.total, row.at, row.asked, bool(row.trouble)) == (16, told, clock(), True)
    now = scheduling.occupancy(clock())[granite.pk]
    assert (now.total, now.old) == (16, told)


def test_one_that_never_answered_is_not_known(clock, granite, monkeypatch):
    silent(monkeypatch, backends.TryAgain("no route"))
    gauging.write(clock())
    now = scheduling.occupancy(clock())[granite.pk]
    assert (now.total, now.free, now.old) == (None, None, None)


def test_pools_that_are_gone_leave_no_row(clock, granite, cloud, monkeypatch):
    monkeypatch.setattr(cloud, "pools", {granite.code: 16, "other": 8})
    gauging.forget()
    gauging.write(clock())
    assert set(PoolState.objects.values_list("code", flat=True)) == {granite.code, "other"}
    monkeypatch.setattr(cloud, "pools", {"": 16})
    playing.look(clock)
    assert list(PoolState.objects.values_list("code", flat=True)) == [""]


def test_pages_call_no_backend(client, clock, granite, owner, admin, monkeypatch):
    rounds.poll(clock())
    work = factories.job(owner, coretype=granite, cores=16).workload
    work.submit(owner, clock())
    playing.turn_all(clock, ("queued",))

    def called(self, *args):
        raise AssertionError("a page called a backend")

    gauging.forget()
    client.force_login(admin)
    with monkeypatch.context() as patch:
        for name in ("capacity", "create", "describe", "destroy", "tokens"):
            patch.setattr(type(backends.get("fake")), name, called)
        for page in ("/jobs/new/", "/hardware/", f"/jobs/{work.public_id}/", "/jobs/"):
            assert client.get(page).status_code == 200


def test_old_figures_are_said_to_be_old(client, clock, granite, owner):
    gauging.write(clock() - timedelta(minutes=10))
    Turn.objects.all().delete()
    client.force_login(owner)
    assert "has not answered since" in client.get("/hardware/").content.decode()
    assert "Has not answered since" in client.get("/jobs/new/").content.decode()

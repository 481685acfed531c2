"""A workstation's way: start, suspend, resume, stop, on the fake backend with a played agent."""

import desks
import factories
import pytest

from jobs import lifecycle
from jobs.models import HomeCopy, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def station(owner, wing):
    factories.budget(wing, 1000)
    return factories.workstation(owner, project=wing)


def status(station) -> str:
    station.workload.refresh_from_db()
    return station.workload.status


def way(station) -> list[str]:
    return [event.after for event in station.workload.events.all() if event.before != event.after]


def test_start_suspend_resume_stop(station, clock, cloud, owner):
    desk = desks.start(station, clock)
    desk.files = {"mesh.txt": b"one", "caf\udce9".encode("utf-8", "surrogateescape").decode("utf-8", "replace"): b"two"}
    desks.suspend(station, desk, clock)
    assert list(cloud.tokens()) == []
    assert station.resume(owner, clock()) == ""
    again = desks.start(station, clock)
    assert again.files == desk.files
    assert again.agent.token != desk.agent.token
    assert again.agent.token.rpartition("-")[0] == desk.agent.token.rpartition("-")[0]
    assert station.stop(owner, now=clock()) == ""
    desks.turn(clock)
    assert again.obey() == "saved"
    desks.turn(clock)
    assert status(station) == "stopped"
    assert way(station) == [
        "queued", "validating", "starting", "active", "suspending", "suspended",
        "queued", "validating", "starting", "active", "stopping", "stopped",
    ]  # fmt: skip
    assert list(cloud.tokens()) == []
    assert "Home saved: 2 files" in station.workload.detail


def test_a_suspended_one_is_stopped_without_a_cluster(station, clock, cloud, owner):
    desk = desks.start(station, clock)
    desks.suspend(station, desk, clock)
    assert station.stop(owner, now=clock()) == ""
    desks.turn(clock)
    assert status(station) == "stopped"
    assert station.workload.clusters.count() == 1
    assert way(station)[-2:] == ["stopping", "stopped"]


def test_force_stop_saves_nothing_and_says_how_old_the_copy_is(station, clock, owner):
    desk = desks.start(station, clock)
    desk.files = {"a": b"1"}
    assert desk.copy() == ""
    clock.forward(600)
    desk.beat()
    assert station.stop(owner, force=True, now=clock()) == ""
    desks.turn(clock)
    assert status(station) == "stopped"
    assert station.workload.reason == "force-stopped"
    assert "10 min before that" in station.workload.detail


def test_storage_full_leaves_it_active_and_says_so(station, clock, owner, monkeypatch):
    desk = desks.start(station, clock)
    desk.files = {"a": b"1"}
    station.kind.home_limit = 1 << 20
    station.kind.save()
    desk.files["big"] = bytes(2 << 20)
    assert station.suspend(owner, clock()) == ""
    assert desk.obey() == "unsaved"
    desks.turn(clock)
    assert status(station) == "active"
    assert station.workload.wish == "run"
    assert "1.0 MiB" in station.workload.detail
    assert "Delete something" in station.unsaved
    assert desk.wish == "run"
    del desk.files["big"]
    desks.suspend(station, desk, clock)


def test_a_stop_that_cannot_save_leaves_it_active_too(station, clock, owner):
    desk = desks.start(station, clock)
    station.kind.home_limit = 1 << 20
    station.kind.save()
    desk.files["big"] = bytes(2 << 20)
    assert station.stop(owner, now=clock()) == ""
    desks.turn(clock)
    assert status(station) == "stopping"
    assert desk.obey() == "unsaved"
    desks.turn(clock)
    assert (status(station), station.workload.outcome, station.workload.reason) == ("active", "", "")
    assert station.stop(owner, force=True, now=clock()) == ""
    desks.turn(clock)
    assert status(station) == "stopped"


def test_a_lost_node_falls_back_to_the_last_copy(station, clock, cloud):
    desk = desks.start(station, clock)
    desk.files = {"a": b"1"}
    assert desk.copy() == ""
    clock.forward(120)
    desk.beat()
    cloud.vanish(desk.agent.token)
    gone(station, clock)
    assert status(station) == "suspended"
    assert station.workload.reason == "node-lost"
    assert "The last copy of its home is from" in station.workload.detail
    assert station.home.size > 0


def test_a_lost_node_without_any_copy_fails(station, clock, cloud):
    desk = desks.start(station, clock)
    cloud.vanish(desk.agent.token)
    gone(station, clock)
    assert (status(station), station.workload.reason) == ("failed", "node-lost")


def gone(station, clock):
    import playing

    from jobs import rounds

    for _ in range(4):
        playing.rounds_again()
        rounds.poll(clock())
        clock.forward(3)
        desks.turn(clock)


def test_a_resume_without_its_home_goes_back_to_suspended(station, clock, cloud, owner):
    from django.core.files.storage import default_storage

    desk = desks.start(station, clock)
    desks.suspend(station, desk, clock)
    default_storage.delete(station.home.key)
    assert station.resume(owner, clock()) == ""
    desks.turn(clock)
    assert (status(station), station.workload.reason) == ("suspended", "home-missing")
    assert list(cloud.tokens()) == []
    assert not station.workload.holds.filter(released__isnull=True).exists()


def test_a_damaged_home_never_starts(station, clock, owner):
    from jobs import gateway

    desk = desks.start(station, clock)
    desks.suspend(station, desk, clock)
    assert station.resume(owner, clock()) == ""
    for _ in range(lifecycle.ATTEMPT_LIMIT):
        desks.turn(clock)
        assert status(station) == "starting"
        bad = desks.Desk(station.workload, clock)
        bad.hello()
        gateway.staged(bad.agent, {"error": {"file": "home", "message": "its checksum is wrong"}}, clock())
        desks.turn(clock)
        desks.turn(clock)
        clock.forward(10)
    assert (status(station), station.workload.reason) == ("suspended", "staging-failed")
    assert "home: its checksum is wrong" in station.workload.detail


def test_a_resume_in_the_queue_can_be_cancelled(station, clock, owner, cloud):
    desk = desks.start(station, clock)
    desks.suspend(station, desk, clock)
    assert station.resume(owner, clock()) == ""
    assert station.suspend(owner, clock()) == ""
    desks.turn(clock)
    assert status(station) == "suspended"
    assert station.resume(owner, clock()) == ""
    desks.turn(clock)
    assert status(station) == "starting"
    assert station.suspend(owner, clock()) == ""
    desks.turn(clock)
    assert status(station) == "suspended"
    assert list(cloud.tokens()) == []


def test_a_first_start_is_not_suspended(station, clock, owner):
    assert station.suspend(owner) == "It was not started yet."
    station.workload.submit(owner, clock())
    assert "no home yet" in station.suspend(owner, clock())


def test_a_session_that_ends_by_itself_is_suspended_with_its_home(station, clock):
    from jobs import gateway

    desk = desks.start(station, clock)
    desk.files = {"a": b"1"}
    gateway.exited(desk.agent, {"code": 0, "clock": clock().timestamp()}, clock())
    desks.turn(clock)
    assert status(station) == "suspending"
    assert desk.copy("suspend") == ""
    gateway.done(desk.agent, {}, clock())
    desks.turn(clock)
    assert (status(station), station.workload.reason) == ("suspended", "session-ended")


def test_a_session_that_never_was_there_fails(station, clock, owner):
    import playing

    station.workload.submit(owner, clock())
    desks.turn(clock)
    station.workload.refresh_from_db()
    desk = desks.Desk(station.workload, clock).boot(ready=False)
    playing.finish(desk.agent, clock, code=127)
    desks.turn(clock)
    desks.turn(clock)
    assert (status(station), station.workload.reason) == ("failed", "exit-code")
    assert station.workload.failed_stage == "active"


def test_two_whole_copies_stay_and_the_last_is_never_deleted(station, clock):
    desk = desks.start(station, clock)
    for number in range(4):
        desk.files = {"a": bytes([number])}
        assert desk.copy() == ""
    assert desk.copy(broken=True) == "broken"
    assert HomeCopy.objects.filter(whole__isnull=False).count() == 2
    assert desks.files_of(desk.fetch({"copy": station.home.pk, "size": station.home.size, "sha256": station.home.sha256})) == {"a": b"\x03"}
    assert Workload.objects.get(pk=station.pk).status == "active"

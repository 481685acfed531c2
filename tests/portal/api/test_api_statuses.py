"""The table of statuses that existing clients wait for: every end, and what is seen on the way."""

from __future__ import annotations

from datetime import timedelta

import factories
import playing
import pytest

from jobs import lifecycle
from jobs.models import Event, Workload
from portal.api.v2 import statuses

START = ["Pending", "Queued", "Started", "Validated", "Executing"]


def words(work):
    """(status, reason) oldest first."""
    work = Workload.objects.get(pk=work.pk)
    return [(entry["status"], entry["statusReason"]) for entry in reversed(statuses.of(work))]


@pytest.fixture
def job(owner, cloud):
    """A job on the fake cloud; `job(command)` is submitted."""
    def make(**fields):
        work = factories.job(owner, coretype=factories.coretype(), **fields).workload
        work.submit(owner)
        return work

    return make


def plain(*names):
    return [(name, None) for name in names]


def test_success_never_shows_stopping_and_ends_in_completed(job, clock):
    work, seen = job(), []
    agents = []
    for _ in range(30):
        playing.turn_all(clock)
        work.refresh_from_db()
        seen.append(words(work)[-1])
        if not work.is_active:
            break
        if work.status == lifecycle.STARTING and not agents:
            agents = playing.boot(work, clock)
        elif work.status == lifecycle.RUNNING:
            playing.finish(agents[0], clock)
        clock.forward(1)
    assert words(work) == [*plain(*START), ("Completed", statuses.SUCCESS)]
    assert "Stopping" not in dict(seen)


def test_a_failed_command(job, clock):
    work = job()
    playing.walk(work, clock, code=3)
    assert words(work) == [*plain(*START), ("Stopping", "A run failed"), ("Completed", "A run failed")]
    newest = statuses.of(work)[0]
    assert (newest["outcome"], newest["exitCode"], newest["failedStage"], newest["reason"]) == ("failed", 3, "Running Job", "exit-code")


def test_a_stop_shows_at_once_and_ends_in_completed(job, clock, owner):
    work = job()
    playing.turn_all(clock)
    work.refresh_from_db()
    agents = []
    while work.status != lifecycle.RUNNING:
        playing.turn_all(clock)
        work.refresh_from_db()
        if work.status == lifecycle.STARTING and not agents:
            agents = playing.boot(work, clock)
    work.stop(owner)
    assert words(work)[-1] == ("Stopping", "User Terminated")
    assert statuses.newest(work) == "Stopping"
    playing.finish(agents[0], clock, code=None, signal=15, why="wish")
    playing.walk(work, clock)
    assert words(work) == [*plain(*START), ("Stopping", "User Terminated"), ("Completed", "User Terminated")]


def test_a_force_stop(job, clock, owner):
    work = job()
    for _ in range(4):
        playing.turn_all(clock)
    work.refresh_from_db()
    playing.boot(work, clock)
    playing.turn_all(clock)
    work.refresh_from_db()
    assert work.status == lifecycle.RUNNING
    work.stop(owner)
    work.stop(owner, force=True)
    assert statuses.newest(work) == "Force Stop"
    for _ in range(6):
        clock.forward(2)
        playing.turn_all(clock)
    assert words(work) == [*plain(*START), ("Stopping", "User Terminated"), ("Force Stop", "User Terminated"), ("Completed", "User Terminated")]


def test_a_stop_before_anything_has_begun_ends_too(job, clock, owner):
    work = job()
    work.stop(owner)
    playing.turn_all(clock)
    assert words(work) == [*plain("Pending", "Queued"), ("Stopping", "User Terminated"), ("Completed", "User Terminated")]


def test_what_has_ended_waits_for_nothing(job, clock, owner):
    work = job()
    Workload.objects.update(gate_text="Needs 8 cores of Granite; 0 free")
    work.refresh_from_db()
    assert statuses.truth(work)["waitsFor"] == "Needs 8 cores of Granite; 0 free"
    work.stop(owner, now=clock())
    playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, statuses.truth(work)["waitsFor"]) == (lifecycle.STOPPED, None)


def test_errors_in_the_input(job, clock):
    work = job(command="echo 'unclosed")
    playing.walk(work, clock)
    found = words(work)
    assert found[0] == ("Pending", None)
    assert found[-2] == ("Stopping", "A run failed")
    assert found[-1][0] == "Completed"
    assert "input has errors" in found[-1][1]


def test_no_capacity(owner):
    work = factories.job(owner).workload
    at = work.made
    for before, after in (("draft", "queued"), ("queued", "validating"), ("validating", "starting"), ("starting", "stopping"), ("stopping", "failed")):
        at += timedelta(seconds=1)
        Event.objects.create(workload=work, at=at, before=before, after=after, source="engine", reason="no-capacity" if after in ("stopping", "failed") else "")
    Workload.objects.filter(pk=work.pk).update(status="failed", outcome="failed", reason="no-capacity", failed_stage="starting")
    assert words(work) == [*plain(*START[:4]), ("Completed", "Could not allocate compute resources from the compute provider")]


def test_another_attempt_goes_through_the_stages_again(owner):
    work = factories.job(owner).workload
    at = work.made
    road = [("draft", "queued", ""), ("queued", "validating", ""), ("validating", "starting", ""), ("starting", "stopping", "node-broken"),
            ("stopping", "queued", "again"), ("queued", "validating", "")]
    for before, after, reason in road:
        at += timedelta(seconds=1)
        Event.objects.create(workload=work, at=at, before=before, after=after, source="engine", reason=reason)
    Workload.objects.filter(pk=work.pk).update(status="validating", attempt=2)
    assert words(work)[-1] == ("Started", None)


def test_each_job_has_a_status_and_the_list_agrees_with_the_history(me, jobs):
    listed = {job["id"]: job for job in me.get("jobs/?page_size=100").json()["results"]}
    for name, work in jobs.items():
        history = me.get(f"jobs/{work.public_id}/statuses/").json()["results"]
        assert history[-1]["status"] == "Pending"
        assert listed[work.public_id]["jobStatus"]["content"] == history[0]["status"], name
        dates = [entry["statusDate"] for entry in history[:-1]]
        assert dates == sorted(dates, reverse=True)
        assert {"status", "statusDate", "statusReason"} <= set(history[-1])
        cluster = me.get(f"jobs/{work.public_id}/cluster_statuses/").json()["results"]
        assert cluster[-1]["status"] == "Not Started"
        assert listed[work.public_id]["clusterStatusDisplay"]["content"] == cluster[0]["status"]
    done = me.get(f"jobs/{jobs['completed'].public_id}/cluster_statuses/").json()["results"]
    assert [entry["status"] for entry in done] == ["Stopped", "Stopping", "Stop Requested", "Started", "Starting", "Not Started"]

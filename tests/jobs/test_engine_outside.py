"""What others do to a cluster behind the portal's back, and a backend whose own queue takes its time."""

from datetime import timedelta

import factories
import playing
import pytest

from jobs import lifecycle, rounds
from jobs.backends import WAITS, Described, State
from jobs.models import Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def starting(clock) -> Workload:
    job = factories.job()
    job.workload.submit(job.workload.owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    job.workload.refresh_from_db()
    assert job.workload.status == lifecycle.STARTING
    return job.workload


def polled(work, clock, times=2) -> Workload:
    for _ in range(times):
        clock.forward(3)
        playing.rounds_again()
        rounds.poll(clock())
        playing.turn_all(clock)
    work.refresh_from_db()
    return work


@pytest.mark.parametrize("runs", [False, True])
def test_cancelled_behind_the_portals_back_is_told_within_two_polls(clock, cloud, runs):
    work = starting(clock)
    if runs:
        playing.boot(work, clock)
        playing.turn_all(clock)
    cloud.fail(work.cluster.token, "Cancelled on the cluster by ann")
    polled(work, clock)
    assert (work.status, work.reason, work.attempt) == ("failed", "cancelled-outside", 1)
    assert "by ann" in work.detail


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("Out of memory: raise the memory", "out-of-memory"),
        ("Out of time: ended at its time limit", "walltime"),
        ("A node failed, says Slurm", "node-lost"),
    ],
)
def test_an_end_that_the_backend_explains_has_its_own_reason(clock, cloud, why, reason):
    work = starting(clock)
    playing.boot(work, clock)
    playing.turn_all(clock)
    cloud.fail(work.cluster.token, why)
    polled(work, clock)
    assert (work.status, work.reason, work.detail) == ("failed", reason, why)


def test_a_node_that_was_told_to_end_says_so(clock, cloud):
    work = starting(clock)
    agents = playing.boot(work, clock)
    playing.turn_all(clock)
    playing.finish(agents[0], clock, code=None, signal=15, why="outside")
    polled(work, clock)
    assert (work.status, work.reason) == ("failed", "cancelled-outside")
    assert "not by this portal" in work.detail


ENDED = "Cancelled on the cluster by ann"


def ended(clock, cloud, monkeypatch, told, seconds_before=0.0, **report) -> Workload:
    """A job whose command exits, and whose nodes somebody ended `seconds_before` that, as the backend tells when asked."""
    work = starting(clock)
    agents = playing.boot(work, clock)
    playing.turn_all(clock)
    at = clock() - timedelta(seconds=seconds_before)
    monkeypatch.setattr(cloud, "why_over", lambda token: Described(State.FAILED, told, at) if told else None)
    playing.finish(agents[0], clock, **report)
    return polled(work, clock)


@pytest.mark.parametrize("report", [{}, {"code": 3}, {"code": None, "signal": 15}, {"code": None, "signal": 15, "why": "outside"}])
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (ENDED, "cancelled-outside"),
        ("Out of time: Slurm ended the job at its time limit", "walltime"),
        ("Preempted: Slurm gave its nodes to a job of higher priority", "cancelled-outside"),
        ("A node failed, says Slurm", "node-lost"),
    ],
)
def test_who_ended_the_nodes_ended_the_command_whatever_it_exited_with(clock, cloud, monkeypatch, report, told, reason):
    work = ended(clock, cloud, monkeypatch, told, **report)
    assert (work.status, work.reason, work.failed_stage) == ("failed", reason, lifecycle.RUNNING)
    assert work.detail.startswith(told)


def test_an_end_of_its_own_before_that_of_the_nodes_stays_its_own(clock, cloud, monkeypatch):
    assert ended(clock, cloud, monkeypatch, ENDED, seconds_before=-30).reason == "exit-0"


def test_nodes_that_nobody_ended_change_nothing(clock, cloud, monkeypatch):
    assert ended(clock, cloud, monkeypatch, "").status == "completed"
    assert ended(clock, cloud, monkeypatch, "", code=3).reason == "exit-code"
    assert ended(clock, cloud, monkeypatch, "", code=None, signal=15, why="outside").reason == "cancelled-outside"


def test_a_backend_that_cannot_say_who_ended_it_holds_up_nothing(clock, cloud, monkeypatch):
    def breaks(token):
        raise OSError("gone")

    work = starting(clock)
    agents = playing.boot(work, clock)
    playing.turn_all(clock)
    monkeypatch.setattr(cloud, "why_over", breaks)
    playing.finish(agents[0], clock)
    assert polled(work, clock).status == "completed"


def test_preempted_before_the_command_began_is_tried_again(clock, cloud):
    work = starting(clock)
    cloud.fail(work.cluster.token, "Preempted: its nodes were given to another")
    polled(work, clock)
    assert (work.attempt, work.is_active) == (2, True)


def test_a_wait_in_the_backends_own_queue_has_no_limit_and_the_start_has_one_after_it(clock, cloud, monkeypatch):
    told = {"now": Described(State.PENDING, f"{WAITS} for 2 nodes in partition main.")}
    monkeypatch.setattr(cloud, "describe", lambda tokens: dict.fromkeys(tokens, told["now"]))
    work = starting(clock)
    polled(work, clock)
    clock.forward(9 * 3600)
    assert polled(work, clock).status == lifecycle.STARTING
    assert work.cluster.trouble.startswith(WAITS)
    told["now"] = Described(State.UNKNOWN, "Slurm does not answer")
    clock.forward(3600)
    assert polled(work, clock).status == lifecycle.STARTING
    told["now"] = Described(State.UP, eta=clock())
    assert polled(work, clock).status == lifecycle.STARTING
    assert work.cluster.trouble == ""
    clock.forward(1801)
    polled(work, clock)
    assert (work.status, work.reason) == ("failed", "not-up")

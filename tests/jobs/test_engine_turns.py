"""Turns of the engine: leases, facts that arrive meanwhile, bugs, what is checked before, and who is first in the queue."""


import factories
import playing
import pytest
from playing import running_one, starting, submit

from jobs import engine
from jobs.models import Check, Event, Workload, advance
from jobs.models.change import Change
from jobs.stages.base import end, wait

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def test_a_lease_is_taken_over_when_it_ends(clock):
    work = submit(clock)
    playing.turn_all(clock, ("queued",))
    assert engine.claim("validating", clock(), "dead-worker")
    assert engine.turn("validating", clock()) == 0
    assert engine.turn("validating", clock.forward(engine.LEASE + 1)) >= 1
    work.refresh_from_db()
    assert work.status != "validating"


def test_a_fact_that_arrives_during_a_turn_is_not_slept_over(clock):
    work = starting(clock)
    rows = engine.claim("starting", clock.forward(60), "mine")
    step = wait(engine.load(rows, clock())[0])
    work.touch()
    engine.apply([step], clock(), "mine")
    work.refresh_from_db()
    assert work.due <= clock()


@pytest.mark.parametrize("others", [0, 2])
def test_a_stop_that_is_accepted_before_the_end_is_written_wins(clock, others):
    works = [submit(clock, name=f"job {number}", command="true") for number in range(others + 1)]
    for work in works:
        work.refresh_from_db()
    rows = engine.claim("queued", clock(), "mine")
    steps = [end(facts, "never-starts", "too big") for facts in engine.load(rows, clock())]
    stopped = works[0]
    assert stopped.stop(stopped.owner, now=clock())
    engine.apply(steps, clock(), "mine")
    stopped.refresh_from_db()
    assert (stopped.status, stopped.lease) == ("queued", "")
    assert {Workload.objects.get(pk=work.pk).status for work in works[1:]} == ({"failed"} if others else set())
    playing.turn_all(clock, ("queued",))
    stopped.refresh_from_db()
    assert (stopped.status, stopped.reason) == ("stopped", "stopped")


def test_a_bug_flags_one_row_and_spares_the_others(clock, monkeypatch):
    bad, good = submit(clock, name="bad"), submit(clock, name="good")
    playing.turn_all(clock, ("queued",))
    decide = engine.STAGES["validating"]

    def stumble(facts, now):
        if facts.work.name == "bad":
            raise RuntimeError("a bug")
        return decide(facts, now)

    monkeypatch.setitem(engine.STAGES, "validating", stumble)
    engine.turn("validating", clock())
    bad.refresh_from_db()
    good.refresh_from_db()
    assert (bad.status, good.status) == ("validating", "starting")
    assert "a bug" in bad.flagged


def test_there_is_no_way_that_the_table_does_not_have(clock):
    work = submit(clock)
    with pytest.raises(ValueError, match="no way"):
        advance([Change(work, "running")], clock())


def test_somebody_faster_wins(clock):
    work = submit(clock)
    other = Workload.objects.get(pk=work.pk)
    assert advance([Change(work, "validating")], clock()) == {work.pk}
    assert advance([Change(other, "validating")], clock()) == set()
    assert Event.objects.filter(workload=work, after="validating").count() == 1


def test_the_same_bytes_are_checked_once(clock):
    for _ in range(3):
        submit(clock)
    playing.turn_all(clock)
    assert Check.objects.count() <= 3
    assert Check.objects.filter(done__isnull=True).count() == 0


def test_errors_fail_it_in_the_queue_with_the_x_at_validating(clock, owner, wing):
    factories.budget(wing, 0)
    work = submit(clock, owner=owner, project=wing, command="echo 'unclosed")
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert (work.status, work.reason, work.failed_stage) == ("failed", "findings", "validating")
    assert work.ended is not None


def test_warnings_leave_it_in_the_queue_even_if_they_speak_of_an_error(clock, owner, wing):
    factories.budget(wing, 0)
    work = submit(clock, owner=owner, project=wing)
    playing.turn_all(clock, ("queued",))
    Check.objects.update(findings=[{"severity": "warning", "message": 'the word "error"'}], done=clock())
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert work.job.checked.warnings == 1
    assert (work.status, work.gate) == ("queued", "budget")


def test_what_can_never_start_fails_with_its_x_at_queued(clock):
    work = submit(clock, coretype=factories.coretype(active=False))
    playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.reason, work.failed_stage) == ("failed", "never-starts", "queued")


def test_without_a_sandbox_only_admins_may_run(clock, cloud, admin, monkeypatch, settings):
    monkeypatch.setattr(cloud, "sandbox", "none", raising=False)
    theirs, admins = submit(clock), submit(clock, owner=admin)
    playing.turn_all(clock, ("queued",))
    theirs.refresh_from_db()
    admins.refresh_from_db()
    assert (theirs.status, theirs.reason) == ("failed", "never-starts")
    assert "sandbox" in theirs.detail
    assert admins.status != "failed"
    settings.ALLOW_NO_SANDBOX = True
    allowed = submit(clock)
    playing.turn_all(clock, ("queued",))
    allowed.refresh_from_db()
    assert allowed.status != "failed"


def test_a_big_job_is_not_starved_by_small_ones(clock, cloud):
    """Two cores in all: the big one is next, small ones that would outlast its start must wait behind it."""
    cloud.pools = {"": 2}
    try:
        kind = factories.coretype(cores=2)
        first, _ = running_one(clock, coretype=kind, cores=1, walltime=100)
        clock.forward(1)
        big = submit(clock, coretype=kind, cores=2, name="big")
        clock.forward(1)
        long = submit(clock, coretype=kind, cores=1, walltime=500)
        short = submit(clock, coretype=kind, cores=1, walltime=50)
        playing.turn_all(clock, ("queued",))
        for work in (big, long, short):
            work.refresh_from_db()
        assert (big.status, long.status, short.status) == ("queued", "queued", "validating")
        assert long.gate in {"capacity", "place"}
    finally:
        cloud.pools = {"": None}

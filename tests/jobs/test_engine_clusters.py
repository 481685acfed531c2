"""What may go wrong with clusters: retries, lost nodes, no capacity, money that runs out, outages."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest
from playing import running_one, submit

from jobs import backends, engine, gateway, lifecycle, logs, rounds
from jobs.models import Outage, Stray, Turn, Workload
from jobs.stages import running
from jobs.stages.base import Facts
from jobs.stages.starting import note_clusters

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def test_no_capacity_goes_back_to_queued_uncounted_and_is_not_charged(clock, cloud):
    cloud.misbehave(create="no capacity", times=1)
    work = starting_or_queued(clock)
    assert (work.status, work.tries, work.attempt) == ("queued", 0, 2)
    playing.turn_all(clock)
    work.refresh_from_db()
    assert work.gate == "capacity"
    assert "tries again" in work.gate_text
    clock.forward(60)
    assert playing.walk(work, clock)[-1] == "completed"


def starting_or_queued(clock) -> Workload:
    work = submit(clock)
    playing.turn_all(clock)
    work.refresh_from_db()
    return work


def test_a_broken_node_is_tried_three_times_and_then_fails(clock):
    work = submit(clock)
    for attempt in (1, 2, 3):
        playing.turn_all(clock, ("queued", "validating", "starting"))
        work.refresh_from_db()
        assert (work.status, work.attempt) == ("starting", attempt)
        gateway.failed(playing.callers(work)[0], {"message": "no disk"}, clock())
        playing.turn_all(clock, ("starting", "stopping"))
        clock.forward(10)
    work.refresh_from_db()
    assert (work.status, work.reason, work.failed_stage) == ("failed", "node-broken", "starting")
    assert "no disk" in work.detail


def test_an_accepted_create_that_raised_is_not_made_twice(clock, cloud):
    cloud.misbehave(create="try again", accepted=True, times=1)
    work = submit(clock)
    playing.turn_all(clock)
    assert len(list(cloud.tokens())) == 1
    clock.forward(10)
    assert playing.walk(work, clock)[-1] == "completed"
    assert list(cloud.tokens()) == []


def test_unknown_is_not_over(clock, cloud):
    work, agents = running_one(clock)
    cloud.misbehave(unknown=50)
    for _ in range(10):
        clock.forward(30)
        playing.rounds_again()
        rounds.poll(clock())
        playing.turn_all(clock)
    work.refresh_from_db()
    assert work.status == lifecycle.RUNNING
    assert work.cluster.unknown_since is not None


def test_a_vanished_cluster_is_lost_after_two_looks(clock, cloud):
    work, _ = running_one(clock)
    playing.rounds_again()
    rounds.poll(clock())
    cloud.vanish(work.cluster.token)
    for look in (1, 2):
        clock.forward(10)
        playing.rounds_again()
        rounds.poll(clock())
        playing.turn_all(clock)
        work.refresh_from_db()
        assert work.status == ("running" if look == 1 else "failed")
    assert (work.reason, work.failed_stage) == ("node-lost", "running")
    assert logs.complete(logs.attempt_dir(work.public_id, 1), "stdout").agent_size is None  # over, and nobody knows whether that is all


def test_silence_counts_only_while_the_portal_was_up(clock):
    work, _ = running_one(clock)
    facts = engine.load([work], clock())[0]
    later = clock.forward(3600)
    assert running.silence(facts, later) == pytest.approx(3600, abs=5)
    Outage.objects.create(start=later - timedelta(seconds=3000), end=later - timedelta(seconds=60))
    facts = engine.load([work], later)[0]
    assert running.silence(facts, later) == pytest.approx(60, abs=5)


def test_a_stop_before_the_end_row_wins_and_the_exit_code_stays(clock, owner):
    work, agents = running_one(clock, owner=owner)
    playing.finish(agents[0], clock)
    work.stop(owner, now=clock())
    playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.cluster.exit["code"]) == ("stopped", 0)


def test_force_stop_releases_at_once(clock, owner, cloud):
    work, _ = running_one(clock, owner=owner)
    assert work.stop(owner, now=clock())
    assert work.stop(owner, force=True, now=clock())
    assert not work.stop(owner, now=clock())
    playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.reason) == ("stopped", "force-stopped")
    assert list(cloud.tokens()) == []


def test_a_strict_budget_stops_it_in_time(clock, owner, wing):
    budget = factories.budget(wing, "1.0")
    work, agents = running_one(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal("1")), cores=1)
    playing.through(work, clock, 75, agents)
    assert (work.status, work.reason) == ("stopping", "budget-used-up")
    assert gateway.orders(agents[0], clock())["wish"] == "stop"
    clock.forward(30)
    playing.finish(agents[0], clock, signal=15, code=None)
    playing.turn_all(clock)
    work.refresh_from_db()
    budget.refresh_from_db()
    assert (work.status, work.failed_stage) == ("failed", "running")
    assert budget.spent <= budget.amount
    assert budget.held == 0


def test_reconcile_destroys_what_was_released_and_shows_what_is_unknown(clock, cloud):
    work = submit(clock)
    playing.walk(work, clock)
    spec = backends.Spec(coretype="c", nodes=1, cores=1, memory=1, walltime=1, portal="", secret="s", agent="a")
    cloud.plant(work.cluster.token, spec)
    unknown = work.cluster.token.replace(work.public_id, "zzzzzz")
    cloud.plant(unknown, spec)
    cloud.plant("hrffff-job-aBcDeF-1", spec)
    playing.rounds_again()
    assert rounds.reconcile(clock.forward(60)) == 1
    assert sorted(cloud.tokens()) == sorted([unknown, "hrffff-job-aBcDeF-1"])
    Stray.objects.update(decision="destroy")
    playing.rounds_again()
    assert rounds.reconcile(clock.forward(60)) == 0
    assert list(cloud.tokens()) == ["hrffff-job-aBcDeF-1"]


def test_an_outage_is_noted_by_the_next_sweep(clock):
    rounds.sweep(clock())
    rounds.sweep(clock.forward(2))
    assert not Outage.objects.exists()
    rounds.sweep(clock.forward(300))
    outage = Outage.objects.get()
    assert (outage.end - outage.start).total_seconds() == pytest.approx(300, abs=3)
    assert not Turn.take("sweep", clock(), 1)


def test_nobody_pays_for_the_time_the_portal_was_away_after_the_end(clock, owner, wing):
    budget = factories.budget(wing, 100)
    work, agents = running_one(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal("3.6")), cores=1)
    clock.forward(20)
    playing.finish(agents[0], clock)
    start = clock()
    end = clock.forward(300)
    Outage.objects.create(start=start, end=end)
    playing.turn_all(clock)
    budget.refresh_from_db()
    work.refresh_from_db()
    assert work.status == "completed"
    assert budget.spent < Decimal("0.05")
    assert work.ended <= start


def test_a_token_that_a_late_worker_wrote_is_taken_over(cloud, clock, owner):
    work = factories.job(owner).workload
    work.submit(owner, clock())
    first = note_clusters([Facts(work, None)], clock())[work.pk]
    again = note_clusters([Facts(work, None)], clock.forward(60))[work.pk]
    assert (again.pk, again.token, again.asked) == (first.pk, first.token, first.asked)

"""Until when is paid, and by whom: the confirmed release, the last sign of life; what changes while a job runs."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest

from jobs import ledger, requests, rounds
from jobs.models import Budget, Charge, Cluster, Request, Workload
from jobs.money.books import due, seconds_between

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]

PRICE = Decimal("3.6")
"""A thousandth a second."""


@pytest.fixture
def running(clock, owner, wing):
    def begin(cores=1, **fields):
        kind = factories.coretype(price=PRICE)
        work = factories.job(owner, project=wing, coretype=kind, cores=cores, **{"walltime": 6 * 3600, **fields}).workload
        work.submit(owner, clock())
        playing.turn_all(clock, ("queued", "validating", "starting"))
        agents = playing.boot(work, clock)
        playing.turn_all(clock, ("starting",))
        work.refresh_from_db()
        assert work.status == "running"
        return work, agents

    return begin


def used(work):
    """Seconds paid for by all, from the first hello on."""
    cluster = Cluster.objects.get(workload=work)
    amount = sum(Charge.objects.filter(workload=work).values_list("amount", flat=True))
    assert amount == due(PRICE * cluster.total_cores, seconds_between(cluster.up, cluster.charged_until))
    return cluster.charged_until - cluster.up


def test_it_is_paid_until_the_release_is_confirmed_and_not_a_second_longer(clock, wing, running, cloud):
    budget = factories.budget(wing, 100)
    work, agents = running()
    cloud.misbehave(destroys=3)
    clock.forward(100)
    playing.finish(agents[0], clock)
    for _ in range(12):
        playing.turn_all(clock)
        clock.forward(10)
    work.refresh_from_db()
    cluster = work.cluster
    assert work.status == "completed"
    assert cluster.released > cluster.exited + timedelta(seconds=5)
    assert used(work) == cluster.released - cluster.up
    budget.refresh_from_db()
    assert (budget.spent, budget.held) == (due(PRICE, seconds_between(cluster.up, cluster.released)), 0)


def test_a_cluster_that_its_provider_lost_is_paid_until_its_last_sign_of_life(clock, wing, running, cloud):
    budget = factories.budget(wing, 100)
    work, agents = running()
    heard = clock.forward(200)
    playing.beat(agents, clock)
    cloud.vanish(work.cluster.token)
    for _ in range(4):
        clock.forward(150)
        playing.rounds_again()
        rounds.poll(clock())
        playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.reason) == ("failed", "node-lost")
    assert used(work) == pytest.approx(heard - work.cluster.up, abs=timedelta(seconds=1))
    budget.refresh_from_db()
    assert budget.held == 0


def test_a_strict_budget_that_runs_out_stops_it_early_enough_that_saving_is_paid_too(clock, wing, running):
    budget = factories.budget(wing, Decimal("4.5"))  # an hour and a quarter
    work, agents = running()
    playing.through(work, clock, 80, agents)
    assert (work.status, work.reason) == ("stopping", "budget-used-up")
    clock.forward(60)
    playing.finish(agents[0], clock, signal=15, code=None)
    playing.turn_all(clock)
    work.refresh_from_db()
    budget.refresh_from_db()
    assert work.status == "failed"
    assert used(work) > timedelta(minutes=73)
    assert 0 <= budget.left < Decimal("0.1")
    assert not Charge.objects.filter(budget=None).exists()


def test_a_budget_that_is_closed_while_it_runs_gives_no_more_and_pays_what_it_promised(clock, wing, running):
    budget = factories.budget(wing, 1000)
    work, agents = running()
    Budget.objects.filter(pk=budget.pk).update(active=False)
    playing.through(work, clock, 70, agents)
    assert (work.status, work.reason) == ("stopping", "budget-used-up")
    assert used(work) < timedelta(hours=1)
    assert not Charge.objects.filter(budget=None).exists()


def test_a_limit_that_is_raised_while_it_runs_lets_it_go_on(clock, wing, running, admin):
    budget = factories.budget(wing, Decimal("3.6"))
    work, agents = running()
    playing.through(work, clock, 50, agents)
    ledger.set_limit(budget, Decimal("36"), admin, clock())
    playing.through(work, clock, 30, agents)
    assert work.status == "running"
    assert work.cluster.paid_until > clock()


def test_price_and_walltime_that_change_while_it_runs_change_no_price_of_it(clock, owner, wing, running):
    budget = factories.budget(wing, 100)
    work, agents = running(walltime=3600)
    playing.through(work, clock, 20, agents)
    work.coretype.price = PRICE * 10
    work.coretype.save()
    Request.ask(Request.Kind.EXTEND, work.cluster, owner, work.cluster.walltime_until + timedelta(hours=1))
    assert requests.carry_out(clock()) == 1
    playing.through(work, clock, 70, agents)
    assert work.status == "running"
    playing.finish(agents[0], clock)
    playing.turn_all(clock)
    work.refresh_from_db()
    assert work.status == "completed"
    assert timedelta(minutes=90) <= used(work) < timedelta(minutes=91)
    budget.refresh_from_db()
    assert budget.spent == due(PRICE, seconds_between(work.cluster.up, work.cluster.released))


def test_a_thousandth_of_a_cent_and_of_a_core_hour_add_up_exactly(clock, owner, wing):
    """Half up to six decimals for each cluster, and never for a part of one: 40 times 0.0000025 is 40 times 0.000003."""
    kind = factories.coretype(price=Decimal("0.001"))
    money, hours = factories.budget(wing, 1000), factories.budget(wing, 1000, unit="core-hours")
    works = [factories.job(owner, project=wing, coretype=kind, cores=1).workload for _ in range(40)]
    for work in works:
        work.submit(owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    for work in works:
        playing.boot(Workload.objects.get(pk=work.pk), clock)
    end = clock.forward(9)
    assert len(ledger.settle(dict.fromkeys(Cluster.objects.values_list("pk", flat=True), end), end)) == 40
    for budget, each in ((money, Decimal("0.000003")), (hours, Decimal("0.0025"))):
        budget.refresh_from_db()
        assert (budget.spent, budget.held) == (40 * each, 0)
        assert budget.left == 1000 - 40 * each

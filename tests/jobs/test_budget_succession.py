"""At the last second of a strict budget the next one of the same target and unit pays on; for one that is used up nobody does."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest

from jobs import ledger, rounds
from jobs.books import due
from jobs.models import Budget, Charge, Cluster, Event, Hold, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
PRICE = Decimal("3.7")


@pytest.fixture
def end(clock):
    return clock() + 2 * HOUR


@pytest.fixture
def old(wing, end):
    return factories.budget(wing, 1000, ends=end, name="Autumn")


@pytest.fixture
def cluster(clock, owner, wing, old):
    """One that runs on the old budget alone, from an odd fraction of a second on."""
    clock.now += timedelta(microseconds=250_001)
    work = factories.job(owner, project=wing, coretype=factories.coretype(price=PRICE), cores=1, walltime=86_400).workload
    work.submit(owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    playing.boot(work, clock)
    playing.turn_all(clock, ("starting",))
    assert Workload.objects.get(pk=work.pk).status == "running"
    return work.cluster


def meter_until(clock, cluster, moment, step=600):
    while clock() < moment:
        clock.now = min(moment, clock() + timedelta(seconds=step))
        ledger.meter([cluster.pk], clock())
    return Cluster.objects.get(pk=cluster.pk)


def seconds(start, end):
    return -(-(end - start) // SECOND)


def spent(*budgets):
    rows = [Budget.objects.get(pk=budget.pk) for budget in budgets]
    assert all(row.held == 0 for row in rows)
    return [row.spent for row in rows]


def test_each_pays_its_seconds_and_together_they_pay_all(clock, cluster, wing, old, end):
    new = factories.budget(wing, 1000, begins=end, name="Winter")
    assert meter_until(clock, cluster, end - 40 * timedelta(minutes=1)).paid_until <= end
    assert not Hold.objects.filter(budget=new).exists()
    now = meter_until(clock, cluster, end - timedelta(minutes=10))
    assert now.paid_until > end + timedelta(minutes=15)
    assert Hold.objects.get(budget=new).since == end
    over = end + 3 * HOUR + timedelta(microseconds=1)
    assert meter_until(clock, cluster, end + 3 * HOUR).paid_until > end + 3 * HOUR
    ledger.settle({cluster.pk: over}, over)
    first, all_of_it = due(PRICE, seconds(cluster.up, end)), due(PRICE, seconds(cluster.up, over))
    assert spent(old, new) == [first, all_of_it - first]
    assert not Charge.objects.filter(budget=None).exists()
    assert Charge.objects.filter(budget=new).order_by("pk").first().start == end


@pytest.mark.parametrize(("late", "count"), [(timedelta(), 0), (timedelta(microseconds=1), 1), (SECOND, 1), (timedelta(seconds=1.5), 2)])
def test_the_second_in_which_the_old_one_ends_is_its_own(clock, cluster, wing, old, end, late, count):
    new = factories.budget(wing, 1000, begins=end)
    meter_until(clock, cluster, end - timedelta(minutes=1))
    ledger.settle({cluster.pk: end + late}, end + late)
    first, second = spent(old, new)
    assert first == due(PRICE, seconds(cluster.up, end))
    assert abs(second - due(PRICE, count)) < Decimal("0.0011")  # a second that has begun at the change is the old one's
    assert first + second == due(PRICE, seconds(cluster.up, end + late))


def test_what_ends_before_costs_the_new_one_nothing(clock, cluster, wing, old, end):
    new = factories.budget(wing, 1000, begins=end)
    moment = end - timedelta(minutes=5)
    meter_until(clock, cluster, moment)
    assert Budget.objects.get(pk=new.pk).held > 0
    ledger.settle({cluster.pk: moment}, moment)
    assert spent(old, new) == [due(PRICE, seconds(cluster.up, moment)), 0]


def test_the_engine_lets_it_run_on(clock, cluster, wing, end):
    factories.budget(wing, 1000, begins=end)
    work = cluster.workload
    while clock() < end + timedelta(minutes=10):
        clock.forward(240)
        playing.rounds_again()
        rounds.meter(clock())
        playing.beat(playing.callers(work), clock)
        Workload.objects.filter(pk=work.pk).update(due=clock())
        playing.turn_all(clock, ("running",))
    work.refresh_from_db()
    assert work.status == "running"


def test_a_new_one_without_money_pays_nothing_and_it_is_stopped_in_time(clock, cluster, wing, old, end):
    new = factories.budget(wing, Decimal("0.5"), begins=end)
    Budget.objects.filter(pk=new.pk).update(spent=Decimal("0.5"))
    assert meter_until(clock, cluster, end - timedelta(minutes=5)).paid_until == end
    Budget.objects.filter(pk=new.pk).update(amount=100)
    assert meter_until(clock, cluster, end - timedelta(minutes=3)).paid_until > end


def test_a_budget_that_is_used_up_still_applies_and_nobody_steps_in(clock, cluster, wing, old, end):
    factories.budget(wing, 1000, begins=clock())
    Budget.objects.filter(pk=old.pk).update(amount=Decimal("4"))
    now = meter_until(clock, cluster, clock() + HOUR / 2)
    assert now.paid_until < end
    assert list(Hold.objects.values_list("budget", flat=True)) == [old.pk]


def test_neither_another_target_nor_another_unit_nor_one_that_ends_too_steps_in(clock, cluster, wing, owner, end):
    factories.budget(None, 1000, begins=end)
    factories.budget(None, 1000, member=owner, begins=end)
    factories.budget(wing, 1000, begins=end, unit="core-hours")
    factories.budget(wing, 1000, begins=end + SECOND)
    factories.budget(wing, 1000, begins=clock() + SECOND, ends=end)
    assert meter_until(clock, cluster, end - timedelta(minutes=5)).paid_until == end
    assert Hold.objects.count() == 1


def test_a_soft_one_takes_over_whatever_it_has(clock, cluster, wing, old, end):
    new = factories.budget(wing, 0, begins=end, strictness="soft")
    assert meter_until(clock, cluster, end + HOUR).paid_until is None
    ledger.settle({cluster.pk: clock()}, clock())
    assert sum(spent(old, new)) == due(PRICE, seconds(cluster.up, clock()))


def test_two_that_follow_must_both_allow_and_both_pay(clock, cluster, wing, old, end):
    pair = [factories.budget(wing, amount, begins=end) for amount in (1000, 5)]
    now = meter_until(clock, cluster, end + HOUR / 2)
    assert end < now.paid_until < end + 2 * HOUR  # what the smaller one pays for
    ledger.settle({cluster.pk: clock()}, clock())
    assert len(set(spent(*pair))) == 1


def test_a_third_one_follows_the_second(clock, cluster, wing, old, end):
    middle = factories.budget(wing, 1000, begins=end, ends=end + HOUR)
    last = factories.budget(wing, 1000, begins=end + HOUR)
    meter_until(clock, cluster, end + 2 * HOUR)
    ledger.settle({cluster.pk: clock()}, clock())
    first, second, third = spent(old, middle, last)
    assert second == due(PRICE, seconds(cluster.up, end + HOUR)) - first
    assert first + second + third == due(PRICE, seconds(cluster.up, clock()))


def test_an_end_put_off_after_the_change_is_not_paid_twice(clock, cluster, wing, old, end):
    new = factories.budget(wing, 1000, begins=end)
    meter_until(clock, cluster, end + HOUR)
    Budget.objects.filter(pk=old.pk).update(ends=end + 5 * HOUR)
    meter_until(clock, cluster, end + 2 * HOUR)
    ledger.settle({cluster.pk: clock()}, clock())
    first = due(PRICE, seconds(cluster.up, end))
    assert spent(old, new) == [first, due(PRICE, seconds(cluster.up, clock())) - first]


def test_a_day_ahead_what_runs_is_told_who_pays_on(clock, cluster, wing, old, end):
    factories.budget(wing, 1000, begins=end, name="Winter")
    ledger.notice(clock())
    assert "Winter pays on for what still runs" in Event.objects.get(reason="budget-warning").detail

"""At the last second of a strict budget the next one of the same target and unit pays on; for one that is used up nobody does."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest

from jobs import ledger, rounds
from jobs.models import Budget, Charge, Cluster, Event, Hold, Workload
from jobs.money.books import due

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


# --- others that pay already ------------------------------------------------------------------------------------------
@pytest.fixture
def other(wing):
    """Asked for before `cluster`: held from the start beside the old one."""
    return factories.budget(wing, 1000, name="Other")


def test_one_that_pays_beside_it_from_the_start_pays_on(clock, other, cluster, wing, old, end):
    assert meter_until(clock, cluster, end - timedelta(minutes=5)).paid_until > end
    assert meter_until(clock, cluster, end + HOUR).paid_until > clock()
    assert ledger.budgets_for(cluster.workload.owner, wing, clock()) == [other]
    ledger.settle({cluster.pk: clock()}, clock())
    assert spent(old, other) == [due(PRICE, seconds(cluster.up, end)), due(PRICE, seconds(cluster.up, clock()))]
    assert not Charge.objects.filter(budget=None).exists()


def test_at_the_end_those_beside_it_and_those_that_begin_then_pay_both(clock, other, cluster, wing, old, end):
    new = factories.budget(wing, 1000, begins=end)
    meter_until(clock, cluster, end + HOUR)
    ledger.settle({cluster.pk: clock()}, clock())
    first, whole = due(PRICE, seconds(cluster.up, end)), due(PRICE, seconds(cluster.up, clock()))
    assert spent(old, other, new) == [first, whole, whole - first]


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_that_follow_one_ends_first_and_the_other_pays_on(clock, cluster, wing, old, end, order):
    short, long = [factories.budget(wing, 1000, begins=end, ends=last) for last in (end + HOUR, None)[::order]][::order]
    assert meter_until(clock, cluster, end + HOUR / 2 + timedelta(minutes=20)).paid_until > end + HOUR
    meter_until(clock, cluster, end + 2 * HOUR)
    ledger.settle({cluster.pk: clock()}, clock())
    first, middle = due(PRICE, seconds(cluster.up, end)), due(PRICE, seconds(cluster.up, end + HOUR))
    assert spent(old, short, long) == [first, middle - first, due(PRICE, seconds(cluster.up, clock())) - first]


def test_one_that_has_stepped_aside_comes_back_when_it_is_in_force_again(clock, cluster, wing, old, end):
    new = factories.budget(wing, 1000, begins=end, ends=end + 2 * HOUR)
    meter_until(clock, cluster, end + HOUR)
    assert Hold.objects.get(budget=old).released
    Budget.objects.filter(pk=old.pk).update(ends=None)
    assert meter_until(clock, cluster, end + 3 * HOUR).paid_until > clock()
    ledger.settle({cluster.pk: clock()}, clock())
    middle = due(PRICE, seconds(cluster.up, end + 2 * HOUR)) - due(PRICE, seconds(cluster.up, end))
    assert spent(old, new) == [due(PRICE, seconds(cluster.up, clock())) - middle, middle]


def test_of_two_that_have_ended_the_installation_bears_each_second_once(clock, cluster, wing, old, end):
    new = factories.budget(wing, 1000, begins=end, ends=end + HOUR)
    over = end + HOUR + timedelta(seconds=100)
    meter_until(clock, cluster, end + HOUR)
    ledger.settle({cluster.pk: over}, over)
    beyond = sum(Charge.objects.filter(budget=None).values_list("amount", flat=True))
    assert beyond == due(PRICE, seconds(cluster.up, over)) - due(PRICE, seconds(cluster.up, end + HOUR))
    assert sum(spent(old, new)) + beyond == due(PRICE, seconds(cluster.up, over))


# --- dates changed after the hold is made -----------------------------------------------------------------------------
@pytest.fixture
def new(clock, cluster, wing, old, end):
    """It has a hold already, twenty minutes before the end, and is in force before that too."""
    budget = factories.budget(wing, 1000, begins=end - HOUR, name="Winter")
    meter_until(clock, cluster, end - timedelta(minutes=20))
    assert Hold.objects.get(budget=budget).since == end
    return budget


def dated(budget, **dates):
    Budget.objects.filter(pk=budget.pk).update(**dates)


def test_both_dates_put_off_the_old_one_pays_on_though_the_next_has_no_money_yet(clock, cluster, old, new, end):
    later = end + 10 * HOUR
    dated(old, ends=later)
    dated(new, begins=later, amount=Hold.objects.get(budget=new).amount)
    assert meter_until(clock, cluster, end + HOUR).paid_until > clock()
    dated(new, amount=1000)
    meter_until(clock, cluster, later + HOUR, step=1500)
    ledger.settle({cluster.pk: clock()}, clock())
    first = due(PRICE, seconds(cluster.up, later))
    assert spent(old, new) == [first, due(PRICE, seconds(cluster.up, clock())) - first]


def test_the_end_taken_away_the_next_one_is_charged_nothing(clock, cluster, old, new, end):
    dated(old, ends=None)
    dated(new, begins=end + 10 * HOUR)
    meter_until(clock, cluster, end + HOUR)
    ledger.settle({cluster.pk: clock()}, clock())
    assert spent(old, new) == [due(PRICE, seconds(cluster.up, clock())), 0]


@pytest.mark.parametrize("metered", [True, False])
@pytest.mark.parametrize("minutes", [10, 18, 30])
def test_an_end_put_forward_the_next_one_pays_from_then_on(clock, cluster, old, new, end, minutes, metered):
    early = end - timedelta(minutes=minutes)
    charged = Cluster.objects.get(pk=cluster.pk).charged_until
    dated(old, ends=early)
    over = end + HOUR / 2 if metered else clock() + timedelta(minutes=15)
    if metered:
        meter_until(clock, cluster, over)
    ledger.settle({cluster.pk: over}, over)
    first = due(PRICE, seconds(cluster.up, max(early, charged)))
    assert spent(old, new) == [first, due(PRICE, seconds(cluster.up, over)) - first]
    assert not Charge.objects.filter(budget=None).exists()

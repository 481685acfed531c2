"""Money is exact: under concurrency, however time is split, in both units, for lists of budgets."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from forking import together

from jobs import engine, ledger, lifecycle, rounds
from jobs.models import Budget, Charge, Cluster, Hold, MoneyField, Workload, micros
from jobs.models.change import Change, advance
from jobs.money.books import due, seconds_between


def started(clock, **fields):
    job = factories.job(**fields)
    job.workload.submit(job.workload.owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    work = Workload.objects.get(pk=job.workload.pk)
    agents = playing.boot(work, clock)
    playing.turn_all(clock, ("starting",))
    work.refresh_from_db()
    return work, agents


pytestmark = pytest.mark.usefixtures("cloud")


@pytest.mark.django_db(transaction=True)
def test_money_for_exactly_forty_starts_forty_of_a_hundred():
    owner = factories.user()
    project = factories.project(owner)
    budget = factories.budget(project, 40)
    kind = factories.coretype(price=Decimal("1"))
    works = [factories.job(owner, project=project, coretype=kind, cores=1).workload for _ in range(100)]
    advance([Change(work, lifecycle.QUEUED, fields={"submitted": timezone.now()}) for work in works], timezone.now())
    answers = together(4, lambda _: engine.turn(lifecycle.QUEUED))
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    budget.refresh_from_db()
    assert Workload.objects.exclude(status=lifecycle.QUEUED).count() == 40
    assert (budget.held, budget.left) == (40, 0)
    assert set(Workload.objects.filter(status=lifecycle.QUEUED).values_list("gate", flat=True)) == {"budget"}


@pytest.mark.django_db(transaction=True)
def test_two_submits_at_once_are_one(owner):
    work = factories.job(owner).workload
    answers = together(6, lambda _: Workload.objects.get(pk=work.pk).submit(owner))
    assert sorted(answers) == [False] * 5 + [True]
    assert work.events.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_budgets_from_two_sides_never_deadlock(clock):
    """Settling, metering and starting at once, all on the same two budgets."""
    owner = factories.user()
    project = factories.project(owner)
    member, shared = factories.budget(None, 1000, member=owner), factories.budget(project, 1000)
    kind = factories.coretype(price=Decimal("3.6"))
    living = [started(clock, owner=owner, project=project, coretype=kind, cores=1)[0] for _ in range(4)]
    waiting = [factories.job(owner, project=project, coretype=kind, cores=1).workload for _ in range(8)]
    advance([Change(work, lifecycle.QUEUED, fields={"submitted": clock()}) for work in waiting], clock())
    ids = [work.cluster.pk for work in living]
    end = clock.forward(400)
    calls = [
        lambda: engine.turn(lifecycle.QUEUED, end),
        lambda: ledger.meter(ids, end),
        lambda: ledger.settle({ids[0]: end, ids[1]: end}, end),
        lambda: ledger.settle({ids[1]: end, ids[2]: end}, end),
        lambda: ledger.meter(reversed(ids), end),
    ]
    answers = together(len(calls), lambda index: calls[index]())
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    for budget in (member, shared):
        budget.refresh_from_db()
        held = sum(hold.amount for hold in Hold.objects.filter(budget=budget, released__isnull=True))
        spent = sum(charge.amount for charge in Charge.objects.filter(budget=budget))
        assert (budget.held, budget.spent) == (held, spent)


@pytest.mark.django_db
@pytest.mark.parametrize("price", ["0.001", "0.0333333", "7", "0.000001"])
def test_splitting_time_never_changes_a_sum(clock, owner, wing, price):
    budget = factories.budget(wing, 10_000)
    work, agents = started(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal(price)), cores=3)
    cluster = work.cluster
    for seconds in (301, 307, 311, 401, 503, 997):
        clock.forward(seconds)
        ledger.meter([cluster.pk], clock())
    end = clock.forward(7)
    ledger.settle({cluster.pk: end}, end)
    assert ledger.settle({cluster.pk: end}, end) == []
    budget.refresh_from_db()
    total = due(work.coretype.price * 3, seconds_between(cluster.up, end))
    assert budget.spent == total == sum(charge.amount for charge in budget.charges.all())
    assert budget.held == 0


@pytest.mark.django_db
def test_core_hours_and_money_side_by_side(clock, owner, wing):
    hours = factories.budget(wing, "2.5", unit="core-hours", name="hours")
    money = factories.budget(None, 100, name="all")
    work, _ = started(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal("0.5")), cores=2)
    hours.refresh_from_db()
    assert hours.held == 2
    end = clock.forward(1800)
    ledger.settle({work.cluster.pk: end}, end)
    hours.refresh_from_db()
    money.refresh_from_db()
    assert (hours.spent, money.spent) == (Decimal(1), Decimal("0.5"))


@pytest.mark.django_db
def test_the_price_is_the_one_noted_when_the_cluster_was_asked_for(clock, owner, wing):
    budget = factories.budget(wing, 100)
    kind = factories.coretype(price=Decimal("2"))
    work, _ = started(clock, owner=owner, project=wing, coretype=kind, cores=1)
    clock.forward(300)
    kind.price = Decimal("20")
    kind.save()
    end = clock.forward(300)
    ledger.settle({work.cluster.pk: end}, end)
    budget.refresh_from_db()
    assert budget.spent == due(Decimal(2), 600)


@pytest.mark.django_db
def test_a_strict_budget_is_never_exceeded_and_the_rest_is_the_installations(clock, owner, wing):
    budget = factories.budget(wing, "1")
    work, _ = started(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal("1")), cores=1)
    end = clock.forward(2 * 3600)
    ledger.settle({work.cluster.pk: end}, end)
    budget.refresh_from_db()
    assert (budget.spent, budget.held) == (1, 0)
    assert Charge.objects.get(budget=None).amount == 1


@pytest.mark.django_db
def test_a_soft_budget_may_be_exceeded_by_what_runs(clock, owner, wing):
    budget = factories.budget(wing, "1", strictness="soft")
    work, _ = started(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal("1")), cores=1)
    clock.forward(3000)
    playing.rounds_again()
    rounds.meter(clock())
    assert work.cluster.paid_until is None
    end = clock.forward(2 * 3600)
    ledger.settle({work.cluster.pk: end}, end)
    budget.refresh_from_db()
    assert budget.spent > budget.amount
    second = factories.job(owner, project=wing, coretype=work.coretype, cores=1).workload
    second.submit(owner, clock())
    playing.turn_all(clock)
    second.refresh_from_db()
    assert (second.status, second.gate) == ("queued", "budget")


@pytest.mark.django_db
def test_paid_until_moves_with_the_money(clock, owner, wing):
    budget = factories.budget(wing, "1.25")
    work, _ = started(clock, owner=owner, project=wing, coretype=factories.coretype(price=Decimal("1")), cores=1)
    up = work.cluster.up
    assert work.cluster.paid_until == up + timedelta(hours=1)
    clock.forward(2400)
    ledger.meter([work.cluster.pk], clock())
    assert timedelta(seconds=4498) < work.cluster.paid_until - up <= timedelta(seconds=4500)
    budget.refresh_from_db()
    assert budget.left == 0
    Budget.objects.filter(pk=budget.pk).update(amount=Decimal(5))
    ledger.meter([work.cluster.pk], clock.forward(400))
    assert work.cluster.paid_until > up + timedelta(seconds=7000)


@pytest.mark.django_db
def test_a_failed_start_costs_nothing_and_frees_its_hold(clock, owner, wing, cloud):
    budget = factories.budget(wing, 100)
    cloud.misbehave(create="refused", times=1)
    job = factories.job(owner, project=wing)
    job.workload.submit(owner, clock())
    for _ in range(4):
        playing.turn_all(clock)
        clock.forward(2)
    job.workload.refresh_from_db()
    budget.refresh_from_db()
    assert job.workload.status == "failed"
    assert (budget.spent, budget.held, Charge.objects.count()) == (0, 0, 0)


@pytest.mark.django_db
def test_charges_are_append_only(clock, owner, wing):
    factories.budget(wing, 100)
    work, _ = started(clock, owner=owner, project=wing)
    end = clock.forward(60)
    ledger.settle({work.cluster.pk: end}, end)
    charge = Charge.objects.get()
    charge.amount = 0
    with pytest.raises(TypeError, match="append-only"):
        charge.save()
    with pytest.raises(TypeError, match="append-only"):
        charge.delete()


@pytest.mark.django_db
def test_the_database_itself_refuses_to_overspend(wing):
    budget = factories.budget(wing, 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Budget.objects.filter(pk=budget.pk).update(held=Decimal(2))
    with pytest.raises(IntegrityError), transaction.atomic():
        Budget.objects.filter(pk=budget.pk).update(spent=Decimal(-1))


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-Infinity", "1e30"])
def test_what_is_no_amount_is_refused(amount):
    with pytest.raises(ValueError, match="not an amount"):
        micros(Decimal(amount))


@pytest.mark.django_db
def test_a_tenth_and_two_tenths_are_three_tenths(wing):
    budget = factories.budget(wing, "0.1")
    Budget.objects.filter(pk=budget.pk).update(amount=models_sum())
    budget.refresh_from_db()
    assert budget.amount == Decimal("0.3")


def models_sum():
    from django.db.models import F, Value

    return F("amount") + Value(Decimal("0.2"), MoneyField())


@pytest.mark.django_db
def test_nobody_pays_for_waiting_and_booting(clock, owner, wing):
    budget = factories.budget(wing, 100)
    job = factories.job(owner, project=wing, coretype=factories.coretype(price=Decimal("3.6")), cores=1)
    job.workload.submit(owner, clock())
    clock.forward(180)
    playing.turn_all(clock, ("queued", "validating", "starting"))
    clock.forward(120)
    work = Workload.objects.get(pk=job.workload.pk)
    agents = playing.boot(work, clock)
    playing.turn_all(clock, ("starting",))
    clock.forward(60)
    playing.finish(agents[0], clock)
    playing.turn_all(clock)
    budget.refresh_from_db()
    assert Decimal("0.06") <= budget.spent <= Decimal("0.065")
    assert Cluster.objects.get(workload=work).settled is not None

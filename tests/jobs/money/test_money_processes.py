"""Money under real processes, on whichever database the tests run: races for it, locks from two sides, deaths between writes."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest
from django.db.models import Sum
from django.utils import timezone
from forking import killed_at_write, together

from jobs import engine, ledger, lifecycle
from jobs.models import Budget, Charge, Cluster, Hold, Job, Spend, Workload
from jobs.models.change import Change, advance
from jobs.money.books import due, seconds_between

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("cloud")]

PROCESSES = 4


def sums_agree(*budgets):
    """What stands beside the rows is what the rows add up to, and no strict budget is exceeded."""
    for budget in budgets:
        budget.refresh_from_db()
        held = Hold.objects.filter(budget=budget, released__isnull=True).aggregate(sum=Sum("amount"))["sum"] or 0
        spent = Charge.objects.filter(budget=budget).aggregate(sum=Sum("amount"))["sum"] or 0
        by_day = Spend.objects.filter(budget=budget).aggregate(sum=Sum("amount"))["sum"] or 0
        assert (budget.held, budget.spent, by_day) == (held, spent, spent)
        assert budget.left >= 0


def many(owner, project, kind, count):
    known = {"owner": owner, "project": project, "coretype": kind, "walltime": 3600}
    works = Workload.objects.bulk_create([Workload(name=f"race-{at}", **known) for at in range(count)])
    version = factories.software()
    Job.objects.bulk_create([Job(workload=work, software=version, commands=["true"]) for work in works])
    return [work.pk for work in works]


def running(clock, owner, project, kind, count=1):
    works = [factories.job(owner, project=project, coretype=kind, cores=1).workload for _ in range(count)]
    for work in works:
        work.submit(owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    for work in works:
        work.refresh_from_db()
        playing.boot(work, clock)
    playing.turn_all(clock, ("starting",))
    return [Cluster.objects.get(workload=work) for work in works]


def test_of_five_hundred_submits_at_once_those_start_that_there_is_money_for(owner, wing):
    budget = factories.budget(wing, 100)
    ids = many(owner, wing, factories.coretype(price=Decimal(1)), 500)

    def submit_and_start(index):
        taken = sum(work.submit(owner) for work in Workload.objects.filter(pk__in=ids[index::PROCESSES]))
        while engine.turn(lifecycle.QUEUED):
            pass
        return taken

    assert together(PROCESSES, submit_and_start) == [125] * PROCESSES
    while engine.turn(lifecycle.QUEUED):
        pass
    sums_agree(budget)
    assert Workload.objects.filter(status=lifecycle.VALIDATING).count() == 100
    assert (budget.held, budget.left) == (100, 0)
    assert set(Workload.objects.filter(status=lifecycle.QUEUED).values_list("gate", flat=True)) == {"budget"}


def test_two_budgets_taken_from_two_sides_never_deadlock(clock, owner, wing):
    """Starting, metering, settling, adjusting at once, over and over, on the same two budgets, in opposite orders."""
    kind = factories.coretype(price=Decimal("3.6"))
    first, second = factories.budget(None, 10_000, member=owner), factories.budget(wing, 10_000)
    ids = [cluster.pk for cluster in running(clock, owner, wing, kind, 6)]
    waiting = [factories.job(owner, project=wing, coretype=kind, cores=1).workload for _ in range(8)]
    advance([Change(work, lifecycle.QUEUED, fields={"submitted": clock()}) for work in waiting], clock())
    moments = [clock() + timedelta(seconds=400 * turn) for turn in range(1, 6)]
    calls = [
        lambda at: ledger.meter(ids, at),
        lambda at: ledger.meter(reversed(ids), at),
        lambda at: [ledger.adjust(budget, Decimal(1), "a", None, at) for budget in (first, second)],
        lambda at: [ledger.adjust(budget, Decimal(1), "b", None, at) for budget in (second, first)],
        lambda at: engine.turn(lifecycle.QUEUED, at),
        lambda at: ledger.settle({ids[0]: at, ids[3]: at}, at),
    ]
    answers = together(len(calls), lambda index: [calls[index](at) for at in moments] and "done")
    assert answers == ["done"] * len(calls)
    for budget in (first, second):
        budget.refresh_from_db()
        assert budget.spent == Charge.objects.filter(budget=budget).aggregate(sum=Sum("amount"))["sum"]
        assert budget.held == sum(Hold.objects.filter(budget=budget, released__isnull=True).values_list("amount", flat=True))


def test_a_worker_killed_between_any_two_writes_leaves_hold_and_charge_as_the_cluster_used(clock, owner, wing, tell):
    """A start, a meter, a settlement: killed before each of their writes in turn, then done by the next worker."""
    kind = factories.coretype(price=Decimal("0.001"))
    money, hours = factories.budget(wing, 1000), factories.budget(wing, 1000, unit="core-hours", strictness="soft")
    budgets, points = (money, hours), 0

    def survives(call):
        number = 0
        while killed_at_write(number, call):
            sums_agree(*budgets)
            number += 1
        return number

    work = factories.job(owner, project=wing, coretype=kind, cores=3).workload
    work.submit(owner, clock())
    points += survives(lambda: engine.turn(lifecycle.QUEUED, clock()))
    assert Hold.objects.filter(workload=work).count() == 2
    playing.turn_all(clock, ("validating", "starting"))
    work.refresh_from_db()
    playing.boot(work, clock)
    playing.turn_all(clock, ("starting",))
    cluster = Cluster.objects.get(workload=work)
    for seconds in (301, 2000, 1907):
        clock.forward(seconds)
        points += survives(lambda: ledger.meter([cluster.pk], clock()))
    end = clock.forward(11)
    points += survives(lambda: ledger.settle({cluster.pk: end}, end))
    assert ledger.settle({cluster.pk: end}, end) == []
    sums_agree(*budgets)
    seconds = seconds_between(cluster.up, end)
    assert (money.spent, money.held) == (due(Decimal("0.003"), seconds), 0)
    assert (hours.spent, hours.held) == (due(Decimal(3), seconds), 0)
    tell(f"{points} points of death between writes of money")
    assert points >= 25


def test_two_beats_in_two_processes_begin_a_period_and_tell_a_threshold_once(wing):
    now = timezone.now()
    budget = factories.budget(wing, 100, recurrence="month", grant=Decimal(100), carry=True)
    ledger.schedule(budget, now)
    budget.refresh_from_db()
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(10))
    later = budget.turns
    assert sorted(together(PROCESSES, lambda _: ledger.begin_periods(later))) == [0, 0, 0, 1]
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(180))
    told = together(PROCESSES, lambda _: [notice.percent for notice in ledger.notice(later)])
    assert sorted(sum(told, [])) == [75, 90]
    budget.refresh_from_db()
    assert (budget.amount, Charge.objects.filter(kind="period").count()) == (190, 1)

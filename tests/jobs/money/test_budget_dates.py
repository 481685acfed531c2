"""Money with a first and a last day: of use inside of them only, for what starts and for what runs; and who runs unpaid."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest
from django.db import IntegrityError, transaction

from jobs import ledger, rounds
from jobs.models import Budget, BudgetNotice, Charge, Cluster, Event, Installation, Unpaid, Workload
from jobs.money import notices
from jobs.money.books import due

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def kind():
    return factories.coretype(price=Decimal("3.6"))


def queued(clock, owner, project, kind, **fields):
    work = factories.job(owner, project=project, coretype=kind, cores=1, **fields).workload
    work.submit(owner, clock())
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    return work


def running(clock, owner, project, kind):
    work = queued(clock, owner, project, kind)
    playing.turn_all(clock, ("validating", "starting"))
    playing.boot(work, clock)
    playing.turn_all(clock, ("starting",))
    work.refresh_from_db()
    assert work.status == "running", work.gate_text
    return work


# --- what starts ------------------------------------------------------------------------------------------------------
def test_before_its_first_day_a_job_waits_and_then_starts_by_itself(clock, owner, wing, kind):
    factories.budget(wing, 100, begins=clock() + DAY, name="Campaign", zone="Europe/Oslo")
    work = queued(clock, owner, wing, kind)
    assert (work.status, work.gate) == ("queued", "budget")
    assert "Budget Campaign begins 20" in work.gate_text
    assert "Europe/Oslo" in work.gate_text
    clock.forward(86_401)
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert work.status == "validating"


def test_after_its_last_day_a_job_is_kept_and_told(clock, owner, wing, kind):
    budget = factories.budget(wing, 100, ends=clock() - HOUR, name="Campaign")
    work = queued(clock, owner, wing, kind)
    assert (work.status, work.gate) == ("queued", "budget")
    assert "Campaign ended" in work.gate_text
    Budget.objects.filter(pk=budget.pk).update(ends=clock() + DAY)
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert work.status == "validating"


def test_in_the_last_hour_of_a_strict_budget_nothing_starts_and_on_a_soft_one_it_does(clock, owner, wing, kind):
    budget = factories.budget(wing, 100, ends=clock() + HOUR / 2)
    work = queued(clock, owner, wing, kind)
    assert "the first hour does not fit in before that" in work.gate_text
    Budget.objects.filter(pk=budget.pk).update(strictness="soft")
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert work.status == "validating"


def test_a_budget_outside_of_its_dates_steps_aside_for_one_inside(clock, owner, wing, kind):
    factories.budget(wing, 100, ends=clock() - DAY, name="Autumn")
    winter = factories.budget(wing, 100, begins=clock() - DAY, name="Winter")
    factories.budget(wing, 100, begins=clock() + DAY, name="Spring")
    hours = factories.budget(wing, 50, unit="core-hours", name="Hours")
    assert ledger.budgets_for(owner, wing, clock()) == [winter, hours]
    assert queued(clock, owner, wing, kind).status == "validating"


def test_another_unit_or_target_does_not_stand_in(clock, owner, wing, kind):
    factories.budget(wing, 100, ends=clock() - DAY, name="Money")
    factories.budget(wing, 50, unit="core-hours")
    factories.budget(None, 50)
    assert "Budget Money ended" in queued(clock, owner, wing, kind).gate_text


# --- what runs --------------------------------------------------------------------------------------------------------
def test_what_runs_on_a_strict_budget_is_paid_up_to_its_end_and_no_further(clock, owner, wing, kind):
    budget = factories.budget(wing, 1000, ends=clock() + 2 * HOUR)
    work = running(clock, owner, wing, kind)
    for _ in range(8):
        clock.forward(900)
        ledger.meter([work.cluster.pk], clock())
    budget.refresh_from_db()
    assert Cluster.objects.get(workload=work).paid_until == budget.ends
    released = budget.ends + timedelta(seconds=100)
    ledger.settle({work.cluster.pk: released}, released)
    budget.refresh_from_db()
    inside = due(Decimal("3.6"), int((budget.ends - work.cluster.up).total_seconds()) + 1)
    assert abs(budget.spent - inside) <= Decimal("0.001")
    assert budget.held == 0
    assert Charge.objects.get(budget=None).note == f"beyond budget {budget.pk}"
    total = sum(Charge.objects.filter(workload=work).values_list("amount", flat=True))
    assert total == due(Decimal("3.6"), -(-(released - work.cluster.up) // timedelta(seconds=1)))


def test_it_is_stopped_before_the_end_in_time_to_save(clock, owner, wing, kind):
    budget = factories.budget(wing, 1000, ends=clock() + 2 * HOUR)
    work = running(clock, owner, wing, kind)
    while clock() < budget.ends - timedelta(seconds=80):
        clock.forward(300)
        playing.rounds_again()
        rounds.meter(clock())
    clock.now = budget.ends - timedelta(seconds=80)
    playing.beat(playing.callers(work), clock)
    Workload.objects.filter(pk=work.pk).update(due=clock())
    playing.turn_all(clock, ("running",))
    work.refresh_from_db()
    assert (work.status, work.reason) == ("stopping", "budget-used-up")


def test_what_runs_on_a_soft_budget_goes_on_and_is_charged_to_it(clock, owner, wing, kind):
    budget = factories.budget(wing, 1000, strictness="soft", ends=clock() + HOUR)
    work = running(clock, owner, wing, kind)
    end = clock.forward(3 * 3600)
    ledger.meter([work.cluster.pk], end)
    assert Cluster.objects.get(workload=work).paid_until is None
    ledger.settle({work.cluster.pk: end}, end)
    budget.refresh_from_db()
    assert budget.spent == due(Decimal("3.6"), -(-(end - work.cluster.up) // timedelta(seconds=1)))
    assert not Charge.objects.filter(budget=None).exists()


@pytest.mark.parametrize(("strictness", "words"), [("strict", "stopped before, in time to be saved"), ("soft", "this goes on then")])
def test_a_day_ahead_people_and_what_runs_are_told_once(settings, mailoutbox, clock, owner, wing, kind, strictness, words):
    settings.EMAIL_HOST = "mail.example.org"
    owner.email = "owner@example.org"
    owner.save()
    wing.memberships.filter(user=owner).update(role="lead")
    budget = factories.budget(wing, 1000, strictness=strictness, ends=clock() + 2 * DAY, name="Campaign", thresholds=[])
    work = running(clock, owner, wing, kind)
    assert ledger.notice(clock()) == []
    clock.forward(86_401)
    assert [notice.percent for notice in ledger.notice(clock())] == [0]
    assert ledger.notice(clock()) == []
    assert notices.send(clock()) == 1
    assert "Campaign: ends 20" in mailoutbox[0].subject
    event = Event.objects.get(workload=work, reason="budget-warning")
    assert words in event.detail
    Budget.objects.filter(pk=budget.pk).update(ends=budget.ends + HOUR / 2)
    assert len(ledger.notice(clock.forward(3600))) == 1  # another end is told anew
    assert BudgetNotice.objects.count() == 2


def test_the_database_itself_refuses_an_end_before_the_start(wing, clock):
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.budget(wing, 1, begins=clock(), ends=clock() - HOUR)


# --- what no budget pays for ------------------------------------------------------------------------------------------
def test_as_long_as_there_is_no_budget_everybody_runs(clock, owner, wing, kind):
    assert queued(clock, owner, wing, kind).status == "validating"


def test_once_there_is_a_budget_others_than_admins_wait_for_one(clock, owner, stranger, admin, wing, kind):
    factories.budget(None, 5, member=stranger)
    waits = queued(clock, owner, wing, kind)
    assert (waits.status, waits.gate) == ("queued", "budget")
    assert "No budget applies: neither project Wing nor its owner" in waits.gate_text
    assert "it is in no project" in queued(clock, owner, None, kind).gate_text
    assert queued(clock, admin, None, kind).status == "validating"
    factories.budget(wing, 100)
    playing.turn_all(clock, ("queued",))
    waits.refresh_from_db()
    assert waits.status == "validating"


def test_a_setting_lets_everybody_run_unpaid_at_the_cost_of_the_installation(clock, owner, stranger, wing, kind):
    factories.budget(None, 5, member=stranger)
    Installation.let_run_unpaid(Unpaid.EVERYBODY)
    work = running(clock, owner, wing, kind)
    end = clock.forward(600)
    ledger.settle({work.cluster.pk: end}, end)
    assert Charge.objects.get(workload=work).budget is None


# --- short jobs -------------------------------------------------------------------------------------------------------
def test_a_short_job_is_one_row_of_the_ledger(clock, owner, wing, kind):
    factories.budget(wing, 100)
    work = running(clock, owner, wing, kind)
    playing.rounds_again()
    rounds.meter(clock.forward(5))
    end = clock.forward(5)
    ledger.settle({work.cluster.pk: end}, end)
    row = Charge.objects.get()
    assert (row.start, row.end, row.amount) == (work.cluster.up, end, Decimal("0.01"))

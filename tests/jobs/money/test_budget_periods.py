"""Budgets over time: limits and adjustments as rows, periods in a time zone, thresholds told once."""

import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import factories
import pytest
from django.db import IntegrityError, connections, transaction

from jobs import ledger
from jobs.models import Budget, BudgetNotice, BudgetPeriod, Charge, Event, Hold, Workload
from jobs.money import notices
from jobs.money.periods import period_at

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def monthly(project, amount=100, **fields):
    budget = factories.budget(project, amount, recurrence="month", grant=Decimal(amount), **fields)
    ledger.schedule(budget, NOW)
    budget.refresh_from_db()
    return budget


@pytest.mark.parametrize(
    ("recurrence", "zone", "moment", "key", "start", "end"),
    [
        ("month", "UTC", "2026-11-30T23:59:59", "2026-11", "2026-11-01T00:00", "2026-12-01T00:00"),
        ("month", "Pacific/Auckland", "2026-11-30T12:00:00", "2026-12", "2026-11-30T11:00", "2026-12-31T11:00"),
        ("month", "America/Los_Angeles", "2026-12-01T07:59:59", "2026-11", "2026-11-01T07:00", "2026-12-01T08:00"),
        ("quarter", "Europe/Berlin", "2026-12-31T22:59:59", "2026-Q4", "2026-09-30T22:00", "2026-12-31T23:00"),
        ("year", "Europe/Berlin", "2026-12-31T23:00:00", "2027", "2026-12-31T23:00", "2027-12-31T23:00"),
    ],
)
def test_a_period_ends_at_midnight_in_its_own_zone(recurrence, zone, moment, key, start, end):
    period = period_at(recurrence, zone, datetime.fromisoformat(moment).replace(tzinfo=UTC))
    at = [datetime.fromisoformat(value).replace(tzinfo=UTC) for value in (start, end)]
    assert (period.key, [period.start, period.end]) == (key, at)


@pytest.mark.parametrize(("moment", "hours"), [("2026-03-15", 31 * 24 - 1), ("2026-10-15", 31 * 24 + 1), ("2026-07-15", 31 * 24)])
def test_the_night_the_clocks_change_is_in_its_period(moment, hours):
    period = period_at("month", "Europe/Berlin", datetime.fromisoformat(moment).replace(tzinfo=UTC))
    assert period.end.astimezone(UTC) - period.start.astimezone(UTC) == timedelta(hours=hours)


@pytest.mark.django_db
def test_a_new_period_begins_with_the_grant_and_keeps_what_runs(wing, owner):
    budget = monthly(wing, 100)
    work = factories.job(owner, project=wing).workload
    Hold.objects.create(budget=budget, workload=work, attempt=1, amount=7, made=NOW)
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(60), held=Decimal(7))
    assert ledger.begin_periods(NOW) == 0
    later = budget.turns + timedelta(seconds=1)
    assert ledger.begin_periods(later) == 1
    budget.refresh_from_db()
    assert (budget.amount, budget.spent, budget.held, budget.left) == (100, 0, 7, 93)
    assert list(budget.periods.values_list("key", "spent")) == [("2026-12", None), ("2026-11", 60)]
    assert Charge.objects.get(kind="period").left == 100


@pytest.mark.django_db
@pytest.mark.parametrize(("carry", "amount"), [(True, "140"), (False, "100")])
def test_what_is_left_goes_over_or_is_gone(wing, carry, amount):
    budget = monthly(wing, 100, carry=carry)
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(60))
    ledger.begin_periods(budget.turns)
    budget.refresh_from_db()
    assert (budget.amount, budget.spent) == (Decimal(amount), 0)


@pytest.mark.django_db
def test_a_soft_budget_that_was_exceeded_owes_nothing_to_the_next_period(wing):
    budget = monthly(wing, 100, carry=True, strictness="soft")
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(130))
    ledger.begin_periods(budget.turns)
    budget.refresh_from_db()
    assert budget.amount == 100


@pytest.mark.django_db
def test_a_portal_that_was_away_for_three_months_begins_the_month_that_is(wing):
    budget = monthly(wing, 100)
    assert ledger.begin_periods(datetime(2027, 3, 5, tzinfo=UTC)) == 1
    budget.refresh_from_db()
    assert (budget.periods.first().key, budget.turns) == ("2027-03", datetime(2027, 4, 1, tzinfo=UTC))


@pytest.mark.django_db(transaction=True)
def test_two_beats_begin_a_period_once(wing):
    budget = monthly(wing, 100, carry=True)
    answers, gate = [], threading.Barrier(4)

    def beat():
        gate.wait()
        try:
            answers.append(ledger.begin_periods(budget.turns))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=beat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    budget.refresh_from_db()
    assert sorted(answers) == [0, 0, 0, 1]
    assert budget.amount == 200
    assert Charge.objects.filter(kind="period").count() == 1


@pytest.mark.django_db
def test_the_database_itself_has_a_period_once(wing):
    budget = monthly(wing)
    period = budget.periods.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        BudgetPeriod.objects.create(budget=budget, key=period.key, start=period.start, end=period.end, amount=1)


@pytest.mark.django_db
def test_the_ledger_adds_up_to_what_is_left(wing, admin):
    budget = factories.budget(wing, 100)
    ledger.opened(budget, admin, NOW)
    ledger.adjust(budget, Decimal("30"), "late invoice", admin, NOW)
    ledger.adjust(budget, Decimal("-10"), "node was broken", admin, NOW)
    ledger.set_limit(budget, Decimal("150"), admin, NOW)
    budget.refresh_from_db()
    rows = list(budget.charges.order_by("pk"))
    assert [(row.kind, row.amount, row.left) for row in rows] == [
        ("limit", -100, 100), ("adjustment", 30, 70), ("adjustment", -10, 80), ("limit", -50, 130),
    ]  # fmt: skip
    assert (-sum(row.amount for row in rows), budget.spent, budget.left) == (130, 20, 130)
    assert {row.by for row in rows} == {admin}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("amount", "reason", "message"),
    [("0", "x", "other than nothing"), ("5", "  ", "needs a reason"), ("-1", "x", "can't be given back"), ("200", "x", "is strict")],
)
def test_an_adjustment_that_cannot_be_is_refused_and_changes_nothing(wing, admin, amount, reason, message):
    budget = factories.budget(wing, 100)
    with pytest.raises(ledger.Refused, match=message):
        ledger.adjust(budget, Decimal(amount), reason, admin, NOW)
    budget.refresh_from_db()
    assert (budget.spent, budget.charges.count()) == (0, 0)


@pytest.mark.django_db
def test_a_strict_limit_cannot_be_less_than_what_is_taken(wing, admin):
    budget = factories.budget(wing, 100)
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(60), held=Decimal(5))
    with pytest.raises(ledger.Refused, match="65 is spent or held"):
        ledger.set_limit(budget, Decimal(64), admin, NOW)
    ledger.set_limit(budget, Decimal(65), admin, NOW)
    budget.refresh_from_db()
    assert budget.left == 0


@pytest.mark.django_db
def test_a_soft_budget_warns_once_those_that_run_on_it(wing, owner):
    budget = factories.budget(wing, 100, strictness="soft")
    work = factories.job(owner, project=wing).workload
    Workload.objects.filter(pk=work.pk).update(status="running")
    Hold.objects.create(budget=budget, workload=work, attempt=1, amount=1, made=NOW)
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(101))
    assert sorted(notice.percent for notice in ledger.notice(NOW)) == [75, 90, 100]
    assert ledger.notice(NOW) == []
    event = Event.objects.get(workload=work, reason="budget-warning")
    assert "It is soft" in event.detail


@pytest.mark.django_db
def test_thresholds_are_mailed_once_to_the_leads(settings, mailoutbox, wing, owner, member):
    settings.EMAIL_HOST = "mail.example.org"
    owner.email = "owner@example.org"
    owner.save()
    wing.memberships.filter(user=owner).update(role="lead")
    settings.PORTAL_URL = "https://portal.example.org"
    budget = factories.budget(wing, 100, thresholds=[50], name="Wing\nBcc: all@example.org")
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(55))
    ledger.notice(NOW)
    assert (notices.send(NOW), notices.send(NOW)) == (1, 0)
    mail = mailoutbox[0]
    assert (mail.to, mail.subject, len(mailoutbox)) == (["owner@example.org"], "Wing Bcc: all@example.org: 50 % used", 1)
    assert ("€55.00 spent" in mail.body, f"https://portal.example.org/budget/{budget.pk}/" in mail.body) == (True, True)
    assert BudgetNotice.objects.get().mailed == NOW


@pytest.mark.django_db
def test_a_new_period_tells_its_thresholds_again(wing):
    budget = monthly(wing, 100, thresholds=[50])
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(55))
    assert len(ledger.notice(NOW)) == 1
    later = budget.turns
    ledger.begin_periods(later)
    assert ledger.notice(later) == []
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(55))
    assert [notice.period for notice in ledger.notice(later)] == ["2026-12"]

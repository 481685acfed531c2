"""Spent and forecast of a budget: the line ends in the sum of the page, goes on at its pace, and never beyond a strict limit."""

import html
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import factories
import pytest

from jobs import ledger
from jobs.models import Budget, Charge
from portal.presenters.outlook import outlook, span, sums, way

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
NOW = datetime(2026, 9, 17, 12, tzinfo=UTC)
START = datetime(2026, 9, 1, tzinfo=UTC)


def spent(budget, *days, now=NOW):
    """10 a day, so many days ago each, as the ledger books it."""
    for back in days:
        at = now - back * DAY
        Charge.objects.create(budget=budget, label="job", attempt=1, amount=10, cores=1, price=1, start=at, end=at, made=at)
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(10) * len(days))
    budget.refresh_from_db()


@pytest.fixture
def budget():
    made = factories.budget(None, 300, begins=START, ends=START + 30 * DAY)
    Budget.objects.filter(pk=made.pk).update(made=START)
    return Budget.objects.get(pk=made.pk)


def chart(budget, now=NOW):
    return json.loads(outlook(budget, now).chart)


def test_the_line_is_what_was_spent_at_each_midnight_and_ends_in_the_sum_now(budget):
    spent(budget, 15, 3, 3, 0)
    line = sums(budget, START, NOW)
    assert line[:3] == [(START, 0), (START + DAY, 0), (START + 2 * DAY, 10)]
    assert line[-5:] == [(NOW.replace(hour=0) - 3 * DAY, 10), (NOW.replace(hour=0) - 2 * DAY, 30), (NOW.replace(hour=0) - DAY, 30),
                         (NOW.replace(hour=0), 30), (NOW, 40)]  # fmt: skip


def test_what_was_given_back_lowers_it_on_its_day(budget):
    spent(budget, 10)
    ledger.adjust(budget, Decimal(-4), "a node was broken", None, NOW - 2 * DAY)
    budget.refresh_from_db()
    assert [total for _, total in sums(budget, START, NOW)][-4:] == [10, 6, 6, 6]


def test_at_this_pace_to_the_end(budget):
    spent(budget, *range(7))
    found = outlook(budget, NOW)
    assert "€70.00 spent from 1 Sep to 17 Sep, of €300.00. At the pace of the last 7 days €215." in found.words
    assert found.words.endswith("by 30 Sep.")
    drawn = json.loads(found.chart)
    assert drawn["at"][-1] == (START + 30 * DAY).timestamp()
    assert drawn["even"][-1] == 300
    assert drawn["ahead"][-1] == pytest.approx(70 + 10 * 7 / 6.5 * 13.5)
    assert [mark["words"] for mark in drawn["marks"]] == ["today"]


def test_the_day_on_which_nothing_is_left(budget):
    spent(budget, *[back % 7 for back in range(21)])
    found = outlook(budget, NOW)
    assert found.words == "€210.00 spent from 1 Sep to 17 Sep, of €300.00. Nothing is left on 20 Sep at the pace of the last 7 days."
    drawn = json.loads(found.chart)
    assert [mark["words"] for mark in drawn["marks"]] == ["today", "nothing left on 20 Sep"]
    assert max(value for value in drawn["ahead"] if value is not None) == 300


def test_a_soft_one_goes_on_beyond_its_limit(budget):
    Budget.objects.filter(pk=budget.pk).update(strictness="soft")
    spent(budget, *[back % 7 for back in range(21)])
    assert chart(budget)["ahead"][-1] > 600


def test_nothing_left_now_and_nothing_used_at_all(budget):
    assert chart(budget)["ahead"][-1] == 0
    Budget.objects.filter(pk=budget.pk).update(held=300)
    budget.refresh_from_db()
    assert "Nothing is left now." in outlook(budget, NOW).words


def test_one_without_an_end_is_looked_ahead_for_as_long_as_it_lasted(budget):
    free = Budget(made=NOW - 50 * DAY, amount=Decimal(100), unit="money", strictness="strict")
    assert span(free, NOW) == (NOW - 50 * DAY, None)
    assert way(free, Decimal(1), NOW, NOW - 50 * DAY, None).end == NOW + 50 * DAY
    assert way(free, Decimal(1), NOW, NOW - DAY, None).end == NOW + 30 * DAY
    assert way(free, Decimal(1), NOW, NOW - 900 * DAY, None).end == NOW + 365 * DAY


def test_a_period_begins_anew(budget):
    Budget.objects.filter(pk=budget.pk).update(recurrence="month", grant=300, begins=None, ends=None, zone="Europe/Oslo")
    ledger.schedule(budget, NOW)
    budget.refresh_from_db()
    start, turn = span(budget, NOW)
    assert (start, turn) == (datetime(2026, 8, 31, 22, tzinfo=UTC), datetime(2026, 9, 30, 22, tzinfo=UTC))
    assert "€0.00 spent from 1 Sep to 17 Sep" in outlook(budget, NOW).words
    spent(budget, 2, 40)
    Budget.objects.filter(pk=budget.pk).update(spent=10)
    budget.refresh_from_db()
    assert [total for _, total in sums(budget, start, NOW)][:2] == [0, 0]


def test_before_its_first_day_there_is_none_and_over_or_closed_nothing_is_foretold(budget):
    assert outlook(budget, START - DAY) is None
    spent(budget, 3)
    assert set(chart(budget, START + 40 * DAY)["ahead"]) == {None}
    budget.active = False
    assert set(chart(budget)["ahead"]) == {None}


def test_years_are_told_in_longer_steps(budget):
    line = sums(budget, NOW - 3000 * DAY, NOW)
    assert len(line) <= 402
    assert line[-1] == (NOW, budget.spent)


def test_thresholds_below_the_limit_are_lines_too(budget):
    spent(budget, *[1] * 24)
    ledger.notice(NOW)
    assert [(rule["at"], rule["words"]) for rule in chart(budget)["rules"]] == [
        (300, "limit €300.00, strict"), (225, "75 %, passed on 17 Sep"), (270, "90 %")
    ]  # fmt: skip


def test_it_stands_on_the_page(client, admin, budget):
    spent(budget, 1, now=datetime.now(UTC))
    Budget.objects.filter(pk=budget.pk).update(begins=datetime.now(UTC) - 20 * DAY, ends=datetime.now(UTC) + 20 * DAY)
    client.force_login(admin)
    page = client.get(f"/budget/{budget.pk}/").content.decode()
    drawn = json.loads(html.unescape(page.split('data-outlook="')[1].split('"')[0]))
    assert max(value for value in drawn["spent"] if value is not None) == 10
    assert "€10.00 spent from" in page


@pytest.mark.parametrize("zone", ["Pacific/Apia", "Pacific/Kiritimati"])
def test_its_days_are_those_where_the_budget_is(zone):
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    budget = factories.budget(None, 300, recurrence="month", grant=300, zone=zone)
    ledger.schedule(budget, now)
    assert "from 1 Dec to 1 Dec," in outlook(Budget.objects.get(pk=budget.pk), now).words

"""Budgets: everybody sees those that apply to them, and of the organization's only what is theirs to see."""

from datetime import timedelta
from decimal import Decimal

import factories
import pytest
from django.utils import timezone

from jobs.models import Budget, Charge, Hold, Strictness, Unit
from portal import purses

pytestmark = pytest.mark.django_db


@pytest.fixture
def money(wing):
    budget = factories.budget(wing, 1000, name="Wing money")
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(250), held=Decimal("50.5"))
    budget.refresh_from_db()
    return budget


def charge(budget, work, amount="1.25", **fields):
    now = timezone.now()
    given = {"label": work.name, "attempt": 1, "cores": 8, "price": Decimal("0.05"), "start": now - timedelta(seconds=100), "end": now, "made": now}
    return Charge.objects.create(budget=budget, workload=work, amount=Decimal(amount), **{**given, **fields})


def see(client, user, path="/budget/"):
    client.force_login(user)
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_spent_held_and_left_add_up(client, member, money):
    page = see(client, member)
    for words in ("€1,000.00", "€250.00", "€50.50", "€699.50", "Strict", "the three add up"):
        assert words in page
    assert 'aria-label="€250.00 spent, €50.50 held, €699.50 left of €1,000.00"' in page


def test_a_budget_of_core_hours_speaks_of_core_hours(client, owner):
    Budget.objects.create(name="Hours", member=owner, amount=500, unit=Unit.CORE_HOURS)
    page = see(client, owner)
    assert "500.00 core-hours" in page
    assert "€" not in page.split('id="main"')[1].split("<footer")[0]


def test_without_a_budget_the_page_says_what_would_be_there(client, stranger):
    assert "No budget applies to you" in see(client, stranger)


def test_a_soft_budget_that_is_exceeded_says_so(client, owner, wing):
    budget = factories.budget(wing, 10, strictness=Strictness.SOFT)
    Budget.objects.filter(pk=budget.pk).update(spent=Decimal(12))
    page = see(client, owner)
    assert "Nothing is left." in page
    assert "\u2212€2.00" in page
    assert "spent beyond the limit" in page


def test_a_closed_budget_says_so(client, owner, wing):
    factories.budget(wing, 10, active=False)
    assert "This budget is closed." in see(client, owner)


def test_charges_with_their_jobs_newest_first(client, owner, wing, money):
    old = factories.job(owner, project=wing, name="beam-old").workload
    new = factories.job(owner, project=wing, name="beam-new").workload
    charge(money, old, "0.0597")
    charge(money, new)
    page = see(client, owner)
    assert page.index("beam-new") < page.index("beam-old")
    assert f'href="/jobs/{old.public_id}/"' in page
    assert "€0.0597" in page
    assert "8 cores at €0.05" in page


def test_what_a_deleted_job_cost_keeps_its_name(client, owner, wing, money):
    work = factories.job(owner, project=wing, name="gone-beam").workload
    charge(money, work)
    work.delete_for_good(owner)
    page = see(client, owner)
    assert "gone-beam" in page
    assert f"/jobs/{work.public_id}/" not in page


def test_charges_are_paged_by_key(client, owner, wing, money):
    work = factories.job(owner, project=wing).workload
    rows = [charge(money, work, f"1.{at:04}") for at in range(55)]
    first = see(client, owner)
    assert f"?before={rows[30].pk}" in first
    assert "€1.0004" not in first
    assert "€1.0004" in see(client, owner, f"/budget/{money.pk}/?before={rows[6].pk}")


def test_what_runs_on_it_with_what_was_charged_and_is_held(client, owner, wing, money):
    work = factories.job(owner, project=wing, name="beam-7").workload
    Hold.objects.create(budget=money, workload=work, attempt=1, amount=Decimal("0.4"), made=timezone.now())
    charge(money, work, "1.25")
    charge(money, work, "2")
    running = see(client, owner).split("Running on it now")[1]
    assert "€3.25" in running
    assert "€0.40" in running


def test_of_the_organization_people_see_only_their_own_charges(client, owner, stranger, admin, wing):
    everybody = factories.budget(None, 5000, name="Everybody")
    mine = factories.job(owner, name="mine-7").workload
    theirs = factories.job(stranger, name="theirs-7").workload
    for work in (mine, theirs):
        charge(everybody, work)
        Hold.objects.create(budget=everybody, workload=work, attempt=1, amount=1, made=timezone.now())
    page = see(client, owner, f"/budget/{everybody.pk}/")
    assert "mine-7" in page
    assert "theirs-7" not in page
    assert "theirs-7" in see(client, admin, f"/budget/{everybody.pk}/")


@pytest.mark.parametrize(("who", "status"), [("owner", 200), ("member", 200), ("admin", 200), ("stranger", 404)])
def test_the_project_s_budget_is_for_its_people_and_admins(client, money, request, who, status):
    client.force_login(request.getfixturevalue(who))
    assert client.get(f"/budget/{money.pk}/").status_code == status


@pytest.mark.parametrize(("who", "status"), [("owner", 200), ("member", 404), ("admin", 200), ("stranger", 404)])
def test_a_member_s_budget_is_for_the_member_and_admins(client, owner, wing, request, who, status):
    own = Budget.objects.create(name="Own", member=owner, amount=10)
    client.force_login(request.getfixturevalue(who))
    assert client.get(f"/budget/{own.pk}/").status_code == status


def test_only_admins_get_the_way_to_change_it(client, owner, admin, money):
    assert f"/budget/{money.pk}/edit/" not in see(client, owner)
    assert f"/budget/{money.pk}/edit/" in see(client, admin, f"/budget/{money.pk}/")


@pytest.mark.parametrize("path", ["/budget/", "/budget/1/"])
def test_nobody_sees_money_without_an_account(client, path):
    assert client.get(path).url == f"/signin/?next={path}"


def test_nothing_is_changed_here(client, owner, money):
    client.force_login(owner)
    assert client.post("/budget/", {"amount": 1}).status_code == 405
    assert client.post(f"/budget/{money.pk}/", {"amount": 1}).status_code == 405


def test_each_budget_comes_once_and_the_one_in_use_first(owner, member, wing):
    tail = factories.project(owner, member, name="Tail")
    own = Budget.objects.create(name="Own", member=owner, amount=1)
    all_of_us = factories.budget(None, 1, name="Everybody")
    wings, tails = factories.budget(wing, 1), factories.budget(tail, 1)
    factories.job(owner, project=wing)
    assert list(purses.budgets_of(owner)) == [wings, tails, own, all_of_us]


@pytest.mark.parametrize("asked", ["from=0001-01-01&to=9999-12-31", "from=2026-13-40", "to=9999-12-30"])
def test_days_at_the_edge_of_the_calendar_are_no_bound(client, owner, admin, wing, money, asked):
    charge(money, factories.job(owner, project=wing).workload)
    assert "€1.2500" in see(client, owner, f"/budget/{money.pk}/?{asked}")
    client.force_login(admin)
    for path in (f"/budget/{money.pk}/ledger.csv", "/audit/", "/audit/audit.csv"):
        assert client.get(f"{path}?{asked}").status_code == 200

"""Budgets are made and changed by admins, named by leads, looked at by auditors; bad input keeps what was typed."""

from decimal import Decimal

import factories
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group
from django.utils import timezone

from jobs.models import AuditEntry, Budget, Charge, Installation

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(wing):
    user = factories.user("lead")
    wing.memberships.create(user=user, role="lead")
    return user


@pytest.fixture
def auditor():
    user = factories.user("auditor")
    user.groups.add(Group.objects.get_or_create(name="auditors")[0])
    return user


@pytest.fixture
def money(wing):
    return factories.budget(wing, 100, name="Wing money")


def fields(budget=None, **changed):
    known = {"name": "Wing money", "strictness": "strict", "amount": "100", "recurrence": "", "grant": "", "zone": "UTC", "thresholds": "75, 90, 100"}
    return {**known, "version": budget.version if budget else 1, **({} if budget else {"unit": "money"}), **changed}


def post(client, user, path, data):
    client.force_login(user)
    return client.post(path, data, REMOTE_ADDR="192.0.2.7")


def charge(budget, work, amount="1.25", **given):
    now = timezone.now()
    known = {"label": work.name, "attempt": 1, "cores": 8, "price": Decimal("0.05"), "start": now, "end": now, "made": now}
    return Charge.objects.create(budget=budget, workload=work, amount=Decimal(amount), **{**known, **given})


def test_an_admin_makes_a_budget_that_recurs(client, admin, wing):
    answer = post(client, admin, "/budget/new/", fields(project=wing.pk, recurrence="month", zone="Europe/Oslo", thresholds="50 %; 100"))
    made = Budget.objects.get()
    assert answer.url == f"/budget/{made.pk}/"
    assert (made.grant, made.thresholds, made.turns is not None, made.periods.count()) == (100, [50, 100], True, 1)
    assert Charge.objects.get().left == 100
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.who, entry.address, entry.detail["values"]["amount"]) == ("add budget", "boss", "192.0.2.7", ["", "100"])


def test_a_new_limit_is_a_row_of_the_ledger(client, admin, money):
    post(client, admin, f"/budget/{money.pk}/edit/", fields(money, amount="250.5"))
    money.refresh_from_db()
    assert (money.amount, money.version) == (Decimal("250.5"), 2)
    row = Charge.objects.get()
    assert (row.kind, row.amount, row.by) == ("limit", Decimal("-150.5"), admin)
    assert AuditEntry.objects.get().detail["values"] == {"amount": ["100", "250.5"], "grant": ["0", "250.5"]}


def test_of_two_admins_at_once_the_second_is_told_and_loses_nothing(client, admin, money):
    post(client, admin, f"/budget/{money.pk}/edit/", fields(money, name="First"))
    answer = post(client, admin, f"/budget/{money.pk}/edit/", fields(money, name="Second"))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Somebody else changed it" in page
    assert 'value="Second"' in page
    money.refresh_from_db()
    assert money.name == "First"


@pytest.mark.parametrize("amount", ["-1", "NaN", "1e30", "Infinity", "0.0000001", "1234567890123456789", "a lot", ""])
def test_what_is_no_amount_is_said_beside_the_field(client, admin, money, amount):
    answer = post(client, admin, f"/budget/{money.pk}/edit/", fields(money, amount=amount, name="Typed"))
    assert answer.status_code == 422
    assert 'id="id_amount_error"' in answer.content.decode()
    assert 'value="Typed"' in answer.content.decode()
    money.refresh_from_db()
    assert money.amount == 100


@pytest.mark.parametrize(("field", "value"), [("zone", "Mars/Olympus"), ("thresholds", "ten"), ("thresholds", "0"), ("name", " "), ("name", "a\nBcc: b@c.d"), ("recurrence", "hourly")])
def test_other_nonsense_is_said_beside_its_field(client, admin, money, field, value):
    answer = post(client, admin, f"/budget/{money.pk}/edit/", fields(money, **{field: value}))
    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()


def test_an_admin_gives_money_for_some_days_of_a_time_zone(client, admin, wing):
    dates = {"first_day": "2030-03-01", "last_day": "2030-03-31", "zone": "Europe/Berlin"}
    post(client, admin, "/budget/new/", fields(project=wing.pk, **dates))
    made = Budget.objects.get()
    assert [made.begins.isoformat(), made.ends.isoformat()] == ["2030-02-28T23:00:00+00:00", "2030-03-31T22:00:00+00:00"]
    page = client.get(f"/budget/{made.pk}/").content.decode()
    assert "of use from 1 Mar 2030 until 31 Mar 2030 (Europe/Berlin)" in page
    assert "Its first day is 1 Mar 2030" in page
    assert "from 1 Mar 2030 until 31 Mar 2030, not begun" in client.get("/budget/all/").content.decode()
    form = client.get(f"/budget/{made.pk}/edit/").content.decode()
    assert 'value="2030-03-01"' in form
    assert 'value="2030-03-31"' in form
    post(client, admin, f"/budget/{made.pk}/edit/", fields(made, last_day="2020-03-31", zone="Europe/Berlin"))
    made.refresh_from_db()
    assert (made.begins, made.ends.isoformat()) == (None, "2020-03-31T22:00:00+00:00")
    assert "Its last day was 31 Mar 2020. €100.00 was not used." in client.get(f"/budget/{made.pk}/").content.decode()
    assert AuditEntry.objects.first().detail["values"]["last_day"] == ["2030-03-31", "2020-03-31"]


@pytest.mark.parametrize(("dates", "where", "words"), [
    ({"first_day": "2030-03-02", "last_day": "2030-03-01"}, "last_day", "ends before it begins"),
    ({"first_day": "2030-02-30"}, "first_day", "valid date"),
    ({"last_day": "9999-12-31"}, "last_day", "A year from 2000 to"),
    ({"last_day": "2030-03-01", "recurrence": "month"}, "last_day", "renewed has no first and last day"),
])
def test_days_that_cannot_be_are_said_beside_their_field(client, admin, money, dates, where, words):
    answer = post(client, admin, f"/budget/{money.pk}/edit/", fields(money, name="Typed", **dates))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert words in page.split(f'id="id_{where}_error"')[1].split("</p>")[0]
    assert 'value="Typed"' in page
    money.refresh_from_db()
    assert (money.begins, money.ends, money.recurrence) == (None, None, "")


def test_who_runs_unpaid_is_said_by_admins_and_audited(client, admin, owner, auditor, money):
    assert post(client, owner, "/budget/unpaid/", {"unpaid": "everybody"}).status_code == 403
    assert post(client, auditor, "/budget/unpaid/", {"unpaid": "everybody"}).status_code == 403
    post(client, admin, "/budget/unpaid/", {"unpaid": "nobody"})
    assert Installation.who_runs_unpaid() == "admins"
    post(client, admin, "/budget/unpaid/", {"unpaid": "everybody"})
    assert Installation.who_runs_unpaid() == "everybody"
    entry = AuditEntry.objects.get()
    assert entry.detail["values"]["unpaid"] == ["Admins only, as soon as there is any budget", "Everybody"]
    client.force_login(auditor)
    page = client.get("/budget/all/").content.decode()
    assert "Everybody" in page
    assert "/budget/unpaid/" not in page


def test_a_new_budget_is_offered_with_the_usual_thresholds(client, admin):
    client.force_login(admin)
    assert 'value="75, 90, 100"' in client.get("/budget/new/").content.decode()


def test_the_first_budget_says_what_it_changes(client, admin, wing):
    client.force_login(admin)
    assert "This is the first budget." in client.get("/budget/new/").content.decode()
    factories.budget(wing, 1)
    assert "This is the first budget." not in client.get("/budget/new/").content.decode()


def test_a_strict_budget_below_what_is_taken_is_refused(client, admin, money):
    Budget.objects.filter(pk=money.pk).update(spent=Decimal(60))
    answer = post(client, admin, f"/budget/{money.pk}/edit/", fields(money, amount="50"))
    assert "60 is spent or held already" in answer.content.decode()
    post(client, admin, f"/budget/{money.pk}/edit/", fields(money, amount="50", strictness="soft"))
    money.refresh_from_db()
    assert (money.amount, money.left) == (50, -10)


def test_a_lead_names_it_and_says_when_to_be_told_but_not_how_much_there_is(client, lead, money):
    post(client, lead, f"/budget/{money.pk}/edit/", fields(money, name="Ours", thresholds="40", amount="1000000"))
    money.refresh_from_db()
    assert (money.name, money.thresholds, money.amount) == ("Ours", [40], 100)


@pytest.mark.parametrize("path", ["edit", "close", "adjust"])
@pytest.mark.parametrize(("who", "status"), [("member", 403), ("auditor", 403), ("stranger", (403, 404))])
def test_others_change_nothing(client, money, request, path, who, status):
    answer = post(client, request.getfixturevalue(who), f"/budget/{money.pk}/{path}/", {**fields(money), "way": "back", "reason": "x", "active": "0"})
    assert answer.status_code in (status if isinstance(status, tuple) else (status,))
    before = money.version, money.active
    money.refresh_from_db()
    assert (money.version, money.active) == before
    assert not Charge.objects.exists()


def test_an_adjustment_is_booked_with_reason_and_name(client, admin, money):
    Budget.objects.filter(pk=money.pk).update(spent=Decimal(10))
    answer = post(client, admin, f"/budget/{money.pk}/adjust/", {"way": "back", "amount": "4", "reason": "node was broken"})
    assert answer.status_code == 302
    row = Charge.objects.get()
    assert (row.amount, row.note, row.by, row.left) == (-4, "node was broken", admin, 94)
    page = client.get(f"/budget/{money.pk}/").content.decode()
    assert "node was broken, boss" in page


@pytest.mark.parametrize(("data", "words"), [
    ({"way": "back", "amount": "4", "reason": "x"}, "can&#x27;t be given back"),
    ({"way": "take", "amount": "400", "reason": "x"}, "is strict"),
    ({"way": "take", "amount": "0", "reason": "x"}, "id_amount_error"),
    ({"way": "take", "amount": "NaN", "reason": "x"}, "id_amount_error"),
    ({"way": "take", "amount": "1", "reason": " "}, "id_reason_error"),
])
def test_an_adjustment_that_cannot_be_says_why(client, admin, money, data, words):
    answer = post(client, admin, f"/budget/{money.pk}/adjust/", data)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Charge.objects.exists()


def test_closing_is_asked_and_audited(client, admin, owner, money):
    client.force_login(admin)
    waits = factories.job(owner, project=money.project, name="beam-q", status="queued").workload
    page = client.get(f"/budget/{money.pk}/close/").content.decode()
    assert ("It applies to 1 job in line" in page, "beam-q" in page) == (True, True)
    assert waits.is_active
    post(client, admin, f"/budget/{money.pk}/close/", {"active": "0"})
    money.refresh_from_db()
    assert (money.active, AuditEntry.objects.get().action) == (False, "close budget")


def test_a_cell_that_looks_like_a_formula_is_defused(client, admin, owner, wing, money):
    for name in ("=1+1", "+1", "-1", "@x", "plain", "\uff1d1", " \u00a0=1"):
        charge(money, factories.job(owner, project=wing, name=name).workload)
    client.force_login(admin)
    answer = client.get(f"/budget/{money.pk}/ledger.csv")
    text = read(answer)
    assert [line.split(",")[2] for line in text.splitlines()[1:]] == ["' \u00a0=1", "'\uff1d1", "plain", "'@x", "'-1", "'+1", "'=1+1"]


def read(answer):
    async def whole():
        return b"".join([part async for part in answer.streaming_content]).decode()

    return async_to_sync(whole)()


def test_auditors_see_every_budget_and_strangers_do_not(client, auditor, stranger, money):
    client.force_login(auditor)
    assert "Wing money" in client.get("/budget/all/").content.decode()
    assert client.get(f"/budget/{money.pk}/").status_code == 200
    client.force_login(stranger)
    assert client.get("/budget/all/").status_code == 403


def test_the_ledger_is_filtered_by_name_kind_and_day(client, admin, owner, wing, money):
    charge(money, factories.job(owner, project=wing, name="beam-a").workload)
    charge(money, factories.job(owner, project=wing, name="beam-b").workload)
    client.force_login(admin)
    page = client.get(f"/budget/{money.pk}/?q=beam-a").content.decode()
    assert "beam-a" in page.split('id="led-h"')[1].split("</section>")[0]
    assert "beam-b" not in page.split('id="led-h"')[1].split("</section>")[0]
    assert "Nothing like that" in client.get(f"/budget/{money.pk}/?kind=adjustment").content.decode()
    assert "Nothing like that" in client.get(f"/budget/{money.pk}/?to=2001-01-01").content.decode()
    assert client.get(f"/budget/{money.pk}/?from=nonsense&kind=x&before=x").status_code == 200


def test_the_purse_warns_past_a_threshold(client, owner, money):
    Budget.objects.filter(pk=money.pk).update(spent=Decimal(92))
    client.force_login(owner)
    assert "90 % used" in client.get("/budget/").content.decode().split("</header>")[0]


def test_spend_by_day_has_a_line_for_each_of_the_largest(client, admin, owner, wing, money):
    work = factories.job(owner, project=wing).workload
    charge(money, work, "2", owner=owner, project=wing, software="CalculiX")
    charge(money, work, "1", owner=owner, project=wing, software="Shell")
    client.force_login(admin)
    told = client.get(f"/budget/{money.pk}/spend.json?by=software").json()
    assert [(line["name"], line["values"][-1], len(line["values"])) for line in told["series"]] == [("CalculiX", 2.0, 7), ("Shell", 1.0, 7)]
    assert len(told["days"]) == 7
    assert "at this pace nothing is left on" in client.get(f"/budget/{money.pk}/").content.decode()

"""What is added up by day is what was charged, however it was booked; the ledger itself is added to and nothing else."""

import importlib
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import factories
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from jobs import ledger
from jobs.models import AuditEntry, Charge, Spend, Workload
from portal.presenters import spending

pytestmark = pytest.mark.django_db

CHANGES = (
    *("UPDATE jobs_charge SET amount = 0", "DELETE FROM jobs_charge", "UPDATE jobs_charge SET workload_id = %s"),
    *("UPDATE jobs_auditentry SET who = 'nobody'", "DELETE FROM jobs_auditentry"),
)
BY = ("budget", "owner", "project", "coretype", "software")


def charge(budget, work, amount="1", made=None, **given):
    now = made or timezone.now()
    known = {"label": work.name, "attempt": 1, "cores": 8, "price": Decimal("0.05"), "start": now, "end": now, "made": now}
    whose = {"owner": work.owner, "project": work.project, "coretype": work.coretype, "software": "Shell"}
    return Charge(budget=budget, workload=work, amount=Decimal(amount), **{**known, **whose, **given})


def charged():
    used = Charge.objects.filter(kind="use").order_by().annotate(day=TruncDate("made"))
    return set(used.values_list("day", *BY).annotate(sum=Sum("amount")))


def added_up():
    return set(Spend.objects.values_list("day", *BY, "amount"))


@pytest.fixture
def money(wing):
    return factories.budget(wing, 1000)


def test_charges_are_added_up_in_the_same_transaction(owner, wing, money, admin):
    work, other = (factories.job(owner, project=wing).workload for _ in range(2))
    Charge.objects.bulk_create([charge(money, work, "0.000001"), charge(money, work, "2.5"), charge(None, work, "1"), charge(money, other, "3")])
    charge(money, work, "0.1", software="CalculiX").save()
    charge(money, work, "0.1", made=timezone.now() - timedelta(days=1)).save()
    ledger.adjust(money, Decimal("7"), "not spend", admin, timezone.now())
    assert added_up() == charged()
    assert Spend.objects.count() == 5
    with transaction.atomic():
        charge(money, work, "9").save()
        transaction.set_rollback(True)
    assert added_up() == charged()


def test_more_keys_than_one_statement_takes(owner, wing, money):
    work = factories.job(owner, project=wing).workload
    Charge.objects.bulk_create([charge(money, work, "0.001", software=f"program {at % 250}") for at in range(500)])
    assert added_up() == charged()
    assert Spend.objects.count() == 250


def test_a_day_is_one_in_the_portals_time_zone(settings, owner, wing, money):
    settings.TIME_ZONE = "Pacific/Auckland"
    with timezone.override("Pacific/Auckland"):
        work = factories.job(owner, project=wing).workload
        charge(money, work, made=datetime(2026, 11, 30, 12, tzinfo=UTC)).save()
        assert f"{Spend.objects.get().day}" == "2026-12-01"
        assert added_up() == charged()


def test_the_migration_adds_up_what_was_charged_before(owner, wing, money):
    work = factories.job(owner, project=wing).workload
    Charge.objects.bulk_create([charge(money, work, "2.5"), charge(None, work, "1"), charge(money, work, "3", software="")])
    before = set(Spend.objects.values_list("key", "amount"))
    Spend.objects.all().delete()
    from django.apps import apps

    importlib.import_module("jobs.migrations.0013_spend_by_day").add_up(apps, None)
    assert set(Spend.objects.values_list("key", "amount")) == before


def test_of_the_organization_people_see_the_spend_of_their_own_and_their_projects(owner, stranger, member, wing, admin):
    everybody = factories.budget(None, 100)
    for user, project, amount in ((owner, None, "1"), (member, wing, "2"), (stranger, None, "4")):
        charge(everybody, factories.job(user, project=project).workload, amount).save()
    now = timezone.now()

    def seen(user):
        return sum(line["values"][-1] for line in spending.by_day(everybody, user, "owner", now)["series"])

    assert (seen(owner), seen(stranger), seen(admin)) == (3.0, 4.0, 7.0)


@pytest.mark.parametrize("model", [Charge, AuditEntry])
def test_rows_that_are_kept_for_good_cannot_be_changed_or_deleted_in_bulk(owner, wing, money, model):
    work = factories.job(owner, project=wing).workload
    charge(money, work).save()
    AuditEntry.note(owner, "submit", work)
    before = list(model.objects.values())
    for attempt in (lambda: model.objects.update(note=""), lambda: model.objects.all().delete(), lambda: model.objects.bulk_update([], ["by"])):
        with pytest.raises(TypeError, match="append-only"):
            attempt()
    assert list(model.objects.values()) == before


def test_the_database_itself_refuses_to_change_the_ledger_where_it_has_lasting_triggers(owner, wing, money):
    work, other = (factories.job(owner, project=wing).workload for _ in range(2))
    charge(money, work).save()
    AuditEntry.note(owner, "submit", work)
    for sql in CHANGES if connection.vendor == "postgresql" else ():
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, [other.pk] if "%s" in sql else None)
    Workload.objects.filter(pk=work.pk).delete()
    assert (Charge.objects.get().workload, Charge.objects.get().amount) == (None, 1)

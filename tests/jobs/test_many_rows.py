"""Many rows by few statements: ids as one value, new rows, rows made without their constructor; quick calls side by side."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import factories
import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from jobs import validation
from jobs.acting import side_by_side
from jobs.models import Charge, Check, Cluster, Event, Hold, Spend, Workload, insert, update_alike
from jobs.models.rows import columns, made

MOMENT = timezone.now()


@pytest.fixture
def work(owner) -> Workload:
    return factories.job(owner).workload


def cluster(work: Workload, attempt: int = 1) -> Cluster:
    told = {"token": f"t{work.pk}-{attempt}", "backend": "fake", "coretype": work.coretype, "nodes_wanted": 1, "cores": 2}
    return Cluster(workload=work, attempt=attempt, price=Decimal("0.123456"), asked=MOMENT, exit={"why": "täglich \\ 'x'"}, **told)


@pytest.mark.django_db
def test_ids_are_one_value(owner, django_assert_num_queries):
    works = [factories.job(owner).workload for _ in range(3)]
    assert set(Workload.objects.filter(pk__any_of={works[0].pk, works[2].pk})) == {works[0], works[2]}
    insert([cluster(one) for one in works])
    assert Cluster.objects.filter(workload__any_of=[works[1].pk, 0]).get().workload_id == works[1].pk
    with django_assert_num_queries(0):
        assert not Workload.objects.filter(pk__any_of=[]).update(name="nobody")


@pytest.mark.django_db
def test_new_rows_are_as_they_were_given(work):
    first, second = insert([cluster(work), cluster(work, 2)])
    assert second.pk > first.pk
    read = Cluster.objects.get(pk=first.pk)
    for name in columns(Cluster):
        assert getattr(read, name) == getattr(first, name), name
    first.trouble = "saved again, not made again"
    first.save()
    assert Cluster.objects.count() == 2
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([cluster(work)])
    assert insert([]) == []


@pytest.mark.django_db
def test_charges_are_added_up_and_holds_keep_their_cents(work, owner):
    budget = factories.budget(amount=100)
    insert([Hold(budget=budget, workload=work, attempt=1, amount=Decimal("0.000001"), made=MOMENT)])
    assert Hold.objects.get().amount == Decimal("0.000001")
    told = {"budget": budget, "workload": work, "attempt": 1, "cores": 1, "price": Decimal(1), "start": MOMENT, "end": MOMENT, "made": MOMENT}
    Charge.objects.bulk_create([Charge(amount=Decimal("1.000001"), owner=owner, **told), Charge(amount=Decimal(2), owner=owner, **told)])
    assert Spend.objects.get().amount == Decimal("3.000001")


@pytest.mark.django_db
def test_rows_that_get_other_values_are_written_each_with_its_own(owner, wing, django_assert_max_num_queries):
    works = [factories.job(owner, project=wing).workload for _ in range(5)]
    checks = [Check.objects.create(), None]
    for at, work in enumerate(works):
        work.gate_text, work.gate_since, work.gate_else = f"t\u00e4glich %s {at % 2}", MOMENT if at % 2 else None, [{"never": bool(at % 2)}]
        work.job.checked, work.job.streams = checks[at % 2], {}
    with django_assert_max_num_queries(4 if connection.vendor == "sqlite" else 2):
        update_alike(works, ["gate_text", "gate_since", "gate_else"], counted="version")
        update_alike([work.job for work in works], ["checked", "streams"])
    for work in works:
        read = Workload.objects.get(pk=work.pk)
        assert (read.gate_text, read.gate_since, read.gate_else) == (work.gate_text, work.gate_since, work.gate_else)
        assert read.version == work.version + 1
        assert (read.job.checked, read.job.streams) == (work.job.checked, {})


@pytest.mark.django_db
def test_money_is_written_to_its_last_digit(work):
    budget = factories.budget(amount=100)
    holds = insert([Hold(budget=budget, workload=work, attempt=at, amount=Decimal(1), made=MOMENT) for at in (1, 2)])
    for at, hold in enumerate(holds):
        hold.amount, hold.released = Decimal("9000000000.000001") + at, MOMENT + timedelta(microseconds=at)
    update_alike(holds, ["amount", "released"])
    assert [(hold.amount, hold.released) for hold in Hold.objects.order_by("pk")] == [(hold.amount, hold.released) for hold in holds]


@pytest.mark.django_db
def test_rows_are_real_models_whose_other_columns_come_when_looked_at(work, django_assert_num_queries):
    insert([Event(workload=work, at=MOMENT + timedelta(seconds=at), source="engine", detail=f"{at}") for at in range(2)])
    with django_assert_num_queries(1):
        events = made(Event.objects.order_by("pk"), columns(Event, "detail"), workload={work.pk: work})
        assert [event.workload.name for event in events] == [work.name] * 2
    with django_assert_num_queries(1):
        assert events[1].detail == "1"


def test_what_is_raised_side_by_side_takes_its_place():
    def call(number: int) -> int:
        if number % 7 == 3:
            raise ValueError(number)
        return -number

    answers = side_by_side(call, range(40))
    assert [answer if isinstance(answer, int) else -answer.args[0] for answer in answers] == [-number for number in range(40)]
    assert side_by_side(call, []) == []


@pytest.mark.parametrize(("command", "apart"), [("python3 heat.py -n 4", False), ("cat <in.txt", True), ("x" * 5000, True)])
def test_plain_words_without_input_need_no_child(monkeypatch, command, apart):
    asked = []
    monkeypatch.setattr("jobs.validation.apart.run", lambda *given: asked.append(given) or [])
    validation.run_apart(validation.Request("shell", "1", command, 1, validation.Stored([])))
    assert bool(asked) == apart

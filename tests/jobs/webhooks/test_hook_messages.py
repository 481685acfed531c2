"""Which messages there are: one an event and hook, in the transaction of the event, for those whom it concerns."""

from __future__ import annotations

import json

import factories
import playing
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs import ledger, lifecycle
from jobs.models import Budget, Membership, Webhook, WebhookDelivery, Workload
from jobs.sealed import Unreadable, opened, seal

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(owner, stranger, admin, wing):
    """Hooks by name; the project's is made by a lead."""
    lead = factories.user("lead")
    Membership.objects.create(project=wing, user=lead, role="lead")
    address = "https://example.org/"
    return {
        "own": Webhook.make(owner, address)[0],
        "another's": Webhook.make(stranger, address)[0],
        "project's": Webhook.make(lead, address, project=wing)[0],
        "all": Webhook.make(admin, address, everything=True)[0],
        "budgets only": Webhook.make(owner, address, on_status=False)[0],
    }


def told(made):
    return {name: [json.loads(row.body)["data"].get("headraceStatus", row.kind) for row in hook.deliveries.order_by("pk")] for name, hook in made.items()}


def test_each_change_of_status_is_told_once_to_each_that_it_concerns(made, owner, wing, clock, cloud):
    work = factories.job(owner, coretype=factories.coretype(), project=wing).workload
    work.submit(owner, clock())
    playing.walk(work, clock, code=3)
    road = ["Queued", "Validating Input", "Starting Cluster", "Running Job", "Stopping Cluster", "Failed"]
    assert told(made) == {"own": road, "another's": [], "project's": road, "all": road, "budgets only": []}
    last = json.loads(made["own"].deliveries.first().body)
    assert (last["type"], last["data"]["statusBefore"], last["data"]["stage"]) == ("job.status", "Stopping Cluster", None)
    assert {name: last["data"][name] for name in ("id", "outcome", "exitCode", "failedStage", "reason", "over", "projectId", "owner")} == {
        "id": work.public_id, "outcome": "failed", "exitCode": 3, "failedStage": "Running Job", "reason": "exit-code", "over": True, "projectId": wing.code, "owner": "owner",
    }  # fmt: skip


def test_a_job_outside_of_projects_concerns_its_owner_and_the_installation(made, owner):
    factories.job(owner).workload.submit(owner)
    assert {name: len(found) for name, found in told(made).items()} == {"own": 1, "another's": 0, "project's": 0, "all": 1, "budgets only": 0}


def test_what_is_rolled_back_was_never_told(made, owner):
    work = factories.job(owner).workload
    with transaction.atomic():
        work.submit(owner)
        assert WebhookDelivery.objects.count() == 2
        transaction.set_rollback(True)
    assert WebhookDelivery.objects.count() == 0


def test_the_database_takes_no_second_message_about_one_event(made, owner):
    work = factories.job(owner).workload
    work.submit(owner)
    row = made["own"].deliveries.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        WebhookDelivery.objects.create(hook=row.hook, event=row.event, kind=row.kind, body="", made=row.made, until=row.until)


@pytest.mark.parametrize("lost", ["lead", "admin", "active"])
def test_rights_that_are_taken_away_silence_a_hook(made, owner, wing, lost):
    if lost == "lead":
        Membership.objects.filter(role="lead").update(role="member")
    elif lost == "admin":
        made["all"].owner.__class__.objects.filter(is_staff=True).update(is_staff=False, is_superuser=False)
    else:
        owner.__class__.objects.filter(pk=owner.pk).update(is_active=False)
    factories.job(owner, project=wing).workload.submit(owner)
    silent = {"lead": "project's", "admin": "all", "active": "own"}[lost]
    assert {name for name, found in told(made).items() if found} == {"own", "project's", "all"} - {silent}


def test_a_disabled_hook_is_told_nothing(made, owner):
    made["own"].disable()
    factories.job(owner).workload.submit(owner)
    assert told(made)["own"] == []


def test_a_passed_threshold_is_told_to_whom_a_mail_would_be(made, owner, wing):
    budget = factories.budget(wing, 100)
    Budget.objects.filter(pk=budget.pk).update(spent=80)
    ledger.notice(timezone.now())
    ledger.notice(timezone.now())
    assert told(made) == {"own": [], "another's": [], "project's": ["budget.threshold"], "all": ["budget.threshold"], "budgets only": []}
    data = json.loads(made["all"].deliveries.get().body)["data"]
    assert {name: data[name] for name in ("name", "percent", "amount", "spent", "left", "projectId")} == {
        "name": "Budget", "percent": 75, "amount": "100", "spent": "80", "left": "20", "projectId": wing.code,
    }  # fmt: skip
    mine = factories.budget(None, 10, member=owner, name="Mine")
    Budget.objects.filter(pk=mine.pk).update(spent=10)
    ledger.notice(timezone.now())
    assert [json.loads(row.body)["data"]["percent"] for row in made["budgets only"].deliveries.order_by("pk")] == [75, 90, 100]


def test_a_burst_costs_one_query_where_nobody_listens(owner, django_assert_num_queries):
    works = [factories.job(owner).workload for _ in range(3)]
    from jobs.models import Change, advance

    with django_assert_num_queries(4):  # lock, update, events, hooks
        moved = advance([Change(work, lifecycle.QUEUED) for work in works], timezone.now())
    assert len(moved) == 3


def test_messages_outlive_the_job_that_they_tell_of(made, owner):
    work = factories.job(owner).workload
    work.submit(owner)
    Workload.objects.filter(pk=work.pk).update(status=lifecycle.STOPPED)
    work.delete_for_good(owner)
    row = made["own"].deliveries.get()
    assert row.event is None
    assert json.loads(row.body)["data"]["id"] == work.public_id


def test_who_sees_which_hooks(made, owner, member, stranger, admin, wing):
    def seen(user):
        found = {hook.pk for hook in Webhook.objects.visible_to(user)}
        return {name for name, hook in made.items() if hook.pk in found}

    assert seen(owner) == {"own", "budgets only"}
    assert seen(member) == set()
    assert seen(stranger) == {"another's"}
    assert seen(made["project's"].owner) == {"project's"}
    assert seen(admin) == {"project's", "all"}


def test_a_secret_is_sealed_and_opens_with_the_key_it_was_sealed_with(settings, owner):
    hook, text = Webhook.make(owner, "https://example.org/")
    assert text.startswith("whsec_")
    assert text not in hook.secret
    assert len(hook.key) == 32
    first = settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    with pytest.raises(Unreadable):
        opened(hook.secret)
    settings.SECRET_KEY_FALLBACKS = [first]
    assert opened(hook.secret) == text
    assert opened(seal("ü")) == "ü"

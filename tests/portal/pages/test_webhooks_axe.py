"""The pages of webhooks, with a log in each state, in Chromium: axe finds no violation, nothing is wider than a phone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from browsing import LOOKS, faults
from django.test import Client
from django.utils import timezone

from jobs.models import Webhook, WebhookDelivery

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def signed(admin):
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def pages(admin, wing):
    """Addresses of pages that have something to show."""
    now = timezone.now()
    long = "https://receiver.example.org/a/long/path/that/goes/on/" + "x" * 90
    good, bad = Webhook.make(admin, long)[0], Webhook.make(admin, "https://example.org/gone", everything=True)[0]
    Webhook.make(admin, "https://example.org/failing", project=wing, failing_since=now, failures=3)
    Webhook.objects.filter(pk=bad.pk).update(active=False, disabled=now, trouble="It has failed for 3 days.")
    log = [{"at": now.isoformat(), "code": None, "error": "It did not answer within 10 s.", "ms": 10_003}, {"at": now.isoformat(), "code": 204, "error": "", "ms": 31}]
    for number, values in enumerate(({"delivered": now, "log": log, "due": None}, {"due": None, "log": log[:1]}, {"tries": 2, "log": log[:1], "due": now + timedelta(hours=1)}, {})):
        row = good.test(now)
        WebhookDelivery.objects.filter(pk=row.pk).update(kind=("job.status", "budget.threshold", "job.status", "test")[number], **values)
    return ["/account/webhooks/", f"/account/webhooks/{good.public_id}/", f"/account/webhooks/{bad.public_id}/"]


def opened(page):
    """The first delivery with its answers."""
    for one in page.query_selector_all("#deliveries details summary")[:1]:
        one.click()


@pytest.mark.parametrize("look", LOOKS)
def test_pages_have_no_violation_and_fit(shown, pages, look):
    assert faults(shown, pages, look, before=opened) == {}

"""The pages of money, hardware, audit and queue, filled, in Chromium: axe finds no violation, nothing is wider than a phone."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import factories
import pytest
from browsing import LOOKS, faults
from django.test import Client
from django.utils import timezone
from playwright.sync_api import expect

from jobs import ledger
from jobs.models import AuditEntry, Budget, Charge, Workload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def signed(admin):
    """A browser in which an admin is signed in: they see the most."""
    client = Client()
    client.force_login(admin)
    return client


def weeks(budget, work, owner, admin, now):
    """Spend of some weeks, by two people with two programs, the last of it now."""
    known = {"label": work.name, "workload": work, "attempt": 1, "cores": 8, "price": Decimal("0.05"), "project": work.project, "coretype": work.coretype}
    for day in range(21, -1, -1):
        at = now - timedelta(days=day)
        for user, software, amount in ((owner, "CalculiX", 5), (admin, "Shell", 3)):
            used = Decimal(amount) * (1 + (day * 7) % 5) / 3 if day else Decimal(amount)
            yield Charge(budget=budget, amount=used, owner=user, software=software, start=at, end=at, made=at, left=Decimal(80), **known)


@pytest.fixture
def pages(admin, owner, wing, jobs, money):
    """Addresses of pages that have something to show."""
    now = timezone.now()
    Budget.objects.filter(pk=money.pk).update(recurrence="year", grant=Decimal(1000), zone="Europe/Oslo", spent=Decimal(920))
    ledger.schedule(money, now)
    work = Workload.objects.filter(project=wing).first()
    Charge.objects.bulk_create(list(weeks(money, work, owner, admin, now)))
    past = factories.budget(None, 500, name="Autumn campaign", zone="Europe/Oslo", begins=now - timedelta(days=40), ends=now - timedelta(days=2))
    ledger.adjust(money, Decimal("-20"), "a node was broken", admin, now)
    ledger.notice(now)
    AuditEntry.note(admin, "change coretype", work.coretype, "192.0.2.7", values={"price": ["0.1", "0.2"]})
    queued = Workload.objects.filter(status="queued").first()
    running = Workload.objects.filter(status="running").first()
    code = work.coretype.code
    return [
        *(f"/budget/{money.pk}/", f"/budget/{money.pk}/edit/", f"/budget/{money.pk}/adjust/", f"/budget/{money.pk}/close/", f"/budget/{past.pk}/", "/budget/all/", "/budget/new/"),
        *("/hardware/", "/hardware/coretypes/", f"/hardware/coretypes/{code}/edit/", "/hardware/import/", "/hardware/limits/", "/hardware/limits/new/", "/hardware/regions/new/", "/audit/"),
        *("/hardware/slurm/", "/hardware/accounts/"),
        *(f"/jobs/{queued.public_id}/", f"/jobs/{running.public_id}/extend/"),
    ]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_pages_have_no_violation_and_fit(shown, pages, look):
    assert faults(shown, pages, look) == {}


def test_the_outlook_and_the_last_day_are_drawn(shown, pages):
    page, problems = shown(pages[0], "light")
    page.wait_for_selector("[data-outlook] canvas")
    assert "€900.00 spent from 1 Jan" in page.get_attribute("[data-outlook] > div", "aria-label")
    page.goto(page.url.split("/budget/")[0] + "/hardware/")
    page.wait_for_selector("[data-occupied] canvas")
    page.evaluate("document.querySelector('[data-occupied]').dataset.old = ''")
    page.evaluate("htmx.ajax('GET', '/hardware/', {source: '#hardware-now', target: '#hardware-now', swap: 'outerHTML'})")
    page.wait_for_selector("[data-occupied][data-old] canvas")  # the rest of the page goes on without drawing it anew
    page.evaluate("htmx.ajax('GET', '/hardware/day/', {target: '#hardware-day > div', swap: 'outerHTML'})")
    page.wait_for_selector("[data-occupied]:not([data-old]) canvas")
    assert problems == []


def test_the_chart_of_spend_is_drawn(shown, pages):
    page, problems = shown(pages[0], "light")
    page.wait_for_selector("[data-spend] canvas")
    assert "CalculiX" not in page.get_attribute("[data-spend] figure.plot > div", "aria-label")  # by person at first
    page.select_option("[data-spend] select", "software")
    expect(page.locator("[data-spend] figure.plot > div")).to_have_attribute("aria-label", re.compile("CalculiX 110.00"))
    assert problems == []

"""The pages of webhooks: made with the secret shown once, tried, disabled, the log, sent again; strangers see nothing."""

from __future__ import annotations

import factories
import pytest
from django.utils import timezone

from jobs.models import Membership, Webhook, WebhookDelivery

pytestmark = pytest.mark.django_db
URL = "https://example.org/hook"


@pytest.fixture
def signed(client, owner):
    client.force_login(owner)
    return client


@pytest.fixture
def hook(owner):
    return Webhook.make(owner, URL)[0]


def make(client, **more):
    return client.post("/account/webhooks/", {"url": URL, "target": "", "events": ["status", "budget"], **more})


def test_the_secret_is_shown_once_and_not_kept_by_the_browser(signed, owner):
    answer = make(signed)
    page = answer.content.decode()
    secret = page.split('id="made">')[1].split("<")[0].replace("&#x3D;", "=")
    assert Webhook.objects.get().key
    assert secret.startswith("whsec_")
    assert "no-store" in answer["Cache-Control"]
    assert "whsec_" not in signed.get("/account/webhooks/").content.decode().split("How a receiver knows")[0]
    assert secret not in signed.get(f"/account/webhooks/{Webhook.objects.get().public_id}/").content.decode()


@pytest.mark.parametrize("url", ["http://localhost/", "http://192.168.0.1/x", "ftp://example.org/", "", "javascript:alert(1)"])
def test_a_bad_address_is_said_beside_its_field(signed, url):
    answer = make(signed, url=url)
    assert answer.status_code == 422
    assert 'id="id_url_error"' in answer.content.decode()
    assert not Webhook.objects.exists()


def test_nothing_to_tell_is_said(signed):
    assert "Choose what it is told." in make(signed, events=[]).content.decode()


def test_targets_are_those_one_may_choose(signed, client, owner, admin, wing):
    assert "<select" not in signed.get("/account/webhooks/").content.decode()
    assert make(signed, target=wing.code).status_code == 422
    assert make(signed, target="*").status_code == 422
    Membership.objects.filter(user=owner).update(role="lead")
    assert make(signed, target=wing.code).status_code == 200
    client.force_login(admin)
    assert make(client, target="*").status_code == 200
    assert list(Webhook.objects.order_by("pk").values_list("project__code", "everything")) == [(wing.code, False), (None, True)]


def test_a_test_shows_in_the_log_which_looks_again_by_itself(signed, hook):
    address = f"/account/webhooks/{hook.public_id}/"
    assert "Nothing yet" in signed.get(address).content.decode()
    page = signed.post(f"{address}test/", follow=True).content.decode()
    assert "A test is on its way" in page
    assert 'hx-trigger="load delay:2s"' in page
    part = signed.get(address, headers={"HX-Request": "true", "HX-Target": "deliveries"}).content.decode()
    assert part.lstrip().startswith("<section")
    log = [{"at": "2026-11-30T10:00:00+00:00", "code": 503, "error": "", "ms": 12}, {"at": "2026-11-30T10:00:10+00:00", "code": None, "error": "It takes no connection.", "ms": 3}]
    WebhookDelivery.objects.update(log=log, tries=2, due=timezone.now() + timezone.timedelta(hours=1))
    page = signed.get(address).content.decode()
    assert "answered 503" in page
    assert "It takes no connection." in page
    assert "next try" in page
    assert "hx-trigger" not in page.split('id="deliveries"')[1].split("</section>")[0]


def test_sent_again_from_the_page(signed, hook):
    row = hook.test()
    again = f"/account/webhooks/{hook.public_id}/{row.public_id}/again/"
    assert "still waits" in signed.post(again, follow=True).content.decode()
    WebhookDelivery.objects.update(due=None, delivered=timezone.now())
    assert "once more" in signed.post(again, follow=True).content.decode()
    row.refresh_from_db()
    assert row.state == "waiting"


def test_disabled_enabled_and_deleted(signed, hook):
    address = f"/account/webhooks/{hook.public_id}/"
    signed.post(f"{address}switch/", {"active": "0"})
    assert "No test is sent" in signed.post(f"{address}test/", follow=True).content.decode()
    Webhook.objects.update(trouble="It answered 410: it is gone for good.", disabled=timezone.now())
    assert "It was disabled." in signed.get(address).content.decode()
    signed.post(f"{address}switch/", {"active": "1"})
    hook.refresh_from_db()
    assert (hook.active, hook.trouble, hook.disabled) == (True, "", None)
    assert "410" not in signed.get(address).content.decode().split("How a receiver knows")[0]
    signed.post(f"{address}delete/")
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("who", ["stranger", "member", "boss"])
def test_a_persons_own_is_nobody_elses(client, hook, stranger, member, admin, who):
    client.force_login({"stranger": stranger, "member": member, "boss": admin}[who])
    row = hook.test()
    address = f"/account/webhooks/{hook.public_id}/"
    assert client.get(address).status_code == 404
    for path in ("switch/", "delete/", "test/", f"{row.public_id}/again/"):
        assert client.post(address + path).status_code == 404
    assert URL not in client.get("/account/webhooks/").content.decode()


def test_the_anonymous_are_asked_to_sign_in(client, hook):
    for path in ("", f"{hook.public_id}/"):
        assert client.get(f"/account/webhooks/{path}").status_code == 302
    for path in ("switch/", "delete/", "test/"):
        assert client.post(f"/account/webhooks/{hook.public_id}/{path}").status_code == 302


def test_leads_share_a_projects(client, owner, wing):
    lead = factories.user("lead")
    Membership.objects.create(project=wing, user=lead, role="lead")
    Membership.objects.filter(user=owner).update(role="lead")
    Webhook.make(owner, URL, project=wing)
    client.force_login(lead)
    assert URL in client.get("/account/webhooks/").content.decode()

"""Webhooks by the API: made, changed, tried, their log, sent again; whose they are."""

from __future__ import annotations

import pytest

from jobs.models import AuditEntry, Membership, Scope, Webhook, WebhookDelivery

URL = "https://example.org/hook?key=1"


@pytest.fixture
def hook(me):
    return me.post("webhooks/", {"url": URL}).json()


def test_made_with_its_secret_shown_once(me, hook):
    assert hook["secret"].startswith("whsec_")
    assert (hook["url"], hook["events"], hook["isActive"], hook["everything"]) == (URL, ["status", "budget"], True, False)
    again = me.get(f"webhooks/{hook['id']}/").json()
    assert again == {name: value for name, value in hook.items() if name != "secret"}
    assert me.get("webhooks/").json()["results"] == [again]
    assert hook["secret"] not in me.get("webhooks/").content.decode()
    noted = AuditEntry.objects.get(action="make webhook")
    assert "key=1" not in str(noted.detail)


@pytest.mark.parametrize(
    ("body", "field"),
    [({"url": "ftp://x/"}, "url"), ({"url": "http://127.0.0.1/"}, "url"), ({"url": "http://169.254.169.254/"}, "url"), ({}, "url"), ({"url": URL, "events": []}, "events"),
     ({"url": URL, "events": ["weather"]}, "events.0"), ({"url": URL, "projectId": "nothing"}, "projectId"), ({"url": URL, "everything": True}, "everything")],
)  # fmt: skip
def test_what_is_wrong_is_said_under_its_name(me, body, field):
    answer = me.post("webhooks/", body)
    assert answer.status_code == 400
    assert answer.json().keys() == {field}


def test_changed_disabled_enabled_deleted(me, hook):
    path = f"webhooks/{hook['id']}/"
    assert me("PATCH", path, {"events": ["budget"], "url": "https://example.org/other"}).json()["events"] == ["budget"]
    assert me("PATCH", path, {"isActive": False}).json()["isActive"] is False
    assert me.post(f"{path}test/").status_code == 409
    Webhook.objects.update(trouble="It answered 410", failures=3)
    enabled = me("PATCH", path, {"isActive": True}).json()
    assert (enabled["isActive"], enabled["trouble"], enabled["url"]) == (True, None, "https://example.org/other")
    assert me("PATCH", path, {"url": "http://10.0.0.1/"}).status_code == 400
    assert me("DELETE", path).status_code == 204
    assert me.get(path).status_code == 404
    assert {"make webhook", "change webhook", "delete webhook"} <= set(AuditEntry.objects.values_list("action", flat=True))


def test_the_log_says_each_try_and_the_next(me, hook, wanted):
    job = me.post("jobs/", wanted()).json()["id"]
    me.post(f"jobs/{job}/submit/")
    path = f"webhooks/{hook['id']}/"
    tried = me.post(f"{path}test/")
    assert (tried.status_code, tried.json()["state"]) == (202, "waiting")
    log = [{"at": "2026-11-30T10:00:00+00:00", "code": 500, "error": "", "ms": 12}, {"at": "2026-11-30T10:00:10+00:00", "code": None, "error": "It takes no connection.", "ms": 3}]
    WebhookDelivery.objects.filter(kind="job.status").update(log=log, tries=2)
    found = me.get(f"{path}deliveries/").json()["results"]
    assert [one["type"] for one in found] == ["test", "job.status"]
    assert found[1]["log"] == log
    assert found[1]["nextTry"]
    assert job in found[1]["body"]


def test_sent_again_once_it_is_over(me, hook):
    path = f"webhooks/{hook['id']}/"
    made = me.post(f"{path}test/").json()["id"]
    again = f"{path}deliveries/{made}/redeliver/"
    assert me.post(again).status_code == 409
    WebhookDelivery.objects.update(due=None)
    assert me.get(f"{path}deliveries/").json()["results"][0]["state"] == "given up"
    assert (me.post(again).status_code, WebhookDelivery.objects.filter(due__isnull=False).count()) == (202, 1)
    assert me.post(f"{path}deliveries/nothing/redeliver/").status_code == 404


def test_tests_do_not_pile_up(me, hook):
    codes = [me.post(f"webhooks/{hook['id']}/test/").status_code for _ in range(21)]
    assert codes == [202] * 20 + [409]


def test_strangers_see_none_of_it(me, hook, calls, stranger, admin):
    other = calls(stranger)
    made = me.post(f"webhooks/{hook['id']}/test/").json()["id"]
    paths = ["", "test/", "deliveries/", f"deliveries/{made}/redeliver/"]
    for path, method in zip(paths, ("GET", "POST", "GET", "POST"), strict=True):
        assert other(method, f"webhooks/{hook['id']}/{path}").status_code == 404
    assert other("PATCH", f"webhooks/{hook['id']}/", {"isActive": False}).status_code == 404
    assert other("DELETE", f"webhooks/{hook['id']}/").status_code == 404
    assert calls(admin, Scope.ADMIN).get(f"webhooks/{hook['id']}/").status_code == 404, "a person's own is nobody else's"


def test_a_lead_makes_a_projects_and_an_admin_the_installations(me, calls, owner, member, admin, wing):
    assert me.post("webhooks/", {"url": URL, "projectId": wing.code}).status_code == 400
    Membership.objects.filter(user=owner).update(role="lead")
    made = me.post("webhooks/", {"url": URL, "projectId": wing.code}).json()
    assert made["projectId"] == wing.code
    assert calls(member).get(f"webhooks/{made['id']}/").status_code == 404
    boss = calls(admin, Scope.ADMIN)
    assert boss.get(f"webhooks/{made['id']}/").status_code == 200
    assert boss.post("webhooks/", {"url": URL, "everything": True}).json()["everything"] is True
    assert boss.post("webhooks/", {"url": URL, "everything": True, "projectId": wing.code}).status_code == 400
    assert calls(admin, Scope.RUN).post("webhooks/", {"url": URL, "everything": True}).status_code == 400, "a token without the admin's rights"


def test_a_read_token_makes_none(calls, owner):
    assert calls(owner, Scope.READ).post("webhooks/", {"url": URL}).status_code == 403


def test_nobody_has_more_than_twenty(me, owner):
    for _ in range(20):
        Webhook.make(owner, URL)
    assert me.post("webhooks/", {"url": URL}).json().keys() == {"detail"}

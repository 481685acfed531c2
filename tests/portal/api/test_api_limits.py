"""How fast one token may ask, and what the lists of the catalogue say."""

from __future__ import annotations

import factories
import pytest

from jobs.models import Scope
from portal.api.v2 import rate


def test_beyond_the_rate_it_is_429_with_retry_after(me, calls, owner, settings):
    settings.API_RATE = "3/m"
    assert [me.get("").status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = me.get("")
    assert 1 <= int(answer["Retry-After"]) <= 20
    assert answer.json() == {"detail": ["Too many requests."]}
    assert calls(owner).get("").status_code == 200, "each token has a bucket of its own"


def test_a_bucket_fills_steadily(settings):
    settings.API_RATE = "10/s"
    assert [rate.pause("x", 100.0) for _ in range(11)] == [0] * 10 + [1]
    assert rate.pause("x", 100.15) == 0
    assert rate.pause("x", 100.15) == 1


@pytest.mark.parametrize("text", ["", "0/m", "10", "10/week", "-1/s", "ten/m"])
def test_a_rate_that_is_none(text):
    with pytest.raises(ValueError, match="API_RATE"):
        rate.parsed(text)


def test_the_usual_rate_leaves_polling_clients_alone(settings):
    asked = range(0, 3600 * 100, 250)  # 40 a second: 200 clients that poll every 5 s with one token
    assert not any(rate.pause("poll", at / 10 / 100) for at in asked[:20_000])


def test_the_catalogue(me, kind, shell, owner, wing, member):
    factories.coretype(code="old", active=False)
    found = {one["code"]: one for one in me.get("coretypes/").json()["results"]}
    assert found["granite"]["price"] == 0.1
    assert found["granite"]["cores"] == [1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 32]
    assert found["old"]["isDeprecated"]
    assert [one["code"] for one in me.get("coretypes/?isActive=true").json()["results"]] == ["granite"]
    software = me.get("analyses/").json()["results"][0]
    assert (software["code"], software["versions"][0]["versionCode"]) == ("shell", "1")
    prices = me.get("billing/computeprices/").json()
    assert {one["coreType"]: one["value"]["amount"] for one in prices}["granite"] == "0.1"
    assert me.get("users/me/").json()["username"] == "owner"
    assert [one["id"] for one in me.get("users/me/projects/").json()["results"]] == [wing.code]


def test_budgets_are_those_that_apply(calls, owner, stranger, admin, wing):
    factories.budget(wing, 100, name="Wing")
    assert [one["left"] for one in calls(owner).get("budgets/").json()["results"]] == ["100"]
    assert calls(stranger).get("budgets/").json()["count"] == 0
    assert calls(admin, Scope.ADMIN).get("budgets/").json()["count"] == 1

"""The API x owner, stranger, anonymous, and tokens that read only or are over."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import ApiToken

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_api_gives_strangers_nothing(job, owner, stranger, admin):
    made = {user.username: ApiToken.make(user, "t")[1] for user in (owner, stranger)}
    base, file = f"/api/v2/jobs/{job.public_id}/", f"/api/v2/files/{job.job.inputs.get().file.public_id}/"
    paths = [
        "",
        "statuses/",
        "cluster_statuses/",
        "files/",
        "runs/",
        "runs/1/",
        "runs/1/files/",
        "runs/1/tail/stdout",
        "instances/",
        "log/",
        "health/",
        "gates/",
    ]
    client = Client()
    for address in [
        *(base + path for path in paths),
        file,
        file + "contents/",
        file + "lines/",
        f"/api/v2/files/{job.public_id}-1-0/contents/",
    ]:
        assert client.get(address).status_code == 401, address
        assert client.get(address, HTTP_AUTHORIZATION="Token wrong").status_code == 401, address
        assert client.get(address, HTTP_AUTHORIZATION=f"Token {made[stranger.username]}").status_code in (400, 404), address
    for path in ("submit/", "stop/", "clone/", "runs/1/stop/", "runs/1/snapshot/"):
        answer = client.post(base + path, "{}", "application/json", HTTP_AUTHORIZATION=f"Token {made[stranger.username]}")
        assert answer.status_code == 404, path
    assert client.get(base, HTTP_AUTHORIZATION=f"Token {made[owner.username]}").status_code == 200


def test_a_read_token_reads_only(job, owner):
    _, text = ApiToken.make(owner, "t", "read")
    client, base = Client(), f"/api/v2/jobs/{job.public_id}/"
    assert client.get(base, HTTP_AUTHORIZATION=f"Token {text}").status_code == 200
    assert client.post(base + "stop/", "{}", "application/json", HTTP_AUTHORIZATION=f"Token {text}").status_code == 403


def test_an_expired_token_is_no_token(job, owner):
    _, text = ApiToken.make(owner, "t", expires=timezone.now())
    assert Client().get(f"/api/v2/jobs/{job.public_id}/", HTTP_AUTHORIZATION=f"Token {text}").status_code == 401

"""Tokens: made and shown once, listed, revoked; on the page, on the command line, on a websocket."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from jobs import lifecycle
from jobs.models import ApiToken, AuditEntry, Scope

URL = "/account/tokens/"


@pytest.fixture
def page(owner):
    client = Client()
    client.force_login(owner)
    return client


def shown(answer):
    found = re.search(r'id="made">(hr_[\w-]+)</pre>', answer.content.decode())
    return found[1] if found else None


def test_a_token_is_shown_once_and_kept_as_a_hash(page, owner):
    made = page.post(URL, {"name": "laptop", "scope": "run", "days": "30"})
    text = shown(made)
    assert made["Cache-Control"].count("no-store")
    assert Client().get("/api/v2/", headers={"Authorization": f"Token {text}"}).status_code == 200
    row = ApiToken.objects.get()
    assert text not in str(row.__dict__)
    assert timedelta(days=29) < row.expires - timezone.now() < timedelta(days=31)
    again = page.get(URL).content.decode()
    assert text not in again
    assert "laptop" in again
    assert "127.0.0.1" in again, "used last from where"
    assert AuditEntry.objects.filter(action="make token", by=owner).count() == 1


def test_revoking_ends_it_at_once_and_only_ones_own(page, owner, stranger):
    text = shown(page.post(URL, {"name": "x", "scope": "run", "days": ""}))
    row = ApiToken.objects.get()
    assert row.expires is None
    other = Client()
    other.force_login(stranger)
    assert other.post(f"{URL}{row.pk}/revoke/").status_code == 404
    assert page.post(f"{URL}{row.pk}/revoke/").status_code == 302
    assert Client().get("/api/v2/", headers={"Authorization": f"Token {text}"}).status_code == 401


def test_what_is_wrong_is_said_and_nothing_is_made(page):
    for form in ({"name": ""}, {"name": "x" * 81}, {"name": "x", "scope": "admin"}, {"name": "x", "scope": "run", "days": "7000"}, {"name": "a\0b", "scope": "run"}):
        assert page.post(URL, form).status_code == 422, form
    assert not ApiToken.objects.exists()


def test_only_admins_may_make_tokens_of_admins(admin):
    client = Client()
    client.force_login(admin)
    text = shown(client.post(URL, {"name": "x", "scope": "admin", "days": "30"}))
    assert Client().get("/api/v2/installation/", headers={"Authorization": f"Bearer {text}"}).status_code == 200


def test_the_page_is_for_those_who_are_signed_in(db):
    assert Client().get(URL).status_code == 302
    assert Client().post(f"{URL}1/revoke/").status_code == 302


def test_the_account_page_leads_there(page):
    assert URL in page.get("/account/").content.decode()


def test_the_command_prints_the_token_alone(owner, admin, capsys):
    call_command("token", "owner", "--days", "1", "--name", "cron")
    text = capsys.readouterr().out.strip()
    assert re.fullmatch(r"hr_[\w-]{40}", text)
    token = ApiToken.find(text)
    assert (token.user, token.scope, token.name) == (owner, Scope.RUN, "cron")
    call_command("token", "boss", "--scope", "admin")
    for words in (["nobody"], ["owner", "--scope", "admin"], ["owner", "--days", "0"], ["owner", "--name", ""], ["owner", "--scope", "other"]):
        with pytest.raises((CommandError, SystemExit)):
            call_command("token", *words)


def test_the_command_says_that_it_looked_in_the_wrong_folder(monkeypatch):
    def broken(**asked):
        raise OperationalError("no such table: auth_user")

    monkeypatch.setattr(User.objects, "filter", broken)
    with pytest.raises(CommandError, match="no such table: auth_user; name the data folder of `up` with --data"):
        call_command("token", "owner")


async def connected(path, header):
    from portal.asgi import sockets

    headers = [(b"host", b"testserver"), *([(b"authorization", header.encode())] if header else [])]
    socket = WebsocketCommunicator(sockets, path, headers=headers)
    accepted, _ = await socket.connect(timeout=10)
    first = await socket.receive_from(timeout=10) if accepted else None
    await socket.disconnect()
    return accepted, first


@pytest.mark.django_db(transaction=True)
async def test_websockets_take_a_token(owner, stranger):
    from asgiref.sync import sync_to_async
    from scenes import job, log

    work = await sync_to_async(job)(owner, lifecycle.RUNNING)
    await sync_to_async(log)(work, "hello\n")
    mine, foreign, read = [(await sync_to_async(ApiToken.make)(user, "x", scope))[1] for user, scope in ((owner, "run"), (stranger, "run"), (owner, "read"))]
    path = f"/live/jobs/{work.public_id}/log/"
    accepted, info = await connected(path, f"Token {mine}")
    assert accepted
    assert (json.loads(info)["type"], json.loads(info)["size"]) == ("info", 6)
    assert (await connected(path, f"Bearer {read}"))[0]
    for header in (f"Token {foreign}", "Token hr_nothing", "Basic x", ""):
        assert not (await connected(path, header))[0], header
    for query in (f"token={mine}", f"Authorization=Token%20{mine}", f"access_token={mine}"):
        assert not (await connected(f"{path}?{query}", ""))[0], "addresses end up in logs"
    assert (await connected(f"/live/jobs/{work.public_id}/", f"Token {mine}"))[0]

"""Applications live on another host name than the portal, or nowhere; passes are for one purpose and a while."""

import time

import pytest

from portal.relay import hosts, tickets
from portal.relay.tickets import Pass


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8000", "http://localhost:8000"),
        ("localhost:8000", "http://127.0.0.1:8000"),
        ("portal.example.org", ""),
        ("10.0.0.5:8000", ""),
    ],
)
def test_the_machine_has_two_names_for_itself(settings, host, origin):
    settings.APPS_URL = ""
    assert hosts.origin_beside("http", host) == origin
    assert not hosts.is_only_for_apps(host)


def test_a_host_of_their_own_serves_nothing_else(settings):
    settings.APPS_URL = "https://apps.example.org/"
    assert hosts.origin_beside("https", "portal.example.org") == "https://apps.example.org"
    assert hosts.is_only_for_apps("apps.example.org")
    assert not hosts.is_for_apps("portal.example.org")
    assert not hosts.is_for_apps("localhost:8000")


def test_a_pass_opens_what_it_was_sealed_for():
    given = Pass("session", "hr1-workstation-aBcDeF")
    sealed = tickets.seal(given, "ticket")
    assert "session" not in sealed
    assert tickets.unseal(sealed, "ticket", 60) == given
    assert tickets.unseal(sealed, "cookie", 60) is None
    assert tickets.unseal(sealed[:-2] + "AA", "ticket", 60) is None
    assert tickets.unseal("nonsense", "ticket", 60) is None


def test_a_pass_ends(monkeypatch):
    sealed = tickets.seal(Pass("s", "n"), "ticket")
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    assert tickets.unseal(sealed, "ticket", 60) is None


def test_another_key_opens_nothing(settings):
    sealed = tickets.seal(Pass("s", "n"), "ticket")
    settings.SECRET_KEY = "another one, long enough for anybody"
    assert tickets.unseal(sealed, "ticket", 60) is None

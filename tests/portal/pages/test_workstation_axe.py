"""Every page of workstations, in each status, in Chromium: axe finds no violation, the policy is kept, nothing is wider than a phone."""

from __future__ import annotations

import pytest
import stations as scene
from browsing import LOOKS, faults

from jobs import lifecycle
from jobs.models import Share

pytestmark = pytest.mark.django_db(transaction=True)

UNANSWERED = ("/relay/", "/shared/nothing/", "Raw channel")
"""Nobody is behind the relay here, and a link that is over is a 404."""


@pytest.fixture
def stations(owner, wing, money):
    return scene.all_of_them(owner, wing)


@pytest.fixture
def link(stations, owner):
    share = stations["terminal"].workstation
    return share.share(owner, share.workload.made.replace(year=share.workload.made.year + 1), signed_in=False)


def addresses(stations, link, look):
    status = [f"/workstations/{work.public_id}/" for work in stations.values()]
    active, suspended, stopped = (stations[name].public_id for name in (lifecycle.ACTIVE, lifecycle.SUSPENDED, lifecycle.STOPPED))
    code = stations[lifecycle.SUSPENDED].workstation.home.code
    tabs = [f"/workstations/{active}/{tab}/" for tab in ("health", "timeline", "settings")]
    files = [
        f"/workstations/{suspended}/files/",
        f"/workstations/{suspended}/files/?copy={code}&in=case",
        f"/workstations/{stations['draft'].public_id}/files/",
    ]
    asked = [
        f"/workstations/{active}/suspend/",
        f"/workstations/{active}/stop/",
        f"/workstations/{active}/stop/?force=1",
        f"/workstations/{stopped}/delete/",
    ]
    shared = [f"/workstations/shared/{link}/", "/workstations/shared/nothing/"]
    if look != "light":
        return [
            "/workstations/",
            "/workstations/new/",
            *(f"/workstations/{stations[name].public_id}/" for name in ("idle", "terminal", "jupyter", "lost", "failed")),
            *files[:1],
            *shared,
        ]
    return [
        "/workstations/",
        "/workstations/?view=over",
        "/workstations/?q=nothing",
        "/workstations/new/",
        *status,
        *tabs,
        *files,
        *asked,
        *shared,
    ]


@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_workstations_are_accessible(stations, link, shown, look):
    assert Share.objects.exists()
    assert faults(shown, addresses(stations, link, look), look, pardoned=UNANSWERED) == {}

"""Every page of workstations in every status: it is there, says what is so, offers what makes sense, and pushes what it shows."""

import re

import pytest
import stations as scene

pytestmark = pytest.mark.django_db

TABS = ["", "health/", "timeline/", "settings/"]


@pytest.fixture
def stations(owner, wing, money):
    return scene.all_of_them(owner, wing)


def page_of(client, work, tab=""):
    answer = client.get(f"/workstations/{work.public_id}/{tab}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("tab", TABS)
def test_every_page_in_every_status(stations, signed, tab):
    for name, work in stations.items():
        page = page_of(signed, work, tab)
        assert page.count("<h1") == 1, name
        ids = re.findall(r'\sid="([^"]+)"', page)
        assert len(ids) == len(set(ids)), name
        assert work.row.label in page

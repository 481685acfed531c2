"""Every page of workstations in every status: it is there, says what is so, offers what makes sense, and pushes what it shows."""

import re

import pytest
import stations as scene
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import lifecycle, logs
from jobs.models import Cluster, Workload, WorkstationKind
from portal import fragments, relay

pytestmark = pytest.mark.django_db

PER_ROW = 3
"""Queries that one more row may cost: what it holds in its budgets, when its stages were."""
TABS = ["", "files/", "health/", "timeline/", "settings/"]


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


def test_what_is_pushed_is_on_the_page(stations, signed, owner):
    """Each fragment finds its place by its id."""
    for name, work in stations.items():
        page = page_of(signed, work)
        pushed = fragments.render(work, owner, "status")
        ids = re.findall(rf'<\w+[^>]*?\sid="(workstation-{work.public_id}-[a-z]+)"[^>]*?hx-swap-oob', pushed)
        assert len(ids) == len(fragments.WORKSTATION_PAGES["status"]), name
        for one in ids:
            assert f'id="{one}"' in page, (name, one)


def test_the_session_is_connected_to_only_when_it_is_ready(stations, signed):
    ready = {name for name, work in stations.items() if re.search(r"data-veil\s+data-ready", page_of(signed, work))}
    assert ready == {lifecycle.ACTIVE, "idle", "unsaved", "terminal", "jupyter"}


def test_socket_and_picture_carry_the_name_that_stays(stations, signed):
    work = stations[lifecycle.ACTIVE]
    name = relay.name_of(work.cluster.token)
    page = page_of(signed, work)
    assert f'data-socket="/relay/{name}/desktop"' in page
    assert f'data-still="/relay/{name}/picture.png"' in page
    assert f'data-socket="/relay/{relay.name_of(stations["terminal"].cluster.token)}/terminal"' in page_of(signed, stations["terminal"])


def test_jupyterlab_opens_in_a_tab_of_its_own(stations, signed):
    page = page_of(signed, stations["jupyter"])
    assert f"/workstations/{stations['jupyter'].public_id}/open/" in page
    answer = signed.get(f"/workstations/{stations['jupyter'].public_id}/open/", HTTP_HOST="127.0.0.1:8000")
    assert answer.status_code == 303
    assert answer["Location"].startswith("http://localhost:8000/relay/")


def test_a_portal_without_a_host_for_applications_says_so(stations, signed):
    answer = signed.get(f"/workstations/{stations['jupyter'].public_id}/open/", HTTP_HOST="portal.example.org")
    assert answer.status_code == 409
    assert "APPS_URL" in answer.content.decode()


def test_an_admin_looks_only_and_says_so_first_and_a_member_does_not_connect(stations, as_user, admin, member):
    work = stations[lifecycle.ACTIVE]
    looked = page_of(as_user(admin), work)
    assert 'data-mode="look"' in looked
    assert "sees that you do" in looked
    assert "picture.png" not in looked + as_user(admin).get("/workstations/").content.decode()
    assert "desk-clip" not in looked
    closed = page_of(as_user(member), work)
    assert "data-socket" not in closed
    assert "What it costs" in closed
    assert "/suspend/" not in closed


def test_who_is_connected_is_named(stations, signed):
    work = stations[lifecycle.ACTIVE]
    directory = logs.attempt_dir(work.public_id, work.attempt)
    (directory / "viewers.json").write_text('[{"viewer": "boss", "mode": "look"}, {"viewer": "owner", "mode": "act"}]')
    shown = page_of(signed, work).split('aria-label="Connected now"')[1].split("</ul>")[0]
    assert re.findall(r"</svg>(\w+)( <span class=\"quiet\">looks)?", shown) == [("boss", ' <span class="quiet">looks'), ("owner", "")]


def test_idle_says_since_when_when_it_ends_and_why(stations, signed):
    page = page_of(signed, stations["idle"])
    for words in (
        "Idle for 18 min",
        "It will be suspended at",
        "Keep for 1 hour, €0.38",
        "I am here",
        "Why it counts as idle",
        "No key or pointer",
        "No solver runs",
    ):
        assert words in page
    busy = page_of(signed, stations[lifecycle.ACTIVE])
    assert "Whether it is in use" in busy
    assert "at work" in busy
    assert "It will be suspended at" not in busy


def test_a_kind_that_never_suspends_says_so(stations, signed):
    WorkstationKind.objects.update(idle_after=0)
    page = page_of(signed, stations["idle"])
    assert "never suspended for being idle" in page
    assert "Idle for" not in page


def test_what_could_not_be_saved_stays_active_and_says_so(stations, signed):
    page = page_of(signed, stations["unsaved"])
    assert "so it was not suspended" in page
    assert "The home needs 3.1 GiB" in page


def test_cost_active_suspended_and_over_night(stations, signed):
    page = page_of(signed, stations[lifecycle.ACTIVE])
    assert "€0.384<small>/h" in page
    assert "8 cores at €0.048" in page
    assert "€5.38" in page
    assert "Active, now" in page
    assert "Suspended, now" in page_of(signed, stations[lifecycle.SUSPENDED])
    assert "Being suspended has saved about €3.46" in page_of(signed, stations[lifecycle.SUSPENDED])


def test_a_lost_node_is_said_with_the_age_of_the_copy(stations, signed):
    page = page_of(signed, stations["lost"])
    assert "A node of the cluster was lost." in page
    assert "Its home is that of" in page


def test_a_failed_one_says_where_and_what_to_do(stations, signed):
    page = page_of(signed, stations[lifecycle.FAILED])
    assert "Failed in Starting Cluster" in page
    assert "Try again, or take another coretype." in page


def test_home_copies_with_age_size_and_what_is_missing(stations, signed):
    page = page_of(signed, stations[lifecycle.ACTIVE])
    assert "Last copy" in page
    assert "12 min ago" in page
    assert "2 skipped" in page
    assert "No copy yet" in page_of(signed, stations["terminal"])


# --- the list ---------------------------------------------------------------------------------------------------------
def test_the_list_shows_what_is_open_and_the_rest_on_request(stations, signed):
    page = signed.get("/workstations/").content.decode()
    assert "desktop-active" in page
    assert "desktop-stopped" not in page
    assert "desktop-stopped" in signed.get("/workstations/?view=over").content.decode()
    found = signed.get("/workstations/?view=all&q=idle").content.decode()
    assert "desktop-idle" in found
    assert "desktop-active" not in found


def test_a_stranger_sees_an_empty_list_and_what_there_is(stations, as_user, stranger):
    page = as_user(stranger).get("/workstations/").content.decode()
    assert "desktop-active" not in page
    assert "What there is" in page
    assert "/workstations/new/?kind=terminal" in page


def test_rows_are_pushed_to_those_who_may_see_them(stations, owner, stranger):
    ids = [stations[name].public_id for name in (lifecycle.ACTIVE, lifecycle.SUSPENDED)]
    pushed = fragments.render_rows(ids, owner)
    assert pushed.count("hx-swap-oob") == 2
    assert "picture.png" in pushed
    assert fragments.render_rows(ids, stranger) == ""


def test_one_more_row_costs_few_queries(owner, wing, signed):
    def listed(count):
        for _ in range(count):
            scene.copy(scene.desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="wish", project=wing))
        signed.get("/workstations/")
        with CaptureQueriesContext(connection) as asked:
            signed.get("/workstations/")
        return len(asked)

    few, many = listed(2), listed(6)
    assert many - few <= 6 * PER_ROW


def test_a_member_gets_no_picture_of_a_colleagues_desktop(stations, as_user, member):
    page = as_user(member).get("/workstations/").content.decode()
    assert "desktop-active" in page
    assert "picture.png" not in page


def test_health_is_that_of_its_node(stations, signed):
    answer = signed.get(f"/workstations/{stations[lifecycle.ACTIVE].public_id}/health/data/").json()
    assert [node["name"] for node in answer["nodes"]] == ["node-01"]
    assert answer["nodes"][0]["beats"]


def test_the_timeline_names_suspend_and_resume(stations, signed, owner):
    work = stations[lifecycle.SUSPENDED]
    Cluster.objects.filter(workload=work).update(ready=None)
    Workload.objects.filter(pk=work.pk).update(wish="suspend")
    work.workstation.resume(owner)
    page = page_of(signed, work, "timeline/")
    for words in ("Suspended by a person.", "Resumed"):
        assert words in page

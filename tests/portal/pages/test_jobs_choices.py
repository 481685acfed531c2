"""Or else: several kinds of hardware on the form of a new job, its review, its draft, its pages while it waits and after."""

from __future__ import annotations

import factories
import playing
import pytest

from jobs import gauging
from jobs.models import Choice, Limit, Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def granite(cloud, monkeypatch):
    monkeypatch.setattr(cloud, "pools", {"granite": 16, "basalt": 8})
    gauging.forget()
    return factories.coretype(code="granite", cores=16, price="0.1", economy_price="0.05")


@pytest.fixture
def basalt(granite):
    return factories.coretype(code="basalt", name="Basalt", cores=8, max_nodes=2, price="0.3", walltime_max=3 * 3600)


@pytest.fixture
def filled(owner, wing, granite, basalt, money):
    """A good form with a second choice."""
    return {"name": "beam", "software": factories.software().pk, "command": "echo hello", "environment": "", "coretype": granite.pk, "nodes": "1",
            "cores": "", "walltime": "2 h", "project": wing.pk, "key": "key-1", "action": "submit", "or_coretype_1": basalt.pk, "or_nodes_1": "",
            "or_cores_1": ""}


def shapes(work):
    return [(one.coretype.code, one.nodes, one.cores) for one in work.choices.all()]


def test_what_is_left_empty_is_all_there_is(signed, filled):
    assert signed.post("/jobs/new/", filled).status_code == 302
    work = Workload.objects.get()
    assert (work.coretype.code, shapes(work)) == ("granite", [("granite", 1, 16), ("basalt", 1, 8)])


def test_a_row_without_coretype_is_not_there(signed, filled):
    signed.post("/jobs/new/", {**filled, "or_coretype_1": "", "or_cores_1": "4"})
    assert not Choice.objects.exists()


def test_a_gap_between_rows_is_closed(signed, filled, granite):
    signed.post("/jobs/new/", {**filled, "or_coretype_1": "", "or_coretype_3": granite.pk, "or_cores_3": "4"})
    assert shapes(Workload.objects.get()) == [("granite", 1, 16), ("granite", 1, 4)]


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"or_cores_1": "9"}, "or_cores_1", "A node of Basalt has 8 cores."),
        ({"or_nodes_1": "3"}, "or_nodes_1", "Basalt has at most 2 nodes for a job."),
        ({"or_nodes_1": "0"}, "or_nodes_1", "At least 1 node."),
        ({"or_cores_1": "1e30"}, "or_cores_1", "A whole number of cores."),
        ({"walltime": "4 h"}, "or_coretype_1", "At most 3 h on Basalt."),
        ({"economy": "on"}, "or_coretype_1", "Basalt is not offered as economy."),
        ({"or_coretype_1": "999"}, "or_coretype_1", "Select a valid choice"),
    ],
)
def test_what_an_alternative_cannot_be_is_said_beside_it(signed, filled, changed, field, words):
    answer = signed.post("/jobs/new/", {**filled, **changed})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert not Workload.objects.exists()
    assert words in html.split(f'id="id_{field}-error"')[1][:200]
    assert "<details open>" in html


def test_the_same_twice_is_refused(signed, filled, granite):
    html = signed.post("/jobs/new/", {**filled, "or_coretype_1": granite.pk}).content.decode()
    assert "This is the same as one above." in html


def test_hardware_of_another_group_is_no_choice(signed, filled, basalt):
    from django.contrib.auth.models import Group

    basalt.groups.add(Group.objects.create(name="few"))
    assert signed.post("/jobs/new/", filled).status_code == 422


def test_more_cores_than_a_limit_ever_allows_are_refused(signed, filled, granite):
    Limit.objects.create(coretype=granite, most_cores=8)
    html = signed.post("/jobs/new/", filled).content.decode()
    assert "At most 8 cores at once for you on Granite; 16 are asked for." in html


def test_the_review_shows_what_each_costs(signed, filled):
    html = signed.post("/jobs/new/", {**filled, "action": "review"}, headers={"HX-Request": "true"}).content.decode()
    assert "€1.60 <span class=\"small\">to</span> €2.40" in html
    assert "€3.20 to €4.80" in html
    assert "or else Basalt 1 \u00d7 8" in html


def test_the_check_on_the_form_looks_at_every_choice(signed, filled):
    html = signed.post("/jobs/new/", {**filled, "software": factories.software("mpi").pk, "command": "mpirun -np 16 hostname", "action": "check"}).content.decode()
    assert "On Basalt 1 \u00d7 8: " in html


def test_a_draft_keeps_its_choices_and_may_lose_them(signed, filled):
    signed.post("/jobs/new/", {**filled, "action": "draft"})
    work = Workload.objects.get()
    html = signed.get(f"/jobs/new/?draft={work.public_id}").content.decode()
    assert "<details open>" in html
    assert 'id="id_or_cores_1" name="or_cores_1" inputmode="numeric" value="8"' in html
    signed.post("/jobs/new/", {**filled, "draft": work.public_id, "or_coretype_1": "", "action": "draft"})
    assert not Choice.objects.exists()


def test_a_waiting_job_says_why_for_each_and_a_started_one_which_it_took(signed, clock, owner, wing, filled, granite, basalt):
    for kind, cores in ((granite, 16), (basalt, 8)):
        busy = factories.job(owner, coretype=kind, cores=cores, project=wing).workload
        busy.submit(owner, clock())
        playing.turn_all(clock, ("queued",))
    signed.post("/jobs/new/", filled)
    playing.turn_all(clock, ("queued",))
    work = Workload.objects.latest("pk")
    page = signed.get(f"/jobs/{work.public_id}/").content.decode()
    assert "On each hardware that it may have" in page
    assert "Needs 8 cores of Basalt; 0 free; next in line" in page
    busy.refresh_from_db()
    busy.stop(owner, now=clock())
    playing.turn_all(clock, ("validating", "stopping", "queued"))
    work.refresh_from_db()
    assert work.coretype == basalt
    playing.turn_all(clock, ("validating", "starting"))
    page = signed.get(f"/jobs/{work.public_id}/").content.decode()
    assert "Basalt 1 \u00d7 8, choice 2 of 2. Granite: Needs 16 cores of Granite; 0 free" in page
    settings = signed.get(f"/jobs/{work.public_id}/settings/").content.decode()
    assert "taken by this attempt" in settings


def test_a_coretype_that_is_another_choice_is_not_deleted(client, admin, filled, signed, basalt):
    signed.post("/jobs/new/", filled)
    client.force_login(admin)
    answer = client.post(f"/hardware/coretypes/{basalt.code}/delete/", follow=True)
    assert "can't be deleted" in " ".join(answer.content.decode().split()).replace("&#x27;", "'")

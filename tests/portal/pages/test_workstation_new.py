"""The form of a new workstation: what is offered, what is wrong in words, what it costs, and that two clicks are one."""

import factories
import pytest
import stations as scene
from django.contrib.auth.models import Group

from jobs import lifecycle
from jobs.models import AuditEntry, Coretype, Workload, WorkstationKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def offered(owner, wing, money):
    return scene.kind("desktop"), scene.hardware(), wing


def filled(offered, **more):
    kind, hardware, project = offered
    return {"kind": kind.pk, "coretype": hardware.pk, "project": project.pk, "name": "mesh", "key": "k1", **more}


def test_kinds_hardware_and_both_prices_are_shown(signed, offered):
    page = signed.get("/workstations/new/").content.decode()
    for words in (
        "Linux desktop",
        "after 2 h without work",
        "€0.384 /h",
        "€0.0001 /h a GiB",
        "First hour, held at the start",
        "What is kept, what ends",
        "Wing can pay",
    ):
        assert words in page


def test_it_is_started_and_written_down(signed, offered, owner):
    answer = signed.post("/workstations/new/", filled(offered))
    work = Workload.objects.get()
    assert answer.url == f"/workstations/{work.public_id}/"
    assert (work.status, work.kind, work.name, work.cores, work.project) == (lifecycle.QUEUED, "workstation", "mesh", 8, offered[2])
    assert work.workstation.kind == offered[0]
    assert AuditEntry.objects.get().action == "start workstation"


def test_without_a_name_it_has_one(signed, offered):
    signed.post("/workstations/new/", filled(offered, name=""))
    assert Workload.objects.get().name == "desktop-owner"


def test_two_clicks_are_one(signed, offered):
    first, second = (signed.post("/workstations/new/", filled(offered)) for _ in range(2))
    assert first.url == second.url
    assert Workload.objects.count() == 1


def test_a_draft_spends_nothing(signed, offered):
    signed.post("/workstations/new/", filled(offered, action="draft"))
    assert Workload.objects.get().status == lifecycle.DRAFT


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"cores": "99"}, "A node of Basalt has 8 cores."), ({"cores": "0"}, "At least 1 core."), ({"kind": "999"}, "Select a valid choice"), ({"kind": ""}, "Choose what kind"),
     ({"coretype": ""}, "Choose the hardware."), ({"project": ""}, "Choose the project that pays.")],
)  # fmt: skip
def test_what_is_wrong_is_said_and_what_was_typed_is_kept(signed, offered, wrong, words):
    answer = signed.post("/workstations/new/", filled(offered, **wrong))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert words in page
    assert 'value="mesh"' in page
    assert not Workload.objects.exists()


def test_a_kind_for_other_hardware_is_refused_in_words(signed, offered):
    offered[0].coretypes.add(factories.coretype(name="Granite"))
    page = signed.post("/workstations/new/", filled(offered)).content.decode()
    assert "only on Granite" in page


def test_a_kind_for_a_group_is_offered_to_it_alone(signed, offered, owner):
    offered[0].groups.add(Group.objects.create(name="mesh people"))
    assert "Linux desktop" not in signed.get("/workstations/new/").content.decode()
    owner.groups.add(Group.objects.get())
    assert "Linux desktop" in signed.get("/workstations/new/").content.decode()


def test_a_project_of_others_pays_for_nobody_else(signed, offered):
    other = factories.project(factories.user(), name="Tail")
    assert signed.post("/workstations/new/", filled(offered, project=other.pk)).status_code == 422


def test_the_review_follows_the_form(signed, offered):
    answer = signed.post("/workstations/new/", filled(offered, action="review", cores="2"), HTTP_HX_REQUEST="true")
    page = answer.content.decode()
    assert "€0.10" in page
    assert "2 cores" in page
    assert "<html" not in page


def test_too_little_money_is_said_before(signed, offered, money):
    type(money).objects.update(amount="0.1")
    assert "can&#x27;t pay the first hour" in signed.get("/workstations/new/").content.decode()


def test_the_link_of_a_kind_opens_the_form_with_it(signed, offered):
    terminal = scene.kind("terminal")
    page = signed.get("/workstations/new/?kind=terminal").content.decode()
    assert f'value="{terminal.pk}" checked' in page


def test_with_an_empty_catalogue_the_form_says_so(signed):
    WorkstationKind.objects.all().delete()
    Coretype.objects.all().delete()
    page = signed.get("/workstations/new/").content.decode()
    assert "No kind of workstation is offered to you yet" in page
    assert "No hardware is in the catalogue yet" in page

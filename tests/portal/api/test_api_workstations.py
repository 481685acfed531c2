"""Workstations by the API: made, suspended, resumed, stopped, kept on, shared, deleted; every refusal in words."""

from __future__ import annotations

import desks
import factories
import playing
import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from jobs.models import AuditEntry, HomeCopy, Scope, Share, Workload, WorkstationKind

pytestmark = pytest.mark.usefixtures("cloud")


@pytest.fixture
def station_kind(kind):
    return WorkstationKind.objects.create(code="terminal", name="Terminal", session="terminal", software="vim\nGmsh")


@pytest.fixture
def asked(station_kind):
    return {"name": "mesh desk", "kind": "terminal", "coreType": "granite", "cores": 2}


@pytest.fixture
def made(me, asked):
    answer = me.post("workstations/", asked)
    assert answer.status_code == 201, answer.json()
    return Workload.objects.get(public_id=answer.json()["id"])


@pytest.fixture
def desk(made, clock):
    return desks.start(made.workstation, clock)


def turn(clock):
    """The clock follows the true time, by which the API writes down what was asked for."""
    clock.now = timezone.now()
    desks.turn(clock)


def refused(answer, status, *words):
    assert answer.status_code == status, answer.json()
    text = str(answer.json())
    assert all(word in text for word in words), text


def test_kinds_with_the_coretypes_that_one_may_use(me, station_kind):
    other = factories.coretype(code="basalt")
    found = me.get("workstation-kinds/").json()["results"]
    assert [(one["code"], one["software"], sorted(one["coreTypes"])) for one in found] == [("terminal", ["vim", "Gmsh"], ["basalt", "granite"])]
    station_kind.coretypes.add(other)
    assert me.get("workstation-kinds/").json()["results"][0]["coreTypes"] == ["basalt"]
    station_kind.active = False
    station_kind.save()
    assert me.get("workstation-kinds/").json()["results"] == []


def test_made_and_started_once(me, asked, owner, wing):
    answers = [me.post("workstations/", asked, Idempotency_Key="k1") for _ in range(2)]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    found = me.get(f"workstations/{answers[0].json()['id']}/").json()
    assert (found["status"], found["kind"], found["cores"], found["projectId"], found["home"]) == ("Queued", "terminal", 2, wing.code, None)
    assert found["cannotSuspend"].startswith("It has no home yet")
    assert found["cannotResume"] == "It is on its way already."
    assert [entry.action for entry in AuditEntry.objects.all()] == ["start workstation"]


def test_a_draft_is_started_later(me, asked):
    made = me.post("workstations/", {**asked, "start": False}).json()
    assert made["status"] == "Draft"
    assert me.post(f"workstations/{made['id']}/start/").json()["status"] == "Queued"
    refused(me.post(f"workstations/{made['id']}/start/"), 409, "started before")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "nothing"}, "kind"), ({"coreType": "nothing"}, "coreType"), ({"cores": 9}, "cores"), ({"cores": 0}, "cores"),
        ({"name": " "}, "name"), ({"name": "a\0b"}, "name"), ({"projectId": "nobody"}, "projectId"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named(me, asked, change, field):
    answer = me.post("workstations/", {**asked, **change})
    assert answer.status_code == 400
    assert field in answer.json()
    assert not Workload.objects.exists()


def test_suspend_resume_stop_delete(me, made, desk, clock):
    address = f"workstations/{made.public_id}/"
    found = me.get(address).json()
    assert (found["status"], found["isReady"], found["cannotSuspend"]) == ("Active", True, None)
    assert found["idle"]["quiet"] == {"input": True, "processor": True, "graphics": True, "solver": True}
    desk.files = {"deck.inp": b"*NODE\n"}
    assert me.post(f"{address}suspend/").status_code == 202
    refused(me.post(f"{address}suspend/"), 409, "already")
    turn(clock)
    assert desk.obey() == "saved"
    turn(clock)
    found = me.get(address).json()
    assert (found["status"], found["reason"], found["home"]["files"], found["idle"]) == ("Suspended", "wish", 1, None)
    refused(me("DELETE", address), 409, "stop it first")
    assert me.post(f"{address}resume/").json()["status"] == "Queued"
    again = desks.start(Workload.objects.get(pk=made.pk).workstation, clock)
    assert again.files == desk.files
    assert me.post(f"{address}stop/", {"force": True}).json()["wish"] == "force stop"
    turn(clock)
    assert me.get(address).json()["status"] == "Stopped"
    refused(me.post(f"{address}stop/"), 409, "It is over")
    key = HomeCopy.objects.get().key
    assert me("DELETE", address).status_code == 204
    assert (default_storage.exists(key), Workload.objects.exists()) == (False, False)


def test_of_several_resumes_and_suspends_one_is_taken(me, made, desk, clock):
    address = f"workstations/{made.public_id}/"
    answers = [me.post(f"{address}suspend/").status_code for _ in range(3)]
    turn(clock)
    assert (answers, desk.obey()) == ([202, 409, 409], "saved")
    turn(clock)
    attempt = Workload.objects.get(pk=made.pk).attempt
    assert [me.post(f"{address}resume/").status_code for _ in range(5)] == [202, 409, 409, 409, 409]
    asked = Workload.objects.get(pk=made.pk)
    assert (asked.attempt, asked.status) == (attempt + 1, "queued")
    assert asked.resume(asked.owner) is False
    assert me.post(f"{address}suspend/").status_code == 202
    turn(clock)
    assert me.get(address).json()["status"] == "Suspended"


def test_only_workstations_are_suspended_and_only_when_the_page_would(me, asked, owner, clock):
    job = factories.job(owner).workload
    assert job.submit(owner, clock())
    for verb in ("suspend", "resume"):
        assert me.post(f"workstations/{job.public_id}/{verb}/").status_code == 404
        assert me.post(f"jobs/{job.public_id}/{verb}/").status_code == 404
    started = me.post("workstations/", asked).json()["id"]
    refused(me.post(f"workstations/{started}/suspend/"), 409, "no home yet")
    refused(me.post(f"workstations/{started}/resume/"), 409, "on its way")
    assert me.get(f"workstations/{started}/").json()["wish"] == "run"
    assert Workload.objects.get(pk=job.pk).status == "queued"


def test_kept_on_within_the_limit(me, made, desk):
    address = f"workstations/{made.public_id}/"
    assert me.post(f"{address}keep/", {"hours": 3}).status_code == 200
    assert me.get(address).json()["keepUntil"] is not None
    refused(me.post(f"{address}keep/", {"hours": 25}), 409, "At most 24 hours")
    assert me.post(f"{address}keep/", {"hours": 0}).status_code == 200
    assert me.get(address).json()["keepUntil"] is None


def test_a_link_for_looking(me, made, desk):
    answer = me.post(f"workstations/{made.public_id}/share/", {"hours": 2, "signedIn": False})
    assert answer.status_code == 201
    token = answer.json()["url"].rstrip("/").rpartition("/")[2]
    assert Share.of(token, playing.Clock()()).signed_in is False
    refused(me.post(f"workstations/{made.public_id}/share/", {"hours": 24 * 365}), 400, "hours")


def test_lists_and_words_for_status(me, made):
    assert [one["id"] for one in me.get("workstations/?status=queued&search=mesh").json()["results"]] == [made.public_id]
    assert me.get("workstations/?status=suspended").json()["count"] == 0
    refused(me.get("workstations/?status=Running"), 400, "Suspended")


def test_who_may_what(calls, me, made, member, stranger, admin, desk):
    address = f"workstations/{made.public_id}/"
    wrong = type(me)("wrong")
    for path in (address, "workstations/", "workstation-kinds/"):
        assert wrong.get(path).status_code == 401
    assert calls(stranger).get(address).status_code == 404
    assert calls(stranger).post(f"{address}stop/").status_code == 404
    assert calls(stranger).get("workstations/").json()["count"] == 0
    assert calls(member).get(address).json()["id"] == made.public_id
    verbs = {"suspend": None, "resume": None, "stop": None, "keep": {"hours": 1}, "share": {}, "start": None}
    for verb, body in verbs.items():
        assert calls(member).post(f"{address}{verb}/", body).status_code == 403, verb
    assert calls(made.owner, Scope.READ).post(f"{address}suspend/").status_code == 403
    assert calls(admin).get(f"jobs/{made.public_id}/").status_code == 404
    assert calls(admin, Scope.ADMIN).post(f"{address}suspend/").status_code == 202

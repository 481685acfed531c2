"""Files between workstation, jobs and storage by the API: sent, taken back, looked at in copies, taken over; its owner's alone."""

from __future__ import annotations

import pytest
import scenes
import stations as scene
from asgiref.sync import async_to_sync

from jobs import lifecycle
from jobs.models import AuditEntry, Scope, Sent, StoredFile, Workload
from portal import copies, storing


@pytest.fixture
def work(owner, wing):
    return scene.desk(owner, lifecycle.ACTIVE, project=wing)


@pytest.fixture
def at(work):
    return f"workstations/{work.public_id}/"


@pytest.fixture
def job(member, wing):
    """Of somebody else of the same project."""
    made = scenes.job(member, lifecycle.COMPLETED, "beam-7", end=lifecycle.STOPPING, project=wing)
    scenes.save(made, {"a.txt": b"hi", "deep/b.txt": b"hi"})
    return made


@pytest.fixture
def copy(work):
    copies._kept.clear()
    return scene.copy(work)


def files(me, at, copy, more=""):
    return me.get(f"{at}copies/{copy.pk}/files/{more}").json()


def bytes_of(answer):
    async def all_of_it():
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(all_of_it)()


def test_an_upload_is_sent_listed_and_taken_back(me, at, work):
    deck = me.upload("deck.inp", b"*NODE\n").json()["id"]
    answer = me.post(f"{at}sent/", {"files": [deck, deck]})
    assert answer.status_code == 201, answer.json()
    [row] = answer.json()["results"]
    assert (row["fileId"], row["path"], row["size"], row["status"], row["dateArrived"]) == (deck, "deck.inp", 6, "waiting", None)
    Sent.objects.update(trouble="the home's disk is full")
    [row] = me.get(f"{at}sent/").json()["results"]
    assert (row["status"], row["trouble"]) == ("failed", "the home's disk is full")
    assert me("DELETE", f"{at}sent/{row['id']}/").status_code == 204
    assert me("DELETE", f"{at}sent/{row['id']}/").status_code == 404
    assert me.get(f"{at}sent/").json()["count"] == 0
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["send to workstation", "take back from workstation"]


def test_outputs_of_a_job_become_files_of_the_sender_once(me, at, job, owner):
    ids = [one["id"] for one in me.get(f"jobs/{job.public_id}/files/").json()["results"] if one["relativePath"].endswith(".txt")]
    for _ in range(2):
        assert me.post(f"{at}sent/", {"files": ids}).status_code == 201
    assert sorted(StoredFile.objects.filter(owner=owner).values_list("name", flat=True)) == ["a.txt", "deep/b.txt"]
    assert sorted(row["path"] for row in me.get(f"{at}sent/").json()["results"]) == ["a.txt", "deep/b.txt"]


def test_what_cannot_be_sent_is_refused_in_words(me, at, work, job, monkeypatch):
    assert me.post(f"{at}sent/", {"files": ["nobody"]}).status_code == 404
    assert me.post(f"{at}sent/", {"files": []}).status_code == 400
    output = f"{job.public_id}-1-0"
    with monkeypatch.context() as patch:
        patch.setattr(copies, "TAKEN_BYTES", 1)
        assert me.post(f"{at}sent/", {"files": [output]}).status_code == 413

    def full(*args):
        raise storing.NoRoom(5, 2)

    with monkeypatch.context() as patch:
        patch.setattr(storing, "begin", full)
        assert me.post(f"{at}sent/", {"files": [output]}).status_code == 507
    Workload.objects.filter(pk=work.pk).update(status=lifecycle.STOPPED)
    answer = me.post(f"{at}sent/", {"files": [output]})
    assert (answer.status_code, answer.json()) == (409, {"detail": ["It is over: nothing can be sent to it any more."]})
    assert not Sent.objects.exists()


def test_a_copy_is_looked_through_and_its_files_fetched(me, at, copy):
    [found] = me.get(f"{at}copies/").json()["results"]
    assert (found["id"], found["unread"], found["skipped"][0]) == (copy.pk, 0, ["run/pipe", "a pipe"])
    assert me.get(at).json()["home"] == found
    rows = {row["path"]: row for row in files(me, at, copy)["results"]}
    assert {path: row["kind"] for path, row in rows.items()}.items() >= {"notes.txt": "file", "latest": "link", "empty": "folder"}.items()
    assert (rows["latest"]["leadsTo"], rows["latest"]["downloadUrl"]) == ("case", None)
    assert [row["path"] for row in files(me, at, copy, "?folder=case/&page_size=1")["results"]] == ["case/system/controlDict"]
    place = rows["notes.txt"]["downloadUrl"].partition("/api/v2/")[2]
    assert bytes_of(me.get(place)) == b"mesh first\n"
    assert bytes_of(me.get(place, Range="bytes=5-9")) == b"first"
    assert me.get(f"{at}copies/{copy.pk}/files/{rows['latest']['index']}/contents/").status_code == 404


def test_files_and_a_folder_are_taken_and_a_job_may_have_them(me, at, copy, wanted, shell):
    index = next(row["index"] for row in files(me, at, copy)["results"] if row["path"] == "case/0/U")
    answer = me.post(f"{at}copies/{copy.pk}/take/", {"files": [index], "folder": "case"})
    assert answer.status_code == 201, answer.json()
    taken = answer.json()["results"]
    assert sorted(row["relativePath"] for row in taken) == ["0/U", "system/controlDict"]
    made = me.post("jobs/", wanted(inputFiles=[{"id": row["id"]} for row in taken])).json()
    assert made["id"]


def test_only_what_lies_in_a_folder_is_named_from_it_on(me, at, copy):
    places = {row["path"]: row["index"] for row in files(me, at, copy)["results"]}
    for folder in ("not", "notes.tx", "notes.txt", "notes.txt longer", "cas"):
        answer = me.post(f"{at}copies/{copy.pk}/take/", {"files": [places["case/0/U"], places["notes.txt"]], "folder": folder})
        assert (answer.status_code, answer.json()) == (400, {"files": [f"case/0/U: It does not lie in the folder {folder}."]})
    answer = me.post(f"{at}copies/{copy.pk}/take/", {"files": [places["case/0/U"], places["notes.txt"]], "folder": "case"})
    assert (answer.status_code, answer.json()) == (400, {"files": ["notes.txt: It does not lie in the folder case."]})
    assert not StoredFile.objects.exists()


def test_what_cannot_be_taken(me, at, copy, monkeypatch):
    assert me.post(f"{at}copies/{copy.pk}/take/", {"files": [10_000]}).status_code == 404
    assert me.post(f"{at}copies/{copy.pk + 1}/take/", {"files": [0]}).status_code == 404
    monkeypatch.setattr(copies, "TAKEN_FILES", 1)
    assert me.post(f"{at}copies/{copy.pk}/take/", {"folder": "case"}).status_code == 413
    assert me.post(f"{at}copies/{copy.pk}/take/", {}).json()["count"] == 0


def test_only_its_owner_does_any_of_it(calls, me, at, work, copy, member, stranger, admin):
    deck = me.upload("deck.inp", b"*NODE\n").json()["id"]
    me.post(f"{at}sent/", {"files": [deck]})
    row = Sent.objects.get()
    asks = [
        ("GET", f"{at}sent/", None), ("POST", f"{at}sent/", {"files": [deck]}), ("DELETE", f"{at}sent/{row.pk}/", None),
        ("GET", f"{at}copies/", None), ("GET", f"{at}copies/{copy.pk}/files/", None), ("POST", f"{at}copies/{copy.pk}/take/", {"files": [0]}),
        ("GET", f"{at}copies/{copy.pk}/files/0/contents/", None),
    ]  # fmt: skip
    for caller, status in ((calls(stranger), 404), (calls(member), 403), (calls(admin, Scope.ADMIN), 403), (type(me)("wrong"), 401)):
        assert {caller(method, path, body).status_code for method, path, body in asks} == {status}
    reader = calls(work.owner, Scope.READ)
    assert {reader(method, path, body).status_code for method, path, body in asks if method != "GET"} == {403}
    assert (Sent.objects.count(), StoredFile.objects.count()) == (1, 1)
    other = scene.desk(work.owner, lifecycle.ACTIVE, name="other", project=work.project)
    assert me("DELETE", f"workstations/{other.public_id}/sent/{row.pk}/").status_code == 404
    assert me.get(f"workstations/{other.public_id}/copies/{copy.pk}/files/").status_code == 404

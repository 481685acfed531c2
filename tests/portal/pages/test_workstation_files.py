"""The home as its last copies have it: listed, downloaded, taken over, made a job; nobody's but its owner's."""

import io
import os
import tarfile
import tempfile
from pathlib import Path

import pytest
import stations as scene
from asgiref.sync import async_to_sync
from django.contrib.messages import get_messages
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from jobs import lifecycle
from jobs.agent import home
from jobs.agent.config import parse
from jobs.models import HomeCopy, StoredFile, Workload
from portal import copies

pytestmark = pytest.mark.django_db


@pytest.fixture
def work(owner, wing):
    return scene.desk(owner, lifecycle.STOPPED, last=lifecycle.ACTIVE, reason="stopped", project=wing)


@pytest.fixture
def copy(work):
    return scene.copy(work)


def bytes_of(answer):
    async def all_of_it():
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(all_of_it)() if answer.is_async else b"".join(answer.streaming_content)


def replaced(copy, data):
    """The same copy with other bytes in storage."""
    default_storage.delete(copy.key)
    HomeCopy.objects.filter(pk=copy.pk).update(key=default_storage.save(copy.key, ContentFile(data)), size=len(data))
    copies._kept.clear()


def at(work, copy, more=""):
    return f"/workstations/{work.public_id}/files/{copy.code}/{more}"


def test_a_folder_is_listed_with_what_is_below_it(signed, work, copy):
    page = signed.get(f"/workstations/{work.public_id}/files/").content.decode()
    for words in ("notes.txt", "case", "2 files", "latest", "empty", "a b", "2 skipped", "x.sock"):
        assert words in page
    inside = signed.get(f"/workstations/{work.public_id}/files/?copy={copy.code}&in=case").content.decode()
    assert "system" in inside
    assert "notes.txt" not in inside


def test_the_whole_copy_comes_back_byte_for_byte(signed, work, copy):
    answer = signed.get(at(work, copy))
    assert bytes_of(answer) == scene.packed(scene.FILES)
    assert "sandbox" in answer["Content-Security-Policy"]


def test_one_file_of_it(signed, work, copy):
    entry = next(one for one in copies.contents(copy).entries if one.name == "notes.txt")
    answer = signed.get(at(work, copy, f"{entry.index}/"))
    assert bytes_of(answer) == b"mesh first\n"
    assert "attachment" in answer["Content-Disposition"]
    link = next(one for one in copies.contents(copy).entries if one.name == "latest")
    assert signed.get(at(work, copy, f"{link.index}/")).status_code == 404
    assert signed.get(at(work, copy, "999/")).status_code == 404


def test_files_and_folders_are_taken_to_my_files(signed, work, copy, owner):
    entry = next(one for one in copies.contents(copy).entries if one.name == "notes.txt")
    assert signed.post(at(work, copy, "take/"), {"pick": [entry.index], "folder": ["case"]}).url == "/files/"
    taken = {file.name: default_storage.open(file.key).read() for file in StoredFile.objects.filter(owner=owner)}
    assert taken == {"notes.txt": b"mesh first\n", "case/system/controlDict": b"endTime 5;\n", "case/0/U": b"U\n"}


def test_a_folder_becomes_the_inputs_of_a_draft(signed, work, copy, owner):
    import factories

    factories.software()
    answer = signed.post(at(work, copy, "job/"), {"in": "case"})
    draft = Workload.objects.get(kind="job")
    assert answer.url == f"/jobs/new/?draft={draft.public_id}"
    assert (draft.status, draft.name, draft.project) == (lifecycle.DRAFT, "case", work.project)
    assert sorted(use.name for use in draft.job.inputs.all()) == ["0/U", "system/controlDict"]
    assert "system/controlDict" in signed.get(answer.url).content.decode()


def test_too_much_at_once_is_refused_in_words(signed, work, copy, monkeypatch):
    monkeypatch.setattr(copies, "TAKEN_FILES", 1)
    answer = signed.post(at(work, copy, "take/"), {})
    assert "At most 1 files" in " ".join(str(one) for one in get_messages(answer.wsgi_request))
    assert not StoredFile.objects.exists()


def test_names_that_lead_outside_are_not_there(signed, work, copy):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in ("../evil", "/etc/passwd", "ok/../../evil", "./fine.txt", "b\udcffad"):
            info = tarfile.TarInfo(name)
            info.size = 1
            tar.addfile(info, io.BytesIO(b"x"))
    replaced(copy, out.getvalue())
    copy.refresh_from_db()
    assert [entry.name for entry in copies.contents(copy).entries] == ["etc/passwd", "fine.txt", r"b\xffad"]
    assert signed.get(f"/workstations/{work.public_id}/files/").status_code == 200


@pytest.mark.parametrize("data", [b"", b"no archive at all" * 100])
def test_a_damaged_copy_says_so(signed, work, copy, data):
    replaced(copy, data)
    copy.refresh_from_db()
    page = signed.get(f"/workstations/{work.public_id}/files/").content.decode()
    assert "This copy cannot be read" in page or "Nothing here" in page


def test_a_lost_copy_says_so(signed, work, copy):
    default_storage.delete(copy.key)
    copies._kept.clear()
    assert "This copy cannot be read" in signed.get(f"/workstations/{work.public_id}/files/").content.decode()
    assert signed.post(at(work, copy, "take/"), {}).status_code == 404


def test_members_and_admins_see_how_old_it_is_and_nothing_of_what_is_in_it(as_user, work, copy, member, admin):
    for person in (member, admin):
        page = as_user(person).get(f"/workstations/{work.public_id}/files/").content.decode()
        assert "notes.txt" not in page
        assert "It is its owner" in page
        assert as_user(person).get(at(work, copy)).status_code == 403


def test_a_copy_of_another_workstation_is_not_found(signed, owner, copy):
    other = scene.desk(owner, lifecycle.ACTIVE)
    assert signed.get(at(other, copy)).status_code == 404


def archive_of(work, make):
    """A home's archive as its agent writes it, of a folder that `make` fills."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "work")
        folder.mkdir()
        make(folder)
        raw = {"portal": "http://x", "token": "t", "secret": "s", "folder": name, "workdir": str(folder)}
        return b"".join(home.Archive(parse(raw), lambda: None).pieces())


def test_every_name_of_a_file_can_be_taken(signed, work, copy, owner):
    """Hard links: the archive has the bytes once, at the first of its names."""

    def make(folder):
        (folder / "b first").write_bytes(b"bytes " * 1000)
        (folder / "c").mkdir()
        os.link(folder / "b first", folder / "c" / ("n" * 120))
        os.link(folder / "b first", folder / "z last")

    replaced(copy, archive_of(work, make))
    copy.refresh_from_db()
    entries = {entry.name: entry for entry in copies.contents(copy).entries if entry.kind == "file"}
    assert sorted(entries) == ["b first", "c/" + "n" * 120, "z last"]
    for entry in entries.values():
        assert bytes_of(signed.get(at(work, copy, f"{entry.index}/"))) == b"bytes " * 1000
    signed.post(at(work, copy, "take/"), {"pick": [entries["z last"].index], "folder": ["c"]})
    taken = {file.name: default_storage.open(file.key).read() for file in StoredFile.objects.filter(owner=owner)}
    assert taken == {"z last": b"bytes " * 1000, "c/" + "n" * 120: b"bytes " * 1000}


def test_a_link_to_what_is_not_in_the_archive_stays_a_link(signed, work, copy):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, target in (("one", "/etc/passwd"), ("two", "two"), ("three", "gone")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.LNKTYPE, target
            tar.addfile(info)
    replaced(copy, out.getvalue())
    copy.refresh_from_db()
    assert [entry.kind for entry in copies.contents(copy).entries] == ["link"] * 3
    assert signed.get(at(work, copy, "0/")).status_code == 404


def test_what_could_not_be_read_is_named_and_not_offered(signed, owner, wing, monkeypatch):
    work = scene.desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="wish", project=wing)
    scene.copy(work)
    real = home.Archive._bytes

    def failing(archive, fd, size):
        yield from real(archive, fd, size)
        return OSError(5, "Input/output error") if size == 700 else None

    monkeypatch.setattr(home.Archive, "_bytes", failing)

    def make(folder):
        for name, size in (("a mesh", 700), ("b notes", 5)):
            (folder / name).write_bytes(b"x" * size)

    latest = scene.copy(work, ago=1, unread=1, skipped=[["a mesh", "could not be read: Input/output error"], ["x.sock", "a socket"]])
    replaced(latest, archive_of(work, make))
    latest.refresh_from_db()
    assert [entry.name for entry in copies.contents(latest).entries] == ["b notes"]
    page = signed.get(f"/workstations/{work.public_id}/files/").content.decode()
    assert "1 could not be read, 1 skipped" in page
    for address in ("", "files/"):
        said = signed.get(f"/workstations/{work.public_id}/{address}").content.decode()
        assert "The disk of its node did not give a mesh; not in this copy." in said
        assert "incomplete" in said
    assert "lacks nothing and is kept" in signed.get(f"/workstations/{work.public_id}/").content.decode()


def test_a_large_home_keeps_places_only(work):
    """20,000 files: walked once, then from memory."""
    copy = scene.copy(work, files={f"d{n // 100}/f{n}": b"" for n in range(20_000)})
    found = copies.contents(copy)
    assert len(found.below("")) == 20_000
    assert len(found.folder("")) == 202
    assert copies.contents(copy) is found


def test_a_copy_with_the_number_of_a_deleted_one_is_not_taken_for_it(work):
    """SQLite gives the number of the last row again."""
    first = scene.copy(work, files={"old": b"x"})
    assert [entry.name for entry in copies.contents(first).below("")] == ["old"]
    number = first.pk
    first.delete()
    second = scene.copy(work, files={"new": b"y"})
    second.pk = number
    assert [entry.name for entry in copies.contents(second).below("")] == ["new"]

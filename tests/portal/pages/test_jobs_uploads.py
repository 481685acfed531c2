"""Uploads in chunks: offsets, resumption, hostile names, a full disk, and only for their owner."""

from __future__ import annotations

import base64
import hashlib
import shutil
from collections import namedtuple
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone

from jobs import places
from jobs.models import StoredFile, Upload
from portal import storing

TUS = {"Tus-Resumable": "1.0.0"}


def create(browser, name: str, size: int, **more: str):
    meta = "filename " + base64.b64encode(name.encode("utf-8", "surrogatepass")).decode()
    return browser.post("/uploads/", headers={**TUS, "Upload-Length": str(size), "Upload-Metadata": meta, **more})


def patch(browser, address: str, offset: int, data: bytes, **more: str):
    headers = {**TUS, "Upload-Offset": str(offset), **more}
    return browser.patch(address, data, content_type="application/offset+octet-stream", headers=headers)


@pytest.mark.django_db
def test_a_file_in_two_chunks(signed, owner):
    data = b"0123456789" * 100
    made = create(signed, "mesh.inp", len(data))
    assert made.status_code == 201
    address = made["Location"]
    first = patch(signed, address, 0, data[:300])
    assert (first.status_code, first["Upload-Offset"]) == (204, "300")
    asked = signed.head(address, headers=TUS)
    assert (asked["Upload-Offset"], asked["Upload-Length"], asked["Cache-Control"]) == ("300", "1000", "no-store")
    last = patch(signed, address, 300, data[300:])
    stored = StoredFile.objects.get()
    assert last["Headrace-File"] == stored.public_id
    assert (stored.owner, stored.name, stored.size, stored.sha256) == (owner, "mesh.inp", 1000, hashlib.sha256(data).hexdigest())
    assert default_storage.open(stored.key).read() == data


@pytest.mark.django_db
def test_a_wrong_offset_is_told_the_right_one(signed):
    address = create(signed, "a", 10)["Location"]
    patch(signed, address, 0, b"0123")
    wrong = patch(signed, address, 2, b"xx")
    assert (wrong.status_code, wrong["Upload-Offset"]) == (409, "4")
    assert patch(signed, address, 7, b"xx").status_code == 409
    assert patch(signed, address, 4, b"456789").status_code == 204
    assert default_storage.open(StoredFile.objects.get().key).read() == b"0123456789"


@pytest.mark.django_db
def test_the_same_chunk_after_the_end_makes_no_second_file(signed):
    address = create(signed, "a", 4)["Location"]
    patch(signed, address, 0, b"0123")
    again = patch(signed, address, 0, b"0123")
    assert (again.status_code, again["Upload-Offset"]) == (409, "4")
    assert signed.head(address, headers=TUS)["Headrace-File"] == StoredFile.objects.get().public_id


@pytest.mark.django_db
def test_more_than_was_announced_is_refused(signed):
    address = create(signed, "a", 4)["Location"]
    assert patch(signed, address, 0, b"01234567").status_code == 413
    assert not StoredFile.objects.exists()


@pytest.mark.django_db
def test_chunks_have_a_limit(signed, settings):
    settings.UPLOAD_CHUNK = 100
    address = create(signed, "a", 200)["Location"]
    assert patch(signed, address, 0, b"x" * 101).status_code == 413
    assert signed.head(address, headers=TUS)["Upload-Offset"] == "0"


@pytest.mark.django_db
def test_an_empty_file_is_complete_at_once(signed):
    made = create(signed, "flag", 0)
    assert made.status_code == 201
    stored = StoredFile.objects.get()
    assert made["Headrace-File"] == stored.public_id
    assert (stored.size, stored.sha256) == (0, hashlib.sha256(b"").hexdigest())


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["mesh 1.inp", "Tr\u00e4ger(2).inp", "\u6570\u636e.dat", "\U0001f680.csv", "-rf", "a;touch pwned", "$(id).txt", '"q".txt',
                                  "100%.txt", "a#b?.txt", ".hidden", "a/b/c.dat", "x" * 255, "a\\b"])
def test_names_from_real_life_are_kept(signed, name):
    assert create(signed, name, 0).status_code == 201
    assert StoredFile.objects.get().name == name


@pytest.mark.django_db
def test_a_name_with_a_line_break_is_kept_and_shown_in_one_line(signed):
    assert create(signed, "a\nb", 0).status_code == 201
    assert StoredFile.objects.get().name == r"a\x0ab"


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "../x", "a/../../x", "/etc/passwd", "a\0b", "x" * 256, "\u00e9" * 128, "..", "dir/", "/".join(["d" * 200] * 6)])
def test_names_that_lead_out_or_cannot_be_are_refused(signed, name):
    answer = create(signed, name, 0)
    assert answer.status_code == 400
    assert answer.content
    assert not Upload.objects.exists()


@pytest.mark.django_db
def test_a_full_disk_is_told_with_need_and_room(signed, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 40, 0, places.SPARE + (50 << 20)))
    full = create(signed, "big", 80 << 20)
    assert full.status_code == 507
    assert "80.0 MiB needed, 50.0 MiB free" in full.content.decode()
    assert not Upload.objects.exists()
    assert create(signed, "small", 40 << 20).status_code == 201
    assert create(signed, "second", 40 << 20).status_code == 507  # the first one has been promised its room


@pytest.mark.django_db
def test_only_its_owner_knows_an_upload(signed, as_user, member, admin):
    address = create(signed, "a", 4)["Location"]
    for other in (member, admin):
        assert as_user(other).head(address).status_code == 404
        assert patch(as_user(other), address, 0, b"0123").status_code == 404
        assert as_user(other).delete(address).status_code == 404
    assert Client().head(address).status_code == 302


@pytest.mark.django_db
def test_protocol_details(signed):
    assert signed.options("/uploads/")["Tus-Extension"] == "creation,termination"
    assert create(signed, "a", 4, **{"Tus-Resumable": "0.2.2"}).status_code == 412
    assert create(signed, "a", -1).status_code == 400
    assert signed.post("/uploads/", headers=TUS).status_code == 400
    address = create(signed, "a", 4)["Location"]
    assert signed.patch(address, b"0123", content_type="text/plain", headers={**TUS, "Upload-Offset": "0"}).status_code == 415
    assert signed.delete(address, headers=TUS).status_code == 204
    assert not Upload.objects.exists()


@pytest.mark.django_db
def test_what_died_before_its_row_was_written_is_finished_when_asked_again(signed, monkeypatch):
    address = create(signed, "a", 4)["Location"]
    real = storing._finish
    monkeypatch.setattr(storing, "_finish", lambda upload: (_ for _ in ()).throw(OSError(5, "gone")))
    with pytest.raises(OSError, match="gone"):
        patch(signed, address, 0, b"0123")
    monkeypatch.setattr(storing, "_finish", real)
    assert signed.head(address, headers=TUS)["Headrace-File"] == StoredFile.objects.get().public_id


@pytest.mark.django_db
def test_what_nobody_finished_is_dropped_after_a_week(signed, owner):
    old, new = (create(signed, name, 4)["Location"] for name in ("old", "new"))
    patch(signed, old, 0, b"01")
    Upload.objects.filter(name="old").update(made=timezone.now() - timedelta(days=8))
    create(signed, "third", 4)
    assert signed.head(old).status_code == 404
    assert signed.head(new).status_code == 200

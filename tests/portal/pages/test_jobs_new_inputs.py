"""The inputs of a new job: chosen, named, checked, mended, before anything is submitted."""

from __future__ import annotations

import pytest
import scenes
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from jobs.models import StoredFile, Workload


@pytest.mark.django_db
def test_inputs_of_one_name_are_told_at_the_second(signed, owner, filled):
    one, two = scenes.file(owner, "deck.inp", b"1"), scenes.file(owner, "deck.inp", b"2")
    answer = signed.post("/jobs/new/", {**filled, "input": [one.public_id, two.public_id]})
    assert answer.status_code == 422
    assert answer.content.decode().count("Another input has this name already") == 1
    good = signed.post("/jobs/new/", {**filled, "input": [one.public_id, two.public_id], f"path-{two.public_id}": "other.inp"})
    assert good.status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../b", "", "x" * 256])
def test_paths_that_lead_out_are_refused_beside_the_input(signed, owner, filled, path):
    deck = scenes.file(owner, "deck.inp", b"1")
    answer = signed.post("/jobs/new/", {**filled, "input": deck.public_id, f"path-{deck.public_id}": path})
    assert answer.status_code == 422
    assert f'id="input-{deck.public_id}-error"' in answer.content.decode()
    assert not Workload.objects.exists()


@pytest.mark.django_db
def test_a_file_and_a_folder_of_one_name(signed, owner, filled):
    one, two = scenes.file(owner, "a", b"1"), scenes.file(owner, "a/b", b"2")
    answer = signed.post("/jobs/new/", {**filled, "input": [one.public_id, two.public_id]})
    assert "is a file here" in answer.content.decode()


@pytest.mark.django_db
def test_files_of_others_can_not_be_used(signed, stranger, filled):
    theirs = scenes.file(stranger, "secret", b"1")
    assert signed.post("/jobs/new/", {**filled, "input": theirs.public_id}).status_code == 422
    signed.post("/jobs/new/", {**filled, "pick": theirs.public_id})
    assert not Workload.objects.get().job.inputs.exists()
    assert signed.get(f"/jobs/new/input/?file={theirs.public_id}").status_code == 404


@pytest.mark.django_db
def test_without_javascript_files_come_with_the_form(signed, owner, filled, settings):
    settings.UPLOAD_CHUNK = 1000
    small, big = SimpleUploadedFile("small.inp", b"x" * 10), SimpleUploadedFile("big.inp", b"x" * 2000)
    answer = signed.post("/jobs/new/", {**filled, "action": "add", "upload": [small, big]})
    html = answer.content.decode()
    stored = StoredFile.objects.get()
    assert stored.name == "small.inp"
    assert f'value="{stored.public_id}"' in html
    assert "big.inp is larger than" in html
    signed.post("/jobs/new/", {**filled, "input": stored.public_id})
    assert Workload.objects.get().job.inputs.get().file == stored


@pytest.mark.django_db
def test_pick_and_remove_without_javascript(signed, owner, filled):
    mine = scenes.file(owner, "mine.inp", b"1")
    assert f'id="input-{mine.public_id}"' in signed.post("/jobs/new/", {**filled, "action": "add", "pick": mine.public_id}).content.decode()
    gone = signed.post("/jobs/new/", {**filled, "input": mine.public_id, "action": f"remove:{mine.public_id}"}).content.decode()
    assert f'id="input-{mine.public_id}"' not in gone


@pytest.mark.django_db
def test_check_finds_what_validating_input_would(signed, owner, filled):
    deck = scenes.file(owner, "run.sh", b"#!/bin/bash\r\necho hi\r\n")
    data = {**filled, "action": "check", "command": "bash run.sh\npython3 missing.py", "input": deck.public_id}
    html = signed.post("/jobs/new/", data, headers={"HX-Request": "true"}).content.decode()
    assert "missing.py" in html
    assert "run.sh" in html
    assert not Workload.objects.exists()


@pytest.mark.django_db
def test_a_finding_is_mended_with_one_click(signed, owner, filled):
    deck = scenes.file(owner, "run.sh", b"#!/bin/bash\r\necho hi\r\n")
    data = {**filled, "command": "bash run.sh", "input": deck.public_id}
    html = signed.post("/jobs/new/", {**data, "action": "check"}, headers={"HX-Request": "true"}).content.decode()
    assert 'value="fix:unix-line-ends:::run.sh"' in html
    mended = signed.post("/jobs/new/", {**data, "action": "fix:unix-line-ends:::run.sh"}).content.decode()
    fresh = StoredFile.objects.latest("pk")
    assert f'value="{fresh.public_id}"' in mended
    assert f'value="{deck.public_id}"' not in mended.replace(f'<option value="{deck.public_id}"', "")
    assert "Windows" not in mended
    assert default_storage.open(fresh.key).read() == b"#!/bin/bash\necho hi\n"
    assert default_storage.open(deck.key).read() == b"#!/bin/bash\r\necho hi\r\n"


@pytest.mark.django_db
@pytest.mark.parametrize("action", ["fix:unix-line-ends:::other", "fix:nonsense:::run.sh", "fix:rename:../x:::run.sh", "fix:", "remove:x", "what"])
def test_fixes_that_can_not_be_change_nothing(signed, owner, filled, action):
    deck = scenes.file(owner, "run.sh", b"x")
    answer = signed.post("/jobs/new/", {**filled, "command": "bash run.sh", "input": deck.public_id, "action": action})
    assert answer.status_code == 200
    assert f'value="{deck.public_id}"' in answer.content.decode()
    assert StoredFile.objects.count() == 1
    assert not Workload.objects.exists()


@pytest.mark.django_db
def test_a_script_without_its_x_bit_is_found_before_it_runs(signed, owner, filled):
    script = scenes.file(owner, "run.sh", b"#!/bin/bash\necho hi\n")
    data = {**filled, "action": "check", "command": "./run.sh", "input": script.public_id, f"path-{script.public_id}": "run.sh"}
    html = signed.post("/jobs/new/", data, headers={"HX-Request": "true"}).content.decode()
    assert "run.sh, which is not executable" in html
    StoredFile.objects.filter(pk=script.pk).update(mode=0o755)
    assert "not executable" not in signed.post("/jobs/new/", data, headers={"HX-Request": "true"}).content.decode()

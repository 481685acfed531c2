"""The form of a new job: what it makes, what it refuses beside the field, what it keeps."""

from __future__ import annotations

import factories
import pytest
import scenes
from django.core.exceptions import ValidationError
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from jobs import lifecycle
from jobs.models import AuditEntry, StoredFile, Workload
from portal.forms import walltime
from portal.forms.names import clean_environment, clean_path


@pytest.fixture
def kind(db):
    return factories.coretype(cores=8, max_nodes=4, walltime_max=48 * 3600)


@pytest.fixture
def filled(owner, wing, kind, money):
    """What a browser sends for a good form."""
    return {"name": "beam", "software": factories.software().pk, "command": "echo hello", "environment": "", "pipefail": "on", "coretype": kind.pk,
            "nodes": "1", "cores": "", "walltime": "2 h", "project": wing.pk, "key": "key-1", "action": "submit"}


def refused(signed, filled, field: str, value: str) -> str:
    answer = signed.post("/jobs/new/", {**filled, field: value})
    assert answer.status_code == 422
    assert not Workload.objects.exists()
    html = answer.content.decode()
    assert f'id="id_{field}-error"' in html
    return html


@pytest.mark.django_db
def test_a_good_form_is_a_queued_job(signed, owner, wing, kind, filled):
    deck = scenes.file(owner, "deck.inp", b"x")
    answer = signed.post("/jobs/new/", {**filled, "input": deck.public_id, f"path-{deck.public_id}": "case/deck.inp", "environment": "A=1\n# no\nB=x y"})
    work = Workload.objects.get()
    assert answer["Location"] == f"/jobs/{work.public_id}/"
    assert (work.status, work.nodes, work.cores, work.walltime, work.project, work.coretype) == (lifecycle.QUEUED, 1, 8, 7200, wing, kind)
    assert (work.job.commands, work.job.environment, work.job.pipefail) == (["echo hello"], {"A": "1", "B": "x y"}, True)
    assert [(use.name, use.file) for use in work.job.inputs.all()] == [("case/deck.inp", deck)]
    assert AuditEntry.objects.get().action == "submit"


@pytest.mark.django_db
def test_an_input_that_was_deleted_meanwhile_is_not_left_out_in_silence(signed, owner, filled):
    deck = scenes.file(owner, "deck.inp", b"x")
    StoredFile.objects.filter(pk=deck.pk).update(deleted=timezone.now())
    answer = signed.post("/jobs/new/", {**filled, "input": deck.public_id, f"path-{deck.public_id}": "case/deck.inp"})
    assert answer.status_code == 422
    assert "No longer among your files: case/deck.inp." in answer.content.decode()
    assert not Workload.objects.exists()
    signed.post("/jobs/new/", filled)  # the page that answered has no such row any more
    assert Workload.objects.count() == 1


@pytest.mark.django_db
def test_a_double_submit_is_one_job(signed, filled):
    first, second = (signed.post("/jobs/new/", filled) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Workload.objects.count() == 1


@pytest.mark.django_db
def test_what_was_changed_after_a_submit_in_another_tab_is_not_lost(signed, owner, filled):
    deck = scenes.file(owner, "deck.inp", b"x")
    sent = {**filled, "input": deck.public_id, f"path-{deck.public_id}": "deck.inp"}
    signed.post("/jobs/new/", sent)
    work = Workload.objects.get()
    answer = signed.post("/jobs/new/", {**sent, "draft": work.public_id, "command": "echo changed"})
    html = answer.content.decode()
    assert answer.status_code == 409
    assert f'<a href="/jobs/{work.public_id}/">beam</a> was submitted already' in html
    assert "echo changed" in html and 'value="deck.inp"' in html
    assert 'name="draft"' not in html and 'value="key-1"' not in html  # sent again it is a job of its own
    assert Workload.objects.get().job.commands == ["echo hello"]


@pytest.mark.django_db
def test_a_second_click_on_one_of_several_choices_is_the_same_job(signed, filled):
    other = factories.coretype(cores=4, max_nodes=1)
    sent = {**filled, "or_coretype_1": other.pk, "or_nodes_1": "1", "or_cores_1": "4"}
    assert signed.post("/jobs/new/", sent).status_code == 302
    Workload.objects.update(coretype=other, nodes=1, cores=4)  # the queue took the second
    assert signed.post("/jobs/new/", sent)["Location"] == f"/jobs/{Workload.objects.get().public_id}/"


@pytest.mark.django_db
def test_the_review_of_a_draft_that_was_submitted_elsewhere_is_a_review(signed, filled):
    signed.post("/jobs/new/", filled)
    answer = signed.post("/jobs/new/", {**filled, "action": "review"}, HTTP_HX_REQUEST="true")
    assert answer.status_code == 200
    assert 'id="job-new-review"' in answer.content.decode()


@pytest.mark.django_db
def test_windows_line_ends_are_stored_as_lf(signed, filled):
    signed.post("/jobs/new/", {**filled, "command": "cd .\r\nls\r\necho done\r\n"})
    assert Workload.objects.get().job.commands == ["cd .", "ls", "echo done"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["x'; touch /tmp/pwned; echo '", "a$(touch pwned)", "{{7*7}}", "%s%n", "\U0001f680 rocket", 'with "quotes"'])
def test_names_are_text(signed, filled, name):
    signed.post("/jobs/new/", {**filled, "name": name})
    assert Workload.objects.get().name == name


@pytest.mark.django_db
@pytest.mark.parametrize(("field", "value", "words"), [
    ("name", "", "Give the job a name"), ("name", "a\n#SBATCH --qos=vip", "one line"), ("name", "n" * 10_000, "at most 200"), ("name", "a\0b", "Null"),
    ("command", "", "what is to be run"), ("command", "  \r\n ", "what is to be run"), ("command", "a\0b", "Null"),
    ("walltime", "0", "at least 1 min"), ("walltime", "-2 h", "negative"), ("walltime", "NaN", "no length of time"), ("walltime", "inf", "no length of time"),
    ("walltime", "99999 d", "At most 2 days"), ("walltime", "", "How long"), ("walltime", "1e9", "no length of time"), ("walltime", "2 weeks", "no length of time"),
    ("nodes", "5", "at most 4 nodes"), ("nodes", "0", "At least 1 node"), ("nodes", "1.5", "whole number"), ("nodes", "9" * 40, "at most 4 nodes"),
    ("cores", "9", "has 8 cores"), ("cores", "-1", "At least 1 core"),
    ("coretype", "", "Choose the hardware"), ("coretype", "999999", "valid choice"), ("software", "x", "valid choice"), ("project", "999999", "valid choice"),
    ("environment", "no equals sign", "Line 1 is not NAME=value"), ("environment", "A=1\nHEADRACE_TOKEN=x", "can&#x27;t be set"),
])
def test_bad_input_gets_a_message_beside_the_field(signed, filled, field, value, words):
    html = refused(signed, filled, field, value) if field != "coretype" else signed.post("/jobs/new/", {**filled, field: value}).content.decode()
    assert words in html
    assert not Workload.objects.exists()


@pytest.mark.django_db
def test_what_was_typed_is_kept(signed, owner, filled):
    deck = scenes.file(owner, "deck.inp", b"x")
    html = refused(signed, {**filled, "command": "echo kept", "input": deck.public_id, f"path-{deck.public_id}": "kept.inp"}, "walltime", "forever")
    assert "echo kept" in html
    assert "kept.inp" in html
    assert "forever" in html
    assert 'value="key-1"' in html


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
def test_review_says_the_first_hour_and_the_most(signed, filled):
    html = signed.post("/jobs/new/", {**filled, "action": "review", "nodes": "2", "cores": "8"}, headers={"HX-Request": "true"}).content.decode()
    assert "\u20ac1.60" in html  # 2 nodes of 8 cores at 0.10
    assert "\u20ac3.20" in html  # 2 hours of it
    assert "<html" not in html


@pytest.mark.django_db
def test_review_says_before_submit_that_money_is_short(signed, filled, money):
    type(money).objects.filter(pk=money.pk).update(amount=0)
    html = signed.post("/jobs/new/", {**filled, "action": "review"}, headers={"HX-Request": "true"}).content.decode()
    assert "can&#x27;t pay the first hour" in html
    assert signed.post("/jobs/new/", filled).status_code == 302  # it is kept and waits


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
def test_draft_is_kept_changed_and_submitted_once(signed, filled):
    signed.post("/jobs/new/", {**filled, "action": "draft"})
    draft = Workload.objects.get()
    assert draft.status == lifecycle.DRAFT
    assert "echo hello" in signed.get(f"/jobs/new/?draft={draft.public_id}").content.decode()
    change = {**filled, "draft": draft.public_id, "name": "other", "command": "echo changed"}
    for _ in range(2):
        assert signed.post("/jobs/new/", change)["Location"] == f"/jobs/{draft.public_id}/"
    work = Workload.objects.get()
    assert (work.status, work.name, work.job.commands) == (lifecycle.QUEUED, "other", ["echo changed"])


@pytest.mark.django_db
def test_drafts_of_others_stay_theirs(as_user, stranger, signed, filled):
    signed.post("/jobs/new/", {**filled, "action": "draft"})
    draft = Workload.objects.get()
    assert as_user(stranger).get(f"/jobs/new/?draft={draft.public_id}").status_code == 404
    assert as_user(stranger).post("/jobs/new/", {**filled, "draft": draft.public_id}).status_code == 404


@pytest.mark.django_db
def test_sample_is_one_click_away(as_user, member, wing, kind, money):
    factories.software()
    browser = as_user(member)
    address = browser.post("/jobs/sample/")["Location"]
    html = browser.get(address).content.decode()
    assert "python3 heat.py plate.txt" in html
    assert "plate.txt" in html
    browser.post("/jobs/sample/")
    assert StoredFile.objects.filter(owner=member).count() == 2  # the same bytes are not kept twice


@pytest.mark.parametrize(("text", "seconds"), [("2 h", 7200), ("90 min", 5400), ("1:30", 5400), ("2", 7200), ("1.5", 5400), ("1 d 2 h", 93600), ("2h30min", 9000), ("0:01", 60), ("1 h 0,5 h", 5400)])
def test_walltimes(text, seconds):
    assert walltime.parse(text) == seconds
    assert walltime.parse(walltime.say(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "h", "1 fortnight", "12:75", "1 h x", "0x10", "\u221e", "1" * 30])
def test_no_walltimes(text):
    with pytest.raises(ValidationError):
        walltime.parse(text)


def test_paths_and_variables():
    assert clean_path("./a//b/./c") == "a/b/c"
    assert clean_path("-rf") == "-rf"
    assert clean_environment("export A=b=c\r\n\r\nD=") == {"A": "b=c", "D": ""}
    with pytest.raises(ValidationError):
        clean_path("\ud800")


@pytest.mark.django_db
def test_a_script_without_its_x_bit_is_found_before_it_runs(signed, owner, filled):
    script = scenes.file(owner, "run.sh", b"#!/bin/bash\necho hi\n")
    data = {**filled, "action": "check", "command": "./run.sh", "input": script.public_id, f"path-{script.public_id}": "run.sh"}
    html = signed.post("/jobs/new/", data, headers={"HX-Request": "true"}).content.decode()
    assert "run.sh, which is not executable" in html
    StoredFile.objects.filter(pk=script.pk).update(mode=0o755)
    assert "not executable" not in signed.post("/jobs/new/", data, headers={"HX-Request": "true"}).content.decode()

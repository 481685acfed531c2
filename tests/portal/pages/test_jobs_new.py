"""The form of a new job: what it makes, what it refuses beside the field, what it keeps."""

from __future__ import annotations

import factories
import pytest
import scenes
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.utils import timezone

from jobs import lifecycle
from jobs.models import AuditEntry, StoredFile, Workload
from portal.forms import walltime
from portal.forms.names import clean_environment, clean_path


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
def test_review_says_the_first_hour_and_the_most(signed, filled):
    html = signed.post("/jobs/new/", {**filled, "action": "review", "nodes": "2", "cores": "8"}, headers={"HX-Request": "true"}).content.decode()
    assert "\u20ac1.60" in html  # 2 nodes of 8 cores at 0.10
    assert "\u20ac3.20" in html  # 2 hours of it
    assert "<html" not in html


@pytest.mark.django_db
def test_review_says_which_of_name_and_command_is_missing(signed, filled):
    html = signed.post("/jobs/new/", {**filled, "action": "review", "name": ""}, headers={"HX-Request": "true"}).content.decode()
    assert "Give the job a name." in html and "to be filled in" not in html


@pytest.mark.django_db
def test_review_says_before_submit_that_money_is_short(signed, filled, money):
    type(money).objects.filter(pk=money.pk).update(amount=0)
    html = signed.post("/jobs/new/", {**filled, "action": "review"}, headers={"HX-Request": "true"}).content.decode()
    assert "can&#x27;t pay the first hour" in html
    assert signed.post("/jobs/new/", filled).status_code == 302  # it is kept and waits


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
def test_it_begins_with_hardware_that_is_offered_to_this_person(as_user, member, kind, filled):
    others = factories.coretype(name="Basalt")  # before Granite in the catalogue
    others.groups.add(Group.objects.create(name="Others"))
    page = as_user(member).get("/jobs/new/").content.decode()
    assert f'value="{kind.pk}" checked' in page
    assert f'value="{others.pk}"' not in page

"""Files on their way into a workstation, on the pages: chosen in three places, shown while they wait, arrived or in trouble."""

import io

import pytest
import scenes
import stations as scene
from django.contrib.messages import get_messages
from django.utils import timezone

from jobs import lifecycle
from jobs.models import AuditEntry, Sent, StoredFile, Workload
from portal import copies, fragments, storing

pytestmark = pytest.mark.django_db
SHA_OF_HI = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"


@pytest.fixture
def work(owner, wing):
    return scene.desk(owner, lifecycle.ACTIVE, project=wing)


@pytest.fixture
def deck(owner):
    return storing.keep(owner, "mesh/deck.inp", io.BytesIO(b"*NODE\n"), 6)


@pytest.fixture
def job(owner, wing):
    made = scenes.job(owner, lifecycle.COMPLETED, "beam-7", end=lifecycle.STOPPING, project=wing)
    scenes.save(made, {"a.txt": b"hi", "b.txt": b"hi"})
    return made


def sent(work, file, **fields):
    return Sent.objects.create(workstation=work.workstation, file=file, name=file.name, by=file.owner, made=timezone.now(), **fields)


def files_page(client, work):
    return client.get(f"/workstations/{work.public_id}/files/").content.decode()


def words(answer):
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_my_files_lead_to_a_choice_of_workstations_that_are_the_owners_and_not_over(signed, owner, member, wing, work, deck):
    over = scene.desk(owner, lifecycle.STOPPED, last=lifecycle.ACTIVE, reason="stopped", name="long-gone", project=wing)
    theirs = scene.desk(member, lifecycle.ACTIVE, name="not-mine", project=wing)
    assert f"/files/send/?file={deck.public_id}" in signed.get("/files/").content.decode()
    page = signed.get(f"/files/send/?file={deck.public_id}").content.decode()
    assert f'value="{deck.public_id}" checked' in page
    assert work.public_id in page
    assert over.public_id not in page
    assert theirs.public_id not in page


def test_a_choice_is_sent_and_shown(signed, work, deck, owner):
    answer = signed.post("/files/send/", {"to": work.public_id, "file": [deck.public_id]})
    assert answer.url == f"/workstations/{work.public_id}/files/"
    assert "1 file sent to desktop-active." in words(answer)
    row = Sent.objects.get()
    assert (row.file, row.by, row.workstation, row.name) == (deck, owner, work.workstation, "mesh/deck.inp")
    assert AuditEntry.objects.filter(action="send to workstation").count() == 1
    page = files_page(signed, work)
    assert "Waiting" in page
    assert "1 file waits: arrives in a moment" in page


def test_outputs_become_files_of_the_sender_once_and_are_sent(signed, work, job, owner):
    assert f"/files/send/?job={job.public_id}" in signed.get(f"/jobs/{job.public_id}/files/").content.decode()
    page = signed.get(f"/files/send/?job={job.public_id}&output=1").content.decode()
    assert page.count('name="output"') == 2
    for _ in range(2):
        signed.post("/files/send/", {"to": work.public_id, "job": job.public_id, "output": ["0"]})
    file = StoredFile.objects.get(owner=owner, name="a.txt")
    assert (file.name, file.sha256, file.size) == ("a.txt", SHA_OF_HI, 2)
    assert [row.file for row in Sent.objects.all()] == [file]


def test_too_much_of_a_job_is_refused_before_a_byte_is_copied(signed, work, job, owner, monkeypatch):
    monkeypatch.setattr(copies, "TAKEN_BYTES", 3)
    answer = signed.post("/files/send/", {"to": work.public_id, "job": job.public_id, "output": ["0", "1"]})
    assert "At most" in words(answer)
    assert not StoredFile.objects.filter(name__in=["a.txt", "b.txt"]).exists()


def test_nothing_chosen_and_a_workstation_that_is_over_say_so(signed, owner, wing, work, deck):
    assert "No file was chosen." in words(signed.post("/files/send/", {"to": work.public_id}))
    Workload.objects.filter(pk=work.pk).update(status=lifecycle.STOPPED)
    assert "It is over" in words(signed.post("/files/send/", {"to": work.public_id, "file": deck.public_id}))
    assert not Sent.objects.exists()


def test_without_a_workstation_the_page_offers_one(signed, deck):
    page = signed.get("/files/send/").content.decode()
    assert "No workstation to send to" in page
    assert 'href="/workstations/new/"' in page


@pytest.mark.parametrize(
    ("status", "last", "says"),
    [
        (lifecycle.ACTIVE, "", "arrives in a moment"),
        (lifecycle.SUSPENDED, lifecycle.ACTIVE, "arrives at the next resume"),
        (lifecycle.QUEUED, "", "arrives when its session is there"),
        (lifecycle.STOPPED, lifecycle.ACTIVE, "never arrives, it is over"),
    ],
)
def test_the_page_says_what_ends_the_wait(signed, owner, wing, deck, status, last, says):
    work = scene.desk(owner, status, last=last, reason="stopped" if status == lifecycle.STOPPED else "", project=wing)
    sent(work, deck)
    assert f"1 file waits: {says}" in files_page(signed, work)


def test_what_arrived_has_its_name_and_trouble_its_reason_and_another_try(signed, work, deck, owner):
    sent(work, deck, arrived=timezone.now())
    row = sent(work, deck, trouble="the home\u2019s disk is full")
    page = files_page(signed, work)
    assert "Arrived" in page
    assert "the home\u2019s disk is full" in page
    assert f"again-{row.pk}" in page
    assert "1 file could not be brought" in page
    signed.post("/files/send/", {"to": work.public_id, "file": deck.public_id})
    assert "1 file waits" in files_page(signed, work)


def test_one_is_taken_back(signed, work, deck):
    row = sent(work, deck)
    assert signed.post(f"/workstations/{work.public_id}/sent/{row.pk}/back/").url == f"/workstations/{work.public_id}/files/"
    assert not Sent.objects.exists()
    assert signed.post(f"/workstations/{work.public_id}/sent/{row.pk}/back/").status_code == 404


def test_a_push_shows_it_to_the_owner_alone(work, deck, owner, member):
    sent(work, deck)
    assert "mesh/deck.inp" in fragments.render(work, owner, "files")
    assert "mesh/deck.inp" not in fragments.render(work, member, "files")
    assert f'id="workstation-{work.public_id}-sent" hidden' in fragments.render(work, member, "files")


def test_others_are_offered_nothing(as_user, work, deck, member):
    sent(work, deck)
    page = files_page(as_user(member), work)
    assert "Bring files here" not in page
    assert "deck.inp" not in page


def test_a_file_on_its_way_is_kept(signed, work, deck):
    sent(work, deck)
    answer = signed.post(f"/files/{deck.public_id}/delete/")
    assert "desktop-active needs it" in words(answer)
    assert StoredFile.objects.filter(pk=deck.pk, deleted__isnull=True).exists()

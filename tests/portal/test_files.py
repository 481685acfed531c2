"""My files: seen by their owner, kept while a job needs them, gone when nobody does."""

import io

import factories
import pytest
from asgiref.sync import async_to_sync
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import lifecycle, stored
from jobs.models import AuditEntry, JobInput, StoredFile, Workload
from portal import storing

pytestmark = pytest.mark.django_db


@pytest.fixture
def deck(owner):
    return keep(owner, "mesh/deck.inp", b"*NODE\n")


@pytest.fixture
def signed(client, owner):
    client.force_login(owner)
    return client


def keep(owner, name, data=b"x"):
    return storing.keep(owner, name, io.BytesIO(data), len(data))


def use(file, owner, status=lifecycle.DRAFT, **fields):
    job = factories.job(owner, **fields)
    JobInput.objects.create(job=job, file=file, name=file.name)
    Workload.objects.filter(pk=job.pk).update(status=status)
    return job.workload


def body(answer) -> bytes:
    async def whole() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(whole)()


def test_the_list_shows_name_size_and_the_jobs_that_use_a_file(signed, owner, deck):
    work = use(deck, owner, lifecycle.RUNNING, name="beam-7")
    page = signed.get("/files/").content.decode()
    assert "deck.inp" in page
    assert "in mesh" in page
    assert "6 bytes" in page
    assert f'href="/jobs/{work.public_id}/">beam-7</a> <span class="small quiet">Running Job' in page


def test_an_empty_list_says_what_would_be_there(signed):
    assert "No files yet" in signed.get("/files/").content.decode()


def test_the_list_is_ones_own(signed, stranger):
    keep(stranger, "secret.inp")
    assert "secret.inp" not in signed.get("/files/").content.decode()


def test_hostile_names_are_only_text(signed, owner):
    keep(owner, "<script>alert(1)</script>.inp")
    page = signed.get("/files/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;" in page or "script&gt;.inp" in page


def test_search_by_name(signed, owner, deck):
    keep(owner, "other.vtk")
    found = signed.get("/files/", {"q": "DECK"}).content.decode()
    assert "deck.inp" in found
    assert "other.vtk" not in found
    assert "No file is called like that" in signed.get("/files/", {"q": "nothing"}).content.decode()
    assert signed.get("/files/", {"q": "a\0b", "before": "9" * 40, "after": "x"}).status_code == 200


def test_pages_by_key_show_every_file_once(signed, owner):
    for at in range(60):
        StoredFile.objects.create(owner=owner, name=f"file-{at:02}.inp", size=1, sha256="0" * 64, key=f"k{at}")
    first = signed.get("/files/").content.decode()
    last = StoredFile.objects.get(name="file-10.inp").pk
    second = signed.get(f"/files/?before={last}").content.decode()
    assert f"?before={last}" in first
    assert "file-10.inp" in first
    assert "file-09.inp" not in first
    assert "file-09.inp" in second
    back = signed.get(f"/files/?after={StoredFile.objects.get(name='file-09.inp').pk}").content.decode()
    assert "file-10.inp" in back
    assert "file-59.inp" in back


def test_the_page_costs_the_same_for_many_files_as_for_one(signed, owner):
    def queries():
        with CaptureQueriesContext(connection, ) as caught:
            signed.get("/files/")
        return len(caught)

    use(keep(owner, "a"), owner)
    few = queries()
    for at in range(20):
        use(keep(owner, f"b{at}"), owner)
    assert queries() == few


def test_only_the_newest_jobs_of_a_file_are_named(signed, owner, deck):
    for at in range(5):
        use(deck, owner, name=f"beam-{at}")
    page = signed.get("/files/").content.decode()
    assert "beam-4" in page
    assert "beam-1" not in page
    assert "and 2 more" in page


def test_a_job_of_somebody_else_is_not_named(signed, owner, stranger, deck):
    use(deck, stranger, name="their-secret")
    page = signed.get("/files/").content.decode()
    assert "their-secret" not in page
    assert "A job of somebody else" in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["owner", "admin"])
def test_owner_and_admin_download_the_bytes(client, deck, request, who):
    client.force_login(request.getfixturevalue(who))
    answer = client.get(f"/files/{deck.public_id}/")
    assert body(answer) == b"*NODE\n"
    assert answer["Content-Disposition"].startswith('attachment; filename="deck.inp"')
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")


@pytest.mark.django_db(transaction=True)
def test_a_part_of_a_file_is_sent_when_asked_for(signed, deck):
    answer = signed.get(f"/files/{deck.public_id}/", headers={"Range": "bytes=1-3"})
    assert (answer.status_code, body(answer)) == (206, b"NOD")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["member", "stranger"])
def test_nobody_else_reaches_a_file(client, wing, deck, request, who):
    client.force_login(request.getfixturevalue(who))
    assert client.get(f"/files/{deck.public_id}/").status_code == 404
    assert client.get(f"/files/{deck.public_id}/delete/").status_code == 404
    assert client.post(f"/files/{deck.public_id}/delete/").status_code == 404
    assert client.get(f"/files/arrived/?file={deck.public_id}").status_code == 404
    assert StoredFile.objects.filter(pk=deck.pk, deleted=None).exists()


@pytest.mark.django_db(transaction=True)
def test_bytes_that_the_storage_lost_are_a_404_and_no_broken_download(signed, deck):
    default_storage.delete(deck.key)
    assert signed.get(f"/files/{deck.public_id}/").status_code == 404


@pytest.mark.parametrize("path", ["/files/", "/files/arrived/", "/files/aBcDeF/delete/"])
def test_strangers_to_the_portal_are_sent_to_the_door(client, path):
    assert client.get(path).url.startswith("/signin/")


@pytest.mark.django_db(transaction=True)
def test_a_file_that_nobody_uses_is_gone_with_its_bytes(signed, owner, deck):
    assert "gone for good" in signed.get(f"/files/{deck.public_id}/delete/").content.decode()
    assert default_storage.exists(deck.key)
    signed.post(f"/files/{deck.public_id}/delete/")
    assert not StoredFile.objects.filter(pk=deck.pk).exists()
    assert not default_storage.exists(deck.key)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.detail["bytes_removed"]) == ("delete file", "mesh/deck.inp", True)


@pytest.mark.parametrize("status", [lifecycle.DRAFT, lifecycle.QUEUED, lifecycle.RUNNING, lifecycle.STOPPING])
def test_a_file_that_a_job_needs_stays_and_the_job_is_named(signed, owner, deck, status):
    use(deck, owner, status, name="beam-7")
    for method in (signed.get, signed.post):
        page = method(f"/files/{deck.public_id}/delete/", follow=True).content.decode()
        assert "can&#x27;t be deleted: beam-7 needs it" in page
    assert StoredFile.objects.filter(pk=deck.pk, deleted=None).exists()


@pytest.mark.django_db(transaction=True)
def test_jobs_that_are_over_keep_the_file_until_the_last_is_gone(signed, owner, deck):
    work = use(deck, owner, lifecycle.COMPLETED, name="beam-7")
    asked = signed.get(f"/files/{deck.public_id}/delete/").content.decode()
    assert "beam-7" in asked
    assert "Completed" in asked
    signed.post(f"/files/{deck.public_id}/delete/")
    assert "deck.inp" not in signed.get("/files/").content.decode().split('id="files-list"')[1]
    assert default_storage.exists(deck.key)
    assert work.clone(owner).job.inputs.get().file == deck
    Workload.objects.exclude(pk=work.pk).delete()
    assert stored.forget_unused(owner) == 0
    signed.post(f"/jobs/{work.public_id}/delete/")
    assert not StoredFile.objects.filter(pk=deck.pk).exists()
    assert not default_storage.exists(deck.key)


def test_the_dialog_gets_the_question_alone(signed, deck):
    asked = signed.get(f"/files/{deck.public_id}/delete/", HTTP_HX_REQUEST="true").content.decode()
    assert "<html" not in asked
    assert 'class="ask-in' in asked


def test_a_deleted_file_can_not_be_had_again(signed, owner, deck):
    use(deck, owner, lifecycle.COMPLETED)
    stored.delete(deck, timezone.now())
    assert signed.get(f"/files/{deck.public_id}/delete/").status_code == 404
    assert signed.get(f"/files/arrived/?file={deck.public_id}").status_code == 404


def test_a_job_that_comes_in_between_keeps_the_file(owner, deck):
    use(deck, owner)
    with pytest.raises(stored.InUse):
        stored.delete(deck, timezone.now())


def test_without_javascript_a_form_uploads(signed, owner, settings):
    settings.UPLOAD_CHUNK = 10
    sent = [SimpleUploadedFile("small.inp", b"ok"), SimpleUploadedFile("large.inp", b"0" * 11)]
    page = signed.post("/files/", {"upload": sent}, follow=True).content.decode()
    assert "1 file was uploaded" in page
    assert "large.inp is larger than 10 bytes" in page
    assert StoredFile.objects.get().name == "small.inp"
    assert "No file was chosen" in signed.post("/files/", {}, follow=True).content.decode()


def test_a_file_that_has_arrived_gets_its_row(signed, deck):
    row = signed.get(f"/files/arrived/?file={deck.public_id}").content.decode()
    assert row.startswith("<li")
    assert "mesh/deck.inp" in row


def test_htmx_gets_the_list_alone(signed, deck):
    part = signed.get("/files/", HTTP_HX_REQUEST="true", HTTP_HX_TARGET="files-list").content.decode()
    assert part.lstrip().startswith('<div id="files-list"')

"""Downloads: every byte, safely named, never run in the portal's origin, never whole in memory."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
import scenes

from jobs import lifecycle, logs
from jobs.models import Workload
from portal.views import outputs as views

HOSTILE = {
    "mesh 1.inp": b"1", "Tr\u00e4ger(2).inp": b"2", "\u6570\u636e.dat": b"3", "\U0001f680.csv": b"4", "-rf": b"5", "a;touch pwned": b"6",
    "$(id).txt": b"7", '"q".txt': b"8", "100%.txt": b"9", "a#b?.txt": b"10", ".hidden": b"11", "sub/deep/empty": b"",
}


def body(answer) -> bytes:
    if answer.is_async:
        from asgiref.sync import async_to_sync

        async def whole() -> bytes:
            return b"".join([piece async for piece in answer.streaming_content])

        return async_to_sync(whole)()
    return b"".join(answer.streaming_content)


@pytest.fixture
def done(owner):
    return scenes.job(owner, lifecycle.COMPLETED, end=lifecycle.STOPPING, reason="exit-0")


@pytest.mark.django_db(transaction=True)
def test_names_from_real_life_come_back_as_they_were(signed, done):
    scenes.save(done, HOSTILE)
    for index, (_name, data) in enumerate(HOSTILE.items()):
        answer = signed.get(f"/jobs/{done.public_id}/files/{index}/")
        assert body(answer) == data
        header = answer["Content-Disposition"]
        assert header.startswith("attachment; filename=")
        assert "filename*=UTF-8''" in header
        assert "\n" not in header
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"].startswith("sandbox")
    listed = signed.get(f"/jobs/{done.public_id}/files/").content.decode()
    assert "a;touch pwned" in listed
    assert "&quot;q&quot;.txt" in listed


@pytest.mark.django_db(transaction=True)
def test_zip_has_every_file_and_says_what_is_not_in_it(signed, done):
    scenes.save(done, {**HOSTILE, "../../evil.txt": b"climbs"}, ({"path": "r.txt", "skipped": "symlink", "detail": "/etc/passwd"},))
    answer = signed.get(f"/jobs/{done.public_id}/files/zip/")
    archive = zipfile.ZipFile(io.BytesIO(body(answer)))
    assert archive.testzip() is None
    for name, data in HOSTILE.items():
        assert archive.read(name) == data
    assert archive.read("evil.txt") == b"climbs"
    assert b"r.txt: skipped: link to /etc/passwd" in archive.read("NOT-IN-THIS-ARCHIVE.txt")
    assert not any(name.startswith("/") or ".." in name.split("/") for name in archive.namelist())


@pytest.mark.django_db
def test_zip_gives_its_first_bytes_before_it_has_read_the_last_file(done):
    read = []

    class Manifest:
        all = tuple(views.Entry(number, f"f{number}", 3) for number in range(1000))

        def open(self, entry):
            read.append(entry.index)
            return io.BytesIO(b"abc")

    pieces = views._zip(Manifest())
    next(pieces)
    assert read == [0] or read == []
    assert sum(map(len, pieces)) > 3000
    assert read[-1] == 999


@pytest.mark.django_db(transaction=True)
def test_html_and_svg_are_never_shown_in_place(signed, done):
    scenes.save(done, {"evil.html": b"<script>alert(1)</script>", "evil.svg": b"<svg onload='alert(1)'/>", "fake.png": b"<script>alert(1)</script>", "real.png": scenes.PNG})
    for index in range(3):
        answer = signed.get(f"/jobs/{done.public_id}/files/{index}/?inline=1")
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert b"<script>alert(1)" not in signed.get(f"/jobs/{done.public_id}/files/{index}/view/").content
    shown = signed.get(f"/jobs/{done.public_id}/files/3/?inline=1")
    assert shown["Content-Type"] == "image/png"
    assert "?inline=1" in signed.get(f"/jobs/{done.public_id}/files/3/view/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_ranges_continue_a_download(signed, done):
    scenes.save(done, {"a.dat": b"0123456789"})
    part = signed.get(f"/jobs/{done.public_id}/files/0/", headers={"Range": "bytes=4-"})
    assert part.status_code == 206
    assert body(part) == b"456789"


@pytest.mark.django_db(transaction=True)
def test_inputs_come_back(signed, done):
    use = done.job.inputs.get()
    answer = signed.get(f"/jobs/{done.public_id}/inputs/{use.pk}/")
    assert body(answer) == b"*NODE\n1, 0, 0\n"
    assert signed.get(f"/jobs/{done.public_id}/inputs/{use.pk + 999}/").status_code == 404


@pytest.mark.django_db
def test_skipped_and_failed_are_listed_with_the_reason(signed, done):
    scenes.save(done, {"a.dat": b"1"}, ({"path": "link", "skipped": "symlink", "detail": "/etc"}, {"path": "big", "failed": "changed while it was copied"}))
    html = signed.get(f"/jobs/{done.public_id}/files/").content.decode()
    assert "link to /etc" in html
    assert "changed while it was copied" in html
    assert signed.get(f"/jobs/{done.public_id}/files/1/").status_code == 404


@pytest.mark.django_db
def test_an_empty_folder_ends_in_one_slash(signed, done):
    scenes.save(done, {}, ({"path": "empty/", "dir": True},))
    assert "empty/<" in signed.get(f"/jobs/{done.public_id}/files/").content.decode()


@pytest.mark.django_db
def test_files_of_a_running_job_are_listed_and_can_be_followed(signed, owner):
    work = scenes.job(owner, lifecycle.RUNNING)
    scenes.beat(work, files=[{"path": "sub/r.dat", "size": 10}], files_total=1, bytes_total=10)
    html = signed.get(f"/jobs/{work.public_id}/files/").content.decode()
    assert "stream=file%3Asub%2Fr.dat" in html
    assert "zip/" not in html


@pytest.mark.django_db
def test_search_in_many_files(signed, done):
    scenes.save(done, {f"f{number:04}.dat": b"x" for number in range(450)})
    first = signed.get(f"/jobs/{done.public_id}/files/").content.decode()
    assert "f0199.dat" in first
    assert "f0200.dat" not in first
    assert "start=200" in first
    assert "f0444.dat" in signed.get(f"/jobs/{done.public_id}/files/?q=0444").content.decode()
    assert "has “zzz” in its name" in signed.get(f"/jobs/{done.public_id}/files/?q=zzz").content.decode()


@pytest.mark.django_db
def test_text_preview_of_any_bytes(signed, done):
    scenes.save(done, {"t.txt": b"<b>bold</b> \xff\xfe end of a line that is long enough\n", "bin.dat": bytes(range(256)) * 20, "empty": b""})
    assert "&lt;b&gt;bold&lt;/b&gt;" in signed.get(f"/jobs/{done.public_id}/files/0/view/").content.decode()
    assert "No preview" in signed.get(f"/jobs/{done.public_id}/files/1/view/").content.decode()
    assert "An empty file" in signed.get(f"/jobs/{done.public_id}/files/2/view/").content.decode()


@pytest.mark.django_db
def test_the_output_of_an_earlier_attempt_is_one_click_away(signed, jobs):
    work = jobs["queued"]
    logs.write(logs.attempt_dir(work.public_id, 1), "stdout", 0, 0, b"of the first one\n")
    assert "Attempt 1" not in signed.get(f"/jobs/{work.public_id}/output/").content.decode()
    Workload.objects.filter(pk=work.pk).update(attempt=2)
    page = signed.get(f"/jobs/{work.public_id}/output/").content.decode()
    assert "of the first one" not in page
    href = re.search(r'href="([^"]*)" title="Attempt 1"', page)[1].replace("&amp;", "&")
    assert "of the first one" in signed.get(href).content.decode()

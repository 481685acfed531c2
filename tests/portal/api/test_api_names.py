"""Files whose names are any bytes that a file system takes: up, in a job, on its node, and down again."""

from __future__ import annotations

import base64
import io
import os
import shutil
import subprocess
import zipfile

import httpx
import pytest
import scenes

from jobs import gateway, lifecycle, logs
from jobs.models import JobInput, StoredFile, Workload
from portal.cli import transfer
from portal.cli.api import Api
from portal.cli.config import Config

TUS = {"Tus-Resumable": "1.0.0", "Upload-Length": "3"}
BOUNDARY = b"xYzZy"
LATIN, SHOWN = b"caf\xe9 \xff.inp", r"caf\xe9 \xff.inp"
NAMES = [LATIN, b"new\nline", b"\x01\x7f", rb"literal \xe9", b'a "quoted" name', b"a; name=file", b"b'ack\\slash", b"a&amp;b", b"%41 %", b"-rf", b"\xff" * 255, "ü\U0001f680".encode()]


def form(filename: bytes, **fields: bytes) -> bytes:
    """A multipart body as curl and browsers write it."""
    name = filename.replace(b'"', b"%22").replace(b"\r", b"%0D").replace(b"\n", b"%0A")
    parts = [b'Content-Disposition: form-data; name="%s"\r\n\r\n%s' % (key.encode(), value) for key, value in fields.items()]
    parts.append(b'Content-Disposition: form-data; name="file"; filename="%s"\r\nContent-Type: text/plain\r\n\r\nabc' % name)
    return b"".join(b"--%s\r\n%s\r\n" % (BOUNDARY, part) for part in parts) + b"--%s--\r\n" % BOUNDARY


def sent(me, filename: bytes, **fields: bytes):
    return me("POST", "files/contents/", form(filename, **fields), **{"Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}"})


def exact(file: dict) -> bytes:
    return base64.b64decode(file["pathBytes"]) if file["pathBytes"] else file["relativePath"].encode()


def body_of(answer) -> bytes:
    return b"".join(answer)


def test_names_go_up_as_they_are(me):
    for name in NAMES:
        file = sent(me, name).json()
        assert exact(file) == name
        assert me.get("files/").json()["results"][0] == file
        as_shown = me("PATCH", f"files/{file['id']}/", {"name": file["name"]})
        assert exact(as_shown.json()) == name, "what is shown may be sent back"


def test_what_clients_do_besides(me):
    assert exact(sent(me, b"/home/me/case/a.inp").json()) == b"a.inp", "some send the whole path"
    assert exact(sent(me, b"x", relativePath=b"deep/" + LATIN).json()) == b"deep/" + LATIN
    old = form(b"x").replace(b'filename="x"', b"filename*=utf-8''caf%E9%20%22.inp")
    assert exact(me("POST", "files/contents/", old, **{"Content-Type": "multipart/form-data; boundary=xYzZy"}).json()) == b'caf\xe9 ".inp'
    before = b"a preamble\r\n" + form(b"first").replace(b"form-data; name", b"form-data;name").replace(b'filename="first"', b"filename=first")
    assert exact(me("PUT", "files/contents/", before, **{"Content-Type": "multipart/form-data; boundary=xYzZy"}).json()) == b"first"


REFUSED = [(b"a\0b", "NUL byte"), (b"..", "lead out"), (b".", "needs a name"), (b"", "needs a name"), (b"a/", "needs a name"), (b"\xff" * 256, "255 bytes; this one has 256")]
OUTSIDE = [(b"/etc/passwd", "slash"), (b"a/../../b", "lead out"), (b"a/" + b"\xff" * 256, "255 bytes"), (b"\xff/" * 512 + b"a", "1,024 characters")]


def test_what_no_file_system_takes_is_refused_in_words(me):
    for name, words in REFUSED:
        answer = sent(me, name)
        assert answer.status_code == 400, name
        assert words in answer.json()["file"][0]
    for path, words in OUTSIDE:
        assert words in sent(me, b"x", relativePath=path).json()["relativePath"][0]


def test_an_encoded_part_is_not_kept_as_something_else(me):
    data = form(b"x").replace(b"Content-Type: text/plain", b"Content-Transfer-Encoding: base64")
    assert me("POST", "files/contents/", data, **{"Content-Type": "multipart/form-data; boundary=xYzZy"}).status_code == 400
    assert not StoredFile.objects.exists()


def test_in_chunks(me):
    signed = {"Authorization": f"Token {me.text}"}
    for name in NAMES:
        told = f"relativePath {base64.b64encode(b'deep/' + name).decode()}"
        made = me.browser.post("/uploads/", headers={**TUS, **signed, "Upload-Metadata": told})
        last = me.browser.patch(made["Location"], b"abc", "application/offset+octet-stream", headers={**signed, "Upload-Offset": "0"})
        assert exact(me.get(f"files/{last['Headrace-File']}/").json()) == b"deep/" + name


def test_down_again_by_api_and_by_page(me, owner):
    key = sent(me, LATIN).json()["id"]
    me.browser.force_login(owner)
    for address in (f"/api/v2/files/{key}/contents/", f"/files/{key}/"):
        answer = me.browser.get(address, headers={"Authorization": f"Token {me.text}"} if "api" in address else {})
        assert body_of(answer) == b"abc"
        assert answer["Content-Disposition"].encode("latin-1") == b"attachment; filename=\"caf\xe9 \xff.inp\"; filename*=UTF-8''caf%5Cxe9%20%5Cxff.inp"
    assert SHOWN in me.browser.get("/files/").content.decode()
    assert [one["id"] for one in me.get(r"files/?search=caf\xe9").json()["results"]] == [key]


def test_a_job_gets_it_under_its_own_bytes(me, wanted, owner):
    ids = [sent(me, name).json()["id"] for name in (LATIN, b"new\nline")]
    body = wanted(inputFiles=[{"id": ids[0]}, {"id": ids[1]}, {"id": ids[0], "name": r"deep/n\xff"}])
    made = me.post("jobs/", body).json()
    assert [one["name"] for one in made["jobanalyses"][0]["inputFiles"]] == [SHOWN, r"new\x0aline", r"deep/n\xff"]
    work = Workload.objects.get(public_id=made["id"])
    told = [os.fsencode(one["name"]) for one in gateway._spec(gateway.Caller("", 0, 0, work.pk, work.public_id, "job", 1))["inputs"]]
    assert told == [LATIN, b"new\nline", b"deep/n\xff"]
    me.browser.force_login(owner)
    assert SHOWN in me.browser.get(f"/jobs/{work.public_id}/files/").content.decode()
    use = JobInput.objects.filter(job=work.job).first()
    assert b"filename=\"caf\xe9 \xff.inp\"" in me.browser.get(f"/jobs/{work.public_id}/inputs/{use.pk}/")["Content-Disposition"].encode("latin-1")
    clash = me.post("jobs/", wanted(inputFiles=[{"id": ids[0]}, {"id": ids[0], "name": SHOWN}]))
    assert clash.status_code == 400


@pytest.fixture
def live_portal(me):
    """The command line's client, answered by the portal."""
    def answer(request):
        headers = {key.title(): value for key, value in request.headers.items()}
        got = me.browser.generic(request.method, request.url.raw_path.decode(), request.read(), headers.get("Content-Type", ""), headers=headers)
        data = b"".join(got)
        return httpx.Response(got.status_code, headers=[(key.encode(), value.encode("latin-1")) for key, value in got.headers.items()], content=iter([data]))

    made = Api(Config("http://testserver", me.text))
    made.http = httpx.Client(base_url="http://testserver", headers={"Authorization": f"Token {me.text}"}, transport=httpx.MockTransport(answer))
    return made


@pytest.fixture
def done(owner, wing):
    work = scenes.job(owner, lifecycle.COMPLETED, end=lifecycle.STOPPING, reason="exit-0")
    scenes.save(work, {os.fsdecode(LATIN): b"latin", os.fsdecode(b"new\nline"): b"line", "plain é": b"plain", os.fsdecode(b"\xe9.dat"): b"one", os.fsdecode(b"d\xff/x"): b"deep"}, ({"path": os.fsdecode(b"empty\xfe"), "dir": True},))
    return work


def test_outputs_by_api_page_and_client(me, done, owner, tmp_path, live_portal):
    found = me.get(f"jobs/{done.public_id}/files/").json()["results"]
    assert {exact(one) for one in found} == {LATIN, b"new\nline", "plain é".encode(), b"\xe9.dat", b"d\xff/x"}
    assert len({one["relativePath"] for one in found}) == 5
    for one in found:
        transfer.download(live_portal, one, tmp_path / "out", lambda count: None)
    assert (tmp_path / "out" / os.fsdecode(LATIN)).read_bytes() == b"latin"
    assert (tmp_path / "out" / "new\nline").read_bytes() == b"line"
    assert (tmp_path / "out" / os.fsdecode(b"d\xff/x")).read_bytes() == b"deep"
    me.browser.force_login(owner)
    page = me.browser.get(f"/jobs/{done.public_id}/files/").content.decode()
    assert SHOWN in page and r"new\x0aline" in page


def test_the_client_sends_what_lies_there(live_portal, me, tmp_path):
    for name in (LATIN, b"new\nline"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"x")
    for path, name in transfer.found_in(tmp_path):
        transfer.upload(live_portal, path, name, lambda count: None)
    assert {exact(one) for one in me.get("files/").json()["results"]} == {LATIN, b"new\nline"}


def test_the_archive_holds_the_same_bytes(me, done, owner, tmp_path):
    me.browser.force_login(owner)
    data = body_of(me.browser.get(f"/jobs/{done.public_id}/files/zip/"))
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    told = {one.filename.encode("utf-8" if one.flag_bits & 0x800 else "cp437") for one in archive.infolist()}
    assert told == {LATIN, b"new\nline", "plain é".encode(), b"\xe9.dat", b"d\xff/x", b"empty\xfe/"}
    if shutil.which("unzip"):
        (tmp_path / "a.zip").write_bytes(data)
        subprocess.run(["unzip", "-q", "a.zip"], cwd=tmp_path, check=True)
        assert (tmp_path / os.fsdecode(b"\xe9.dat")).read_bytes() == b"one"


def test_a_running_job_shows_them_and_its_live_files(me, owner, jobs):
    work = jobs["running"]
    directory = logs.attempt_dir(work.public_id, 1)
    scenes.beat(work, files=[{"path": os.fsdecode(LATIN), "size": 4}], files_total=1, bytes_total=4)
    logs.write(directory, "file:" + os.fsdecode(LATIN), 0, 0, b"live\n")
    me.browser.force_login(owner)
    assert SHOWN in me.browser.get(f"/jobs/{work.public_id}/files/").content.decode()
    output = me.browser.get(f"/jobs/{work.public_id}/output/", {"stream": "file:" + SHOWN}).content.decode()
    assert "live" in output and SHOWN in output
    assert me.get(f"jobs/{work.public_id}/log/?stream=file:caf%5Cxe9%20%5Cxff.inp").content == b"live\n"
    assert me.browser.get(f"/jobs/{work.public_id}/log/bytes", {"stream": "file:" + SHOWN, "from": 0, "to": 9}).content == b"live\n"
    listed = me.get(f"jobs/{work.public_id}/runs/1/directory-contents/").json()
    assert listed[0]["path"] == SHOWN
    assert listed[0]["resource"].isascii() and "%E9" not in listed[0]["resource"], "a server may decode such bytes with loss"
    assert me.get(listed[0]["resource"].removeprefix("/api/v2/")).json()["lines"] == ["live"]


def test_the_end_of_each_output_by_link_and_client(me, done, monkeypatch, live_portal):
    from click.testing import CliRunner

    from portal.cli import app

    scenes.save(done, {"litA": b"plain\n", r"lit\x41": b"literal\n", "%41": b"percent\n", os.fsdecode(b"t\xff"): b"byte\n"})
    monkeypatch.setattr(app, "api", lambda: live_portal)
    for path, line in (("litA", "plain"), (r"lit\x5cx41", "literal"), ("%41", "percent"), (r"t\xff", "byte"), (os.fsdecode(b"t\xff"), "byte")):
        said = CliRunner().invoke(app.headrace, ["tail", done.public_id, "--file", path])
        assert said.output == line + "\n", (path, said.output)


def test_no_two_outputs_share_a_name_in_the_archive(me, done, owner):
    tricky = [rb"a\b", b"a/b", b"a%5Cb", b"a%255Cb", b"a%25b", rb"..\..\up", b"\\", b"100%", b"\xff\\"]
    scenes.save(done, {os.fsdecode(name): name for name in tricky})
    me.browser.force_login(owner)
    archive = zipfile.ZipFile(io.BytesIO(body_of(me.browser.get(f"/jobs/{done.public_id}/files/zip/"))))
    held = {one.filename: archive.read(one) for one in archive.infolist()}
    assert sorted(held.values()) == sorted(tricky)
    assert not any("\\" in name for name in held)
    assert held["a%5Cb"] == rb"a\b" and held["a%25b"] == b"a%25b" and held["100%"] == b"100%"

"""The client's files: names of any bytes, a cut download that goes on, one whose bytes changed, one that arrives damaged."""

from __future__ import annotations

import base64
import hashlib
import os

import httpx
import pytest

from portal.cli import transfer
from portal.cli.api import Api, Refused
from portal.cli.config import Config

DATA = os.urandom(3 << 20)


def api_that(answer):
    """The client, whose portal is `answer`."""
    made = Api(Config("http://portal.test", "hr_x"))
    made.http = httpx.Client(base_url="http://portal.test", transport=httpx.MockTransport(answer))
    return made


def described(path=b"out.bin", data=DATA, **more):
    shown = path.decode("utf-8", "replace")
    exact = None if path == shown.encode() else base64.b64encode(path).decode()
    return {"id": "abc", "relativePath": shown, "pathBytes": exact, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(),
            "downloadUrl": "http://portal.test/api/v2/files/abc/contents/", **more}  # fmt: skip


@pytest.fixture
def portal():
    """Answers with DATA, and with parts of it; keeps what was asked for."""
    asked = []

    def answer(request):
        asked.append(request.headers.get("Range"))
        wanted = request.headers.get("Range")
        if wanted and request.headers.get("If-Range") == f'"{hashlib.sha256(DATA).hexdigest()}"':
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            return httpx.Response(206, content=iter([DATA[start:]]))
        return httpx.Response(200, content=iter([DATA]))

    made = api_that(answer)
    made.asked = asked
    return made


def test_two_names_that_look_alike_are_two_files(portal, tmp_path):
    got = [transfer.download(portal, described(path), tmp_path, lambda count: None) for path in (b"caf\xe9.txt", b"caf\xff.txt", "café.txt".encode())]
    assert len({os.fsencode(path) for path in got}) == 3
    assert sorted(os.listdir(os.fsencode(tmp_path))) == sorted([b"caf\xe9.txt", b"caf\xff.txt", "café.txt".encode()])


@pytest.mark.parametrize("path", [b"../../evil", b"/etc/evil", b"a/../../evil", b"..\xff/../evil"])
def test_no_name_leads_out_of_the_folder(portal, tmp_path, path):
    target = transfer.download(portal, described(path), tmp_path / "in", lambda count: None)
    assert (tmp_path / "in").resolve() in target.resolve().parents


def test_a_cut_download_goes_on_where_it_broke(portal, tmp_path):
    (tmp_path / ".out.bin.abc.part").write_bytes(DATA[:1_000_000])
    counted = []
    target = transfer.download(portal, described(), tmp_path, counted.append)
    assert target.read_bytes() == DATA
    assert portal.asked == ["bytes=1000000-"]
    assert sum(counted) == len(DATA)
    assert os.listdir(tmp_path) == ["out.bin"]


def test_what_is_there_already_is_not_fetched_again(portal, tmp_path):
    (tmp_path / "out.bin").write_bytes(DATA)
    transfer.download(portal, described(), tmp_path, lambda count: None)
    assert portal.asked == []


def test_what_does_not_have_its_checksum_is_not_kept(portal, tmp_path):
    with pytest.raises(Refused, match="did not arrive"):
        transfer.download(portal, described(sha256="0" * 64), tmp_path, lambda count: None)
    assert os.listdir(tmp_path) == []


def test_a_name_that_is_no_text_is_sent_byte_for_byte(tmp_path):
    asked = []

    def answer(request):
        asked.append(request.headers["Upload-Metadata"])
        return httpx.Response(201, headers={"Location": "/uploads/x/", "Headrace-File": "abc"})

    (tmp_path / "x").write_bytes(b"")
    assert transfer.upload(api_that(answer), tmp_path / "x", os.fsdecode(b"caf\xe9.inp"), lambda count: None) == "abc"
    assert base64.b64encode(b"caf\xe9.inp").decode() in asked[0]

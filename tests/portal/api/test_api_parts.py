"""Heads of multipart parts, good and hostile."""

from __future__ import annotations

import io
import re

import pytest
from django.http.multipartparser import MultiPartParserError

from jobs.models import StoredFile
from jobs.names import raw
from portal import parts

READ = {
    b';name=file;filename="a.inp"': ("file", b"a.inp"),
    b'; FileName=a b ; name="file"': ("file", b"a b"),
    b'; name="a; filename=x"': ("a; filename=x", None),
    b'; name=file; filename="a"b.inp" ; x=1': ("file", b'a"b.inp'),
    b'; name=file; filename="a\\"; filename=second': ("file", b"a\\"),
    b'; name=file; filename="x"; filename*=utf-8\'en\'caf%E9': ("file", b"caf\xe9"),
    b'; name=file; filename="x"; filename*=latin1\'en\'caf%E9': ("file", b"x"),
    b'; name=""; filename=""': ("", b""),
    b"; filename=a": None,
    b'; name=a"b': None,
}
HOSTILE = [b";filename=x %s x", b";name=x %s x", b';name=a;filename="%s', b";filename*=utf-8'%s", b";%s=x", b';filename="x"%s"']
FILLS = [b" ", b"\t", b'"', b'" ', b";", b"; ", b'";', b';name="', b';filename="', b"'", b"=", b";filename*=utf-8'", b"a", b"; name"]


def body(disposition: bytes) -> bytes:
    return b"--b\r\nContent-Disposition: form-data%s\r\n\r\nabc\r\n--b--\r\n" % disposition


def told(disposition: bytes):
    return [(one.name, one.filename) for one in parts.parts_of(io.BytesIO(body(disposition)), b"b", 100)]


def test_heads_are_read_as_clients_write_them():
    for disposition, wanted in READ.items():
        assert told(disposition) == ([wanted] if wanted else []), disposition


def test_hostile_heads_are_read_in_one_go():
    backtracking = re.sub(rb"\[[^]]*\]|[*+]\+|\(\?", b"", parts._PARAMETER.pattern)
    assert not set(b"*+?") & set(backtracking), "a repeat that gives back what it took is tried again at every length"
    for frame in HOSTILE:
        for fill in FILLS:
            told(frame % (fill * (16_000 // len(fill))))


def test_a_head_without_end_is_refused():
    for fill in (b"x", b"; name=x", b"\r\n", b" "):
        with pytest.raises(MultiPartParserError, match="longer than"):
            told(b"; name=" + (b"a: %s" % fill) * 60_000)


def many(disposition: bytes, count: int) -> bytes:
    return b"".join(b"--b\r\nContent-Disposition: form-data%s\r\n\r\n\r\n" % disposition for _ in range(count)) + b"--b--\r\n"


@pytest.mark.django_db
def test_parts_are_counted_whatever_they_are_named(me, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES, settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 5, 10
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    named, nameless = b'; name="file"; filename="a"', b'; name=""'
    assert me("POST", "files/contents/", many(named, 5), **kind).status_code == 201
    for data in (many(named, 6), many(nameless, 16), many(b"", 16)):
        answer = me("POST", "files/contents/", data, **kind)
        assert answer.status_code == 413, answer.content
        assert "too many parts" in answer.json()["detail"][0]


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/files/", "/jobs/new/"])
def test_forms_of_pages_keep_the_same_bytes(me, owner, address):
    me.browser.force_login(owner)
    given = [rb"lit\x41", b"caf\xe9.inp", rb"C:\dir\x", "\u00fc.inp".encode()]
    data = b"--b\r\nContent-Disposition: form-data; name=command\r\n\r\none\r\ntwo \xc3\xa9\r\n"
    data += b"".join(b'--b\r\nContent-Disposition: form-data; name="upload"; filename="%s"\r\n\r\nabc\r\n' % name for name in given)
    data += b'--b\r\nContent-Disposition: form-data; name="upload"; filename=""\r\n\r\n\r\n--b--\r\n'
    page = me.browser.post(address, data, "multipart/form-data; boundary=b")
    assert [raw(one.name) for one in StoredFile.objects.order_by("pk")] == given
    if address == "/jobs/new/":
        assert "one\ntwo \u00e9" in page.content.decode().replace("\r\n", "\n"), "a field stays as it was typed"

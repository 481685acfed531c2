"""Numbers and names that are longer than anybody means are refused in words, or taken, and never break anything."""

from __future__ import annotations

import base64

import pytest

from jobs.models import Upload
from portal.numbers import whole

LONG = "9" * 5000
TUS = {"Tus-Resumable": "1.0.0"}


def test_what_is_a_whole_number():
    assert [whole(text) for text in ("0", "007", str(10**17), "", "-1", "²", "٣", "1_0", " 1", LONG)] == [0, 7, 10**17, *[None] * 7]


def test_an_upload_says_what_it_can_not_read(me):
    signed = {**TUS, "Authorization": f"Token {me.text}"}
    told = {"Upload-Metadata": f"filename {base64.b64encode(b'a').decode()}"}
    for length in (LONG, "-1", "²".encode().decode("latin-1"), ""):
        answer = me.browser.post("/uploads/", headers={**signed, **told, "Upload-Length": length})
        assert (answer.status_code, b"Upload-Length" in answer.content) == (400, True)
    made = me.browser.post("/uploads/", headers={**signed, **told, "Upload-Length": "3"})
    for offset in (LONG, "-1", "\xb2", ""):
        answer = me.browser.patch(made["Location"], b"abc", "application/offset+octet-stream", headers={**signed, "Upload-Offset": offset})
        assert (answer.status_code, b"Upload-Offset" in answer.content) == (400, True)
    assert Upload.objects.get().file is None


@pytest.mark.parametrize("address", ["files/?start=", "output/?attempt=", "log/bytes?from=", "?before=", "health/?attempt="])
def test_addresses_of_pages(me, owner, jobs, address):
    me.browser.force_login(owner)
    public = jobs["running"].public_id
    for number in (LONG, "²"):
        page = f"/jobs/{address}{number}" if address.startswith("?") else f"/jobs/{public}/{address}{number}"
        assert me.browser.get(page).status_code in (200, 404)
    assert me.browser.get(f"/jobs/{public}/files/{LONG}/").status_code == 404


def test_what_can_be_uploaded_can_be_a_new_name(me):
    long = "ü" * 127 + "/" + r"\xff" * 255
    file = me.upload("a", b"1").json()
    renamed = me("PATCH", f"files/{file['id']}/", {"name": long})
    assert renamed.json()["relativePath"] == long
    assert me("PATCH", f"files/{file['id']}/", {"name": "a/" * 600 + "b"}).status_code == 400

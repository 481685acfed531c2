"""Files by the API: up, found, in parts, as lines, gone. An output and a log are files too."""

from __future__ import annotations

import hashlib
import os
from urllib.parse import unquote

import pytest
import scenes

from jobs import lifecycle, logs
from jobs.models import Scope, Workload


def body_of(answer):
    return b"".join(answer)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def seal(work, data):
    directory = logs.attempt_dir(work.public_id, work.attempt)
    logs.seal(directory, "stdout", 0, len(data), sha(data))


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
class TestFiles:
    def test_up_and_down_with_checksum(self, me):
        data = os.urandom(100_000)
        made = me.upload("a b\U0001f680.bin", data)
        assert made.status_code == 201
        file = made.json()
        assert (file["name"], file["decryptedSize"], file["sha256"], file["typeId"], file["isUploaded"]) == ("a b\U0001f680.bin", 100_000, sha(data), 1, True)
        assert file["fileChecksums"] == [{"hashFunction": "sha256", "fileHash": sha(data)}]
        assert me.get(f"files/{file['id']}/").json() == file
        got = me.get(f"files/{file['id']}/contents/")
        assert body_of(got) == data
        assert (got["ETag"], got["X-Checksum-Sha256"]) == (f'"{sha(data)}"', sha(data))
        assert "attachment" in got["Content-Disposition"]

    def test_parts_of_it(self, me):
        key = me.upload("a", b"0123456789").json()["id"]
        etag = f'"{sha(b"0123456789")}"'
        part = me.get(f"files/{key}/contents/", Range="bytes=2-4")
        assert (part.status_code, body_of(part), part["Content-Range"]) == (206, b"234", "bytes 2-4/10")
        assert body_of(me.get(f"files/{key}/contents/", Range="bytes=-2")) == b"89"
        assert me.get(f"files/{key}/contents/", Range="bytes=10-").status_code == 416
        assert me.get(f"files/{key}/contents/", If_None_Match=etag).status_code == 304
        assert body_of(me.get(f"files/{key}/contents/", Range="bytes=5-", If_Range='"other"')) == b"0123456789"
        assert body_of(me.get(f"files/{key}/contents/", Range="bytes=5-", If_Range=etag)) == b"56789"
        head = me("HEAD", f"files/{key}/contents/")
        assert (head.status_code, head["Content-Length"], body_of(head)) == (200, "10", b"")

    @pytest.mark.parametrize("name", ["-rf", ".hidden", "ü" * 127, "a'b\"c", "a b", "%41"])
    def test_odd_names_stay_as_they_are(self, me, name):
        assert me.upload(name, b"x").json()["name"] == name

    def test_a_path_in_the_job_folder(self, me):
        assert me.upload("a.txt", b"", relativePath="deep/er/a.txt").json()["relativePath"] == "deep/er/a.txt"
        for wrong in ("../a", "/a", "a/", "x" * 256):
            answer = me.upload("a.txt", b"", relativePath=wrong)
            assert answer.status_code == 400, wrong
            assert answer.json().keys() <= {"file", "relativePath"}

    def test_what_is_no_upload(self, me):
        for kind in ("application/json", "multipart/form-data", "multipart/form-data; boundary=x", "text/plain"):
            answer = me("POST", "files/contents/", b"--x\r\nnothing", **{"Content-Type": kind})
            assert answer.status_code == 400, kind
            assert answer.json().keys() <= {"file", "detail"}
            assert all(isinstance(texts, list) for texts in answer.json().values())

    def test_lists_search_and_lines(self, me, calls, stranger):
        me.upload("one.inp", b"1\n2\n3\n")
        key = me.upload("two.INP", b"a\nb\xff\nc").json()["id"]
        assert [one["name"] for one in me.get("files/").json()["results"]] == ["two.INP", "one.inp"]
        assert me.get("files/?search=TWO").json()["count"] == 1
        assert me.get(f"files/{key}/lines/").json()["lines"] == ["a", "b\ufffd", "c"]
        assert me.get(f"files/{key}/lines/?lines=1").json()["lines"] == ["c"]
        assert calls(stranger).get(f"files/{key}/").status_code == 404
        assert calls(stranger)("DELETE", f"files/{key}/").status_code == 404
        assert me("PATCH", f"files/{key}/", {"name": "three", "typeId": 1}).json()["name"] == "three"
        assert me("DELETE", f"files/{key}/").status_code == 204
        assert me.get(f"files/{key}/").status_code == 404

    def test_a_member_sees_the_inputs_of_a_job_but_does_not_own_them(self, me, calls, jobs, member):
        key = jobs["running"].job.inputs.get().file.public_id
        assert calls(member).get(f"files/{key}/").status_code == 200
        assert calls(member)("DELETE", f"files/{key}/").status_code == 403

    def test_outputs_and_the_log_are_listed_as_files(self, me, jobs):
        work = jobs["completed"]
        seal(work, b"done\n")
        found = me.get(f"jobs/{work.public_id}/files/").json()
        paths = [one["relativePath"] for one in found["results"]]
        assert paths == ["process_output.log", "result.dat", "picture.png", "a b/\U0001f680.csv", "evil.html"]
        log = found["results"][0]
        assert (log["id"], log["decryptedSize"], log["sha256"], log["typeId"]) == (f"{work.public_id}-1-log", 5, sha(b"done\n"), 5)
        assert body_of(me.get(f"files/{log['id']}/contents/", Range="bytes=1-2")) == b"on"
        assert me.get(f"files/{log['id']}/").json() == log
        assert me.get(f"files/{log['id']}/lines/").json() == {"lines": ["done"]}
        assert body_of(me.get(f"files/{found['results'][1]['id']}/contents/")) == b"1 2 3\n" * 200
        assert [one["name"] for one in me.get(f"jobs/{work.public_id}/files/?search=PNG").json()["results"]] == ["picture.png"]
        assert me.get(f"jobs/{work.public_id}/files/?page_size=2&page=2").json()["results"][0]["name"] == "picture.png"
        assert me.get(f"jobs/{work.public_id}/runs/1/files/").json()["count"] == 5
        assert me.get(f"jobs/{work.public_id}/runs/1/").json()["outputFileCount"] == 4
        assert me("DELETE", f"files/{log['id']}/").status_code == 409

    def test_a_log_with_a_gap_says_so_and_its_size_is_what_comes(self, me, owner):
        work = scenes.job(owner, lifecycle.RUNNING)
        directory = logs.attempt_dir(work.public_id, 1)
        logs.write(directory, "stdout", 0, 0, b"head\n")
        logs.gap(directory, "stdout", 0, 5, 1_000_000, "limit")
        logs.write(directory, "stdout", 0, 1_000_000, b"tail\n")
        log = me.get(f"jobs/{work.public_id}/files/").json()["results"][0]
        content = body_of(me.get(f"files/{log['id']}/contents/"))
        assert len(content) == log["size"] < 1000
        assert b"999995 bytes from offset 5 on are not kept: limit" in content
        assert (log["isUploaded"], log["sha256"]) == (False, None)
        answer = me.get(f"jobs/{work.public_id}/log/?offset=5")
        assert (answer.content, answer["X-Log-Offset"], answer["X-Log-Size"]) == (b"tail\n", "1000000", "1000005")

    def test_outputs_with_names_of_any_bytes(self, me, owner):
        name = os.fsdecode(b"n\xff\xfe.dat")
        work = scenes.job(owner, lifecycle.COMPLETED, end=lifecycle.STOPPING, reason="exit-0")
        scenes.save(work, {name: b"x\n", "a/\n b.txt": b"y\n"})
        found = me.get(f"jobs/{work.public_id}/files/").json()["results"]
        assert [one["relativePath"] for one in found] == [r"n\xff\xfe.dat", r"a/\x0a b.txt"]
        got = me.get(f"files/{found[0]['id']}/contents/")
        assert body_of(got) == b"x\n"
        assert "n" in unquote(got["Content-Disposition"])
        assert me.get(f"jobs/{work.public_id}/runs/1/tail/n%5Cxff%5Cxfe.dat").json()["lines"] == ["x"]

    def test_the_running_folder_and_its_files(self, me, jobs):
        work = jobs["running"]
        base = f"jobs/{work.public_id}/runs/1/"
        found = me.get(base + "directory-contents/").json()
        assert [(one["path"], one["size"]) for one in found] == [("deck.inp", 20), ("result.dat", 4 << 20)]
        assert me.get(found[1]["resource"].removeprefix("/api/v2/")).json() == {"fileType": "text", "lines": []}
        assert "file:result.dat" in logs.watched(logs.attempt_dir(work.public_id, 1)), "its node is asked for it"
        assert me.get(base + "tail/process_output.log?lines=1").json()["lines"] == ["iteration 299 residual 0.00334"]
        assert me.get(base + "tail/process_output.log?lines=0").status_code == 400
        for wrong in ("../../secret", "a//b", "%00"):
            assert me.get(base + f"tail/{wrong}").status_code == 404
        assert me.post(base + "snapshot/").json()["data"] == found
        assert me.get(f"jobs/{jobs['completed'].public_id}/runs/1/directory-contents/").status_code == 409
        assert me.get(f"jobs/{jobs['completed'].public_id}/runs/1/tail/nothing").status_code == 404

    def test_the_log_by_offset_waits_for_more(self, me, jobs):
        work = jobs["running"]
        whole = b"".join(f"iteration {n} residual {1 / n:.5f}\n".encode() for n in range(1, 300))
        first = me.get(f"jobs/{work.public_id}/log/?offset=0")
        assert (first.content, first["X-Log-Size"], first["X-Log-Complete"]) == (whole, str(len(whole)), "0")
        assert me.get(f"jobs/{work.public_id}/log/?offset={len(whole)}&wait=0").content == b""
        Workload.objects.filter(pk=work.pk).update(status="completed", outcome="completed", reason="exit-0")
        assert me.get(f"jobs/{work.public_id}/log/?offset={len(whole)}&wait=25")["X-Log-Complete"] == "1"
        assert me.get(f"jobs/{work.public_id}/log/?stream=../x").status_code == 404
        assert me.get(f"jobs/{work.public_id}/log/?wait=26").status_code == 400

    def test_health_and_nodes(self, me, jobs):
        work = jobs["running"].public_id
        assert len(me.get(f"jobs/{work}/health/").json()) == 30
        assert me.get(f"jobs/{work}/cluster-load-measurements/?hours=0.01").json()
        assert me.get(f"jobs/{work}/health/?node=99").json() == []
        assert me.get(f"jobs/{work}/instances/").json()["results"][0] == me.get(f"jobs/{work}/connection_details/").json()[0]
        assert me.get(f"jobs/{jobs['draft'].public_id}/instances/").json()["count"] == 0


def test_our_chunks_take_a_token(me, calls, owner):
    import base64

    from django.test import Client

    client, signed = Client(enforce_csrf_checks=True), {"Authorization": f"Token {me.text}"}
    name = base64.b64encode(b"deep/big.bin").decode()
    made = client.post("/uploads/", headers={**signed, "Upload-Length": "10", "Upload-Metadata": f"relativePath {name}"})
    assert made.status_code == 201
    for offset, piece in ((0, b"01234"), (5, b"56789")):
        sent = client.patch(made["Location"], piece, "application/offset+octet-stream", headers={**signed, "Upload-Offset": str(offset)})
        assert sent.status_code == 204
    file = me.get(f"files/{sent['Headrace-File']}/").json()
    assert (file["relativePath"], file["sha256"]) == ("deep/big.bin", sha(b"0123456789"))
    assert client.post("/uploads/", headers={"Authorization": "Token hr_nothing", "Upload-Length": "1"}).status_code == 401
    assert client.post("/uploads/", headers={"Authorization": f"Token {calls(owner, Scope.READ).text}", "Upload-Length": "1"}).status_code == 403
    assert client.post("/uploads/", headers={"Upload-Length": "1"}).status_code == 302, "a browser is sent to the sign-in"
    client.force_login(owner)
    assert client.post("/uploads/", headers={"Upload-Length": "1"}).status_code == 403, "a session needs its CSRF token"

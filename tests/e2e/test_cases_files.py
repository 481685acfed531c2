"""Stories of files: names from real life, hostile archives and links, full disks, line ends, deleting what is in use."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import subprocess
import tarfile
import zipfile
from urllib.parse import quote

import httpx
import pytest

from jobs import places
from tests.e2e.promises import nothing_left

NAMES = ["mesh 1.inp", "Träger(2).inp", "数据.dat", "🚀.csv", "-rf", "a;touch pwned", "$(id).txt", '"q".txt', "100%.txt", "a#b?.txt", ".hidden", "'single'.txt", "x" * 255]
MIB = 1 << 20


class Browser:
    """Uploads in chunks with an offset, as the page does, and downloads by the pages' addresses."""

    def __init__(self, person):
        self.http = httpx.Client(base_url=person.portal.url, cookies={"sessionid": person.cookie()}, timeout=60, trust_env=False)
        self.http.get("/jobs/new/")
        self.http.headers["X-CSRFToken"] = self.http.cookies["csrftoken"]

    def begin(self, name, size, **told):
        pairs = {"filename": name} | told
        metadata = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items())
        return self.http.post("/uploads/", headers={"Upload-Length": str(size), "Upload-Metadata": metadata, "Tus-Resumable": "1.0.0"})

    def send(self, place, offset, data):
        return self.http.patch(place, content=data, headers={"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"})

    def upload(self, name, data, **told):
        answer = self.begin(name, len(data), **told)
        assert answer.status_code == 201, answer.text
        if data:
            answer = self.send(answer.headers["Location"], 0, data)
            assert answer.status_code == 204, answer.text
        return answer.headers["Headrace-File"]


@pytest.fixture(scope="module")
def visitor(engineer):
    return Browser(engineer)


def test_names_from_real_life_come_back_as_they_went(engineer, visitor):
    contents = {name: f"content of {name}".encode() for name in NAMES}
    inputs = [visitor.upload(name, data) for name, data in contents.items()]
    work = engineer.submit("mkdir out; cp -- * .hidden out/ 2>/dev/null; cd out && sha256sum -- * .hidden > ../sums.txt", "names", inputs=inputs)
    assert work.ends()["headraceStatus"] == "Completed"
    outputs = work.outputs()
    assert {path for path in outputs if path.startswith("out/")} == {f"out/{name}" for name in NAMES}
    assert "pwned" not in outputs
    indexes = {entry["path"]: number for number, entry in enumerate(work.manifest())}
    for name, data in contents.items():
        assert work.output(f"out/{name}") == data
        assert outputs[f"out/{name}"]["sha256"] == hashlib.sha256(data).hexdigest()
        answer = visitor.http.get(f"/jobs/{work.id}/files/{indexes[f'out/{name}']}/")
        assert answer.content == data
        _is_named(answer.headers["content-disposition"], name)
    archive = unzipped(visitor, work)
    assert archive.testzip() is None
    assert {name: archive.read(f"out/{name}") for name in NAMES} == contents
    nothing_left([work])


def unzipped(visitor, work):
    answer = visitor.http.get(f"/jobs/{work.id}/files/zip/")
    assert answer.status_code == 200
    assert answer.content[:2] == b"PK", answer.content[:200]
    return zipfile.ZipFile(io.BytesIO(answer.content))


def _is_named(disposition, name):
    """Both forms, or the plain one alone where it says everything."""
    assert disposition.startswith("attachment; filename=")
    plain = all(" " <= letter <= "~" and letter not in '"\\%' for letter in name)
    assert plain or f"filename*=UTF-8''{quote(name, safe='')}".lower() in disposition.replace("utf-8", "UTF-8").lower(), disposition


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo("placeholder")
            entry.filename = name
            archive.writestr(entry, b"evil")
    return buffer.getvalue()


def tarred(*entries):
    """Entries are names of files, or (name, type, link)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for entry in entries:
            name, kind, link = entry if isinstance(entry, tuple) else (entry, tarfile.REGTYPE, "")
            made = tarfile.TarInfo(name)
            made.type, made.linkname, made.mode = kind, link, 0o755
            made.size = 4 if kind == tarfile.REGTYPE else 0
            archive.addfile(made, io.BytesIO(b"evil"))
    return buffer.getvalue()


def bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros", "w", force_zip64=True) as file:
        for _ in range(300):
            file.write(bytes(MIB))
    return buffer.getvalue()


def test_hostile_archives_are_refused_with_their_entry_named(engineer, tmp_path):
    outside = tmp_path / "evil.txt"
    evil = {
        "up.zip": (zipped("good.txt", "../../evil.txt"), "../../evil.txt"),
        "absolute.zip": (zipped(str(outside)), "evil.txt"),
        "windows.zip": (zipped("..\\evil.txt"), "evil.txt"),
        "drive.zip": (zipped("C:\\evil.txt"), "evil.txt"),
        "folded.zip": (zipped("a/../../evil.txt"), "evil.txt"),
        "up.tar": (tarred("good.txt", "../../evil.txt"), "../../evil.txt"),
        "absolute.tar": (tarred(str(outside)), "evil.txt"),
        "link.tar": (tarred(("way", tarfile.SYMTYPE, "/etc"), "way/passwd"), "way"),
        "device.tar": (tarred(("null", tarfile.CHRTYPE, "")), "null"),
        "bomb.zip": (bomb(), "bomb.zip"),
    }
    works = {name: engineer.submit("true", f"unpacks {name}", inputs=[engineer.upload(name, data)]) for name, (data, _) in evil.items()}
    for name, work in works.items():
        end = work.ends()
        assert (end["headraceStatus"], end["failedStage"], end["reason"]) == ("Failed", "Validating Input", "findings"), name
        assert evil[name][1] in findings(work), name
        assert "starting" not in [after for _, after, *_ in work.events]
        assert work.portal.value("select count(*) from jobs_cluster where workload_id = ?", work.key) == 0
    assert not outside.exists()
    nothing_left(list(works.values()))


def findings(work):
    sql = "select findings from jobs_check c join jobs_job j on j.checked_id = c.id where j.workload_id = ?"
    text = work.portal.value(sql, work.key)
    return text.encode().decode("unicode_escape") if "\\u" in text else text.replace("\\\\", "\\")


def test_links_in_outputs_are_listed_and_never_followed(engineer, visitor):
    neighbour = engineer.submit("echo top-secret > secret; sleep 8", "has a secret")
    neighbour.reaches("Running Job")
    foreign = engineer.portal.data / "clusters" / neighbour.token / "work"
    command = f"ln -s /etc/passwd r.txt; ln -s / root; ln -s {foreign}/secret s; ln -s . loop; ln -s {foreign} d; mkfifo pipe; echo mine > mine.txt"
    work = engineer.submit('eval "$DO"', "links", envVars={"DO": command})
    assert work.ends()["headraceStatus"] == "Completed"
    assert set(work.outputs()) == {"mine.txt"}
    skipped = {entry["path"] for entry in work.manifest() if entry["kind"] == "skipped"}
    assert {"r.txt", "root", "s", "loop", "d", "pipe"} <= skipped
    for index, entry in enumerate(work.manifest()):
        answer = visitor.http.get(f"/jobs/{work.id}/files/{index}/")
        assert answer.status_code == (200 if entry["path"] == "mine.txt" else 404)
        assert b"root:" not in answer.content
    archive = unzipped(visitor, work)
    assert archive.read("mine.txt") == b"mine\n"
    assert not any(b"root:x" in archive.read(name) or b"top-secret" in archive.read(name) for name in archive.namelist())
    neighbour.stop()
    neighbour.ends()
    nothing_left([work, neighbour])


def test_empty_files_empty_folders_hidden_files_and_the_x_bit_survive(engineer, visitor):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, mode, data in (("case/flag", tarfile.REGTYPE, 0o644, b""), ("case/out", tarfile.DIRTYPE, 0o755, b""), ("case/.gmxrc", tarfile.REGTYPE, 0o644, b"rc"), ("case/go.sh", tarfile.REGTYPE, 0o755, b"#!/bin/sh\necho went\n"), ("case/a/b/c.dat", tarfile.REGTYPE, 0o644, b"deep")):  # fmt: skip
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.size = kind, mode, len(data)
            archive.addfile(entry, io.BytesIO(data))
    inputs = [engineer.upload("case.tar", buffer.getvalue()), visitor.upload("empty", b""), visitor.upload("run.sh", b"#!/bin/sh\necho ran\n", mode="755")]
    work = engineer.submit("./run.sh; case/go.sh; test -d case/out; test -e empty; stat -c '%s %n' empty case/flag case/.gmxrc case/a/b/c.dat; cp -r case back; touch zero", "bits", inputs=inputs)
    end = work.ends()
    assert end["headraceStatus"] == "Completed", (end, work.log())
    assert work.log() == b"ran\nwent\n0 empty\n0 case/flag\n2 case/.gmxrc\n4 case/a/b/c.dat\n"
    archive = unzipped(visitor, work)
    assert {"back/out/", "back/flag", "back/.gmxrc", "back/a/b/c.dat", "zero"} <= set(archive.namelist())


def test_windows_line_ends_work_in_the_command_and_are_named_in_scripts(engineer):
    command = engineer.submit("cd .\r\nls\r\necho done\r\n", "typed on Windows")
    script = engineer.upload("run.sh", b"#!/bin/bash\r\ncd .\r\nls\r\n")
    warned = engineer.submit("bash run.sh", "made on Windows", inputs=[script])
    assert command.ends()["headraceStatus"] == "Completed"
    assert command.log() == b"done\n"
    warned.ends()
    assert "unix-line-ends" in findings(warned)
    assert "Windows line ends" in findings(warned)


def test_an_upload_goes_on_after_a_cut(visitor):
    data = os.urandom(3 * MIB)
    place = visitor.begin("cut.bin", len(data)).headers["Location"]
    assert visitor.send(place, 0, data[:MIB]).status_code == 204
    assert visitor.send(place, 0, data[:MIB]).status_code == 409, "sent twice it lands once"
    have = int(visitor.http.head(place).headers["Upload-Offset"])
    assert have == MIB
    answer = visitor.send(place, have, data[have:])
    kept = visitor.http.get(f"/api/v2/files/{answer.headers['Headrace-File']}/").json()
    assert (kept["size"], kept["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


@pytest.mark.usefixtures("as_root")
def test_an_upload_onto_a_full_disk_is_refused_with_need_and_room(another_portal, tmp_path):
    folder = tmp_path / "uploads"
    folder.mkdir()
    portal = another_portal(LOCAL_CORES="1")
    place = portal.data / "uploads"
    room = f"size={places.SPARE + 26 * MIB},mode=700"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", room, "headrace-test", place], check=False).returncode:
        pytest.skip("the kernel gives no right to mount")
    try:
        browser = Browser(portal.engineer)
        refused = browser.begin("big.bin", 80 * MIB)
        assert refused.status_code == 507
        assert "80.0 MiB needed" in refused.text
        assert "free" in refused.text
        answer = portal.api.post("/files/contents/", files={"file": ("big.bin", bytes(40 * MIB))})
        assert answer.status_code == 507, answer.text
        full_while_it_arrives(browser, place)
        assert portal.api.get("/files/").json()["count"] == 0
        assert portal.engineer.submit("true").ends()["headraceStatus"] == "Completed"
    finally:
        portal.end()
        subprocess.run(["umount", "-l", place], check=True)


def full_while_it_arrives(browser, place):
    """Somebody else fills the disk in the middle: what arrived stays, the answer says so, and it goes on once there is room."""
    data = os.urandom(8 * MIB)
    upload = browser.begin("half.bin", len(data)).headers["Location"]
    assert browser.send(upload, 0, data[:MIB]).status_code == 204
    filler = place / "filler"
    with open(filler, "wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(64 << 10))
            except OSError:
                break
    assert browser.send(upload, MIB, data[MIB:]).status_code == 507
    filler.unlink()
    have = int(browser.http.head(upload).headers["Upload-Offset"])
    answer = browser.send(upload, have, data[have:])
    assert answer.status_code == 204
    kept = answer.headers["Headrace-File"]
    assert browser.http.get(f"/api/v2/files/{kept}/").json()["sha256"] == hashlib.sha256(data).hexdigest()
    assert browser.http.delete(f"/api/v2/files/{kept}/").status_code == 204

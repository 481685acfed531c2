"""Inputs: resumed, checked, unpacked safely, or refused in words."""

import hashlib
import io
import os
import shutil
import stat
import subprocess
import tarfile
import zipfile

import pytest

from jobs.agent import archives
from jobs.agent.folder import Folder, Refused


def _input(portal, name, data, id="a1", **extra):
    portal.inputs[id] = data
    entry = {"id": id, "name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "unpack": False}
    portal.spec["inputs"].append({**entry, **extra})


def _tar(*members, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, kind, more in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o644
            if kind == tarfile.REGTYPE:
                info.size = len(more)
                archive.addfile(info, io.BytesIO(more))
            else:
                info.linkname = more
                archive.addfile(info)
    return out.getvalue()


def _zip(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, mode, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return out.getvalue()


def _error(agent, portal, until):
    agent.start()
    return until(lambda: portal.last("staged"))["error"]


def test_inputs_come_to_their_places_with_modes(agent, portal):
    _input(portal, "deck.inp", b"heat\n")
    _input(portal, "bin/run me.sh", b"#!/bin/bash\necho ran\n", id="b2", mode=0o755)
    _input(portal, "empty", b"", id="c3")
    exit = agent.run("cat deck.inp; './bin/run me.sh'; stat -c %s empty")
    assert exit["code"] == 0
    assert portal.log() == b"heat\nran\n0\n"
    assert portal.last("staged") == {"files": 3, "bytes": 26}


def test_connection_that_breaks_is_resumed_by_range(agent, portal):
    data = os.urandom(3 << 20)
    _input(portal, "big.bin", data)
    portal.cut_input_after = 1 << 20
    agent.run("sha256sum < big.bin")
    assert portal.log().startswith(hashlib.sha256(data).hexdigest().encode())
    assert portal.bodies("input") == [0, 1 << 20]


def test_wrong_checksum_is_told_with_the_file(agent, portal, until):
    _input(portal, "deck.inp", b"heat\n", sha256="0" * 64)
    error = _error(agent, portal, until)
    assert error["file"] == "deck.inp"
    assert "checksum" in error["message"]
    assert portal.bodies("go") == []


def test_only_changed_inputs_come_back(agent, portal):
    for number, name in enumerate(["same", "touched", "grown", "rewritten"]):
        _input(portal, name, b"12345", id=f"i{number}")
    agent.run("touch -d 2001-01-01 touched; echo >> grown; sleep 0.01; printf 54321 > rewritten; echo new > new")
    assert sorted(portal.files) == ["grown", "new", "rewritten"]


def test_tar_is_unpacked_beside_itself(agent, portal):
    data = _tar(
        ("case", tarfile.DIRTYPE, ""), ("./case/mesh", tarfile.REGTYPE, b"mesh"), ("case/link", tarfile.SYMTYPE, "mesh"),
        ("case/hard", tarfile.LNKTYPE, "./case/mesh"), ("deep/er/file", tarfile.REGTYPE, b"deep"),
        ("case/up", tarfile.SYMTYPE, "../deep/er/file"),
    )  # fmt: skip
    _input(portal, "in/case.tar.gz", data, unpack=True)
    exit = agent.run("cd in; ls; cat case/link case/hard case/up deep/er/file")
    assert exit["code"] == 0
    assert portal.log() == b"case\ncase.tar.gz\ndeep\nmeshmeshdeepdeep"
    assert portal.files == {}


@pytest.mark.parametrize("mode", ["w:", "w:bz2", "w:xz"])
def test_other_compressions(agent, portal, mode):
    _input(portal, "x.tar", _tar(("a", tarfile.REGTYPE, b"data"), mode=mode), unpack=True)
    agent.run("cat a")
    assert portal.log() == b"data"


def test_zip_with_modes_links_and_names(agent, portal):
    data = _zip(
        ("run.sh", stat.S_IFREG | 0o755, "#!/bin/bash\necho ran\n"), ("dir/", stat.S_IFDIR | 0o755, ""),
        ("dir/ä.txt", 0, "umlaut"), ("link", stat.S_IFLNK | 0o777, "dir/ä.txt"),
    )  # fmt: skip
    _input(portal, "x.zip", data, unpack=True)
    agent.run("./run.sh; cat link dir/ä.txt")
    assert portal.log() == b"ran\numlautumlaut"


HOSTILE = [
    _tar(("/etc/hr-evil", tarfile.REGTYPE, b"x")),
    _tar(("../evil", tarfile.REGTYPE, b"x")),
    _tar(("a/../../evil", tarfile.REGTYPE, b"x")),
    _tar(("link", tarfile.SYMTYPE, "/etc")),
    _tar(("link", tarfile.SYMTYPE, "../..")),
    _tar(("here", tarfile.SYMTYPE, "."), ("out", tarfile.SYMTYPE, "here/../../x")),
    _tar(("link", tarfile.SYMTYPE, "dir"), ("dir", tarfile.DIRTYPE, ""), ("link/evil", tarfile.REGTYPE, b"x")),
    _tar(("hard", tarfile.LNKTYPE, "/etc/passwd")),
    _tar(("hard", tarfile.LNKTYPE, "../config.json")),
    _tar(("link", tarfile.SYMTYPE, "a"), ("hard", tarfile.LNKTYPE, "link")),
    _tar(("fifo", tarfile.FIFOTYPE, "")),
    _tar(("device", tarfile.CHRTYPE, "")),
    _tar(("dir", tarfile.DIRTYPE, ""), ("dir", tarfile.REGTYPE, b"x")),
    _tar(("file", tarfile.REGTYPE, b"x"), ("file/below", tarfile.REGTYPE, b"x")),
    _zip(("/etc/hr-evil", 0, "x")),
    _zip(("../evil", 0, "x")),
    _zip(("link", stat.S_IFLNK | 0o777, "/etc/passwd")),
    _zip(("fifo", stat.S_IFIFO | 0o644, "")),
    _tar(("a", tarfile.REGTYPE, b"x" * 100000), mode="w:")[:50000],
    _tar(("a", tarfile.REGTYPE, os.urandom(100000)))[:50000],
    _zip(("a", 0, "x" * 1000))[:500],
    b"PK\x03\x04 no zip at all",
    b"",
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_or_broken_archive_is_refused(tmp_path, data):
    work, archive = tmp_path / "work", tmp_path / "archive"
    work.mkdir()
    archive.write_bytes(data)
    with pytest.raises(archives.Bad, match="archive"):
        list(archives.unpack(str(archive), Folder(str(work)), b""))
    assert not os.path.exists("/etc/hr-evil")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "work"]
    assert not (work / "dir" / "evil").exists()


def test_refused_archive_is_told_with_the_file(agent, portal, until):
    _input(portal, "case.tar", HOSTILE[1], unpack=True)
    error = _error(agent, portal, until)
    assert error["file"] == "case.tar"
    assert error["message"] == "../evil in the archive: a path with .."
    assert portal.bodies("go") == []


@pytest.mark.skipif(not shutil.which("zstd"), reason="needs the program zstd")
def test_zstd_goes_through_the_machines_own_program(agent, portal):
    packed = subprocess.run(["zstd", "-c"], input=_tar(("a", tarfile.REGTYPE, b"data"), mode="w:"), stdout=subprocess.PIPE)
    _input(portal, "x.tar.zst", packed.stdout, unpack=True)
    agent.run("cat a")
    assert portal.log() == b"data"


def test_input_that_the_portal_does_not_have_fails_the_staging(agent, portal, until):
    _input(portal, "deck.inp", b"heat")
    portal.refuse["input/a1"] = (404, {})
    assert "does not have" in _error(agent, portal, until)["message"]


def test_archive_that_would_fill_the_disk_is_refused(agent, portal, until):
    info = tarfile.TarInfo("bomb")
    info.size = 1 << 50
    info_bytes = info.tobuf(tarfile.GNU_FORMAT)
    _input(portal, "bomb.tar", info_bytes + bytes(10240), unpack=True)
    assert "free on the node's disk" in _error(agent, portal, until)["message"]


@pytest.mark.parametrize("name", [b"../evil", b"/etc/hr-evil", b"a/../../evil", b"", b".", b"a\0b"])
def test_name_that_leads_out_is_refused(tmp_path, name):
    (tmp_path / "work").mkdir()
    folder = Folder(str(tmp_path / "work"))
    with pytest.raises(Refused):
        folder.create(name)
    assert list((tmp_path / "work").iterdir()) == []


def test_input_whose_name_leads_out_is_told(agent, portal, until):
    _input(portal, "../evil", b"x")
    assert _error(agent, portal, until)["file"] == "../evil"
    assert not (agent.base / "evil").exists()


def test_stop_while_an_input_can_not_be_had(agent, portal, until):
    _input(portal, "deck", b"heat")
    portal.refuse["input/a1"] = (503, {})
    agent.start()
    until(lambda: portal.bodies("beat"))
    portal.order(wish="stop")
    until(lambda: portal.last("done"), 30)
    assert portal.bodies("go") == []


def test_stop_while_staging(agent, portal, until):
    _input(portal, "big.bin", bytes(1 << 20))
    portal.spec["inputs"][0]["size"] += 10  # never comes whole
    agent.start()
    until(lambda: len(portal.bodies("input")) >= 2)
    portal.order(wish="stop")
    until(lambda: portal.last("done"))
    assert portal.bodies("go") == []

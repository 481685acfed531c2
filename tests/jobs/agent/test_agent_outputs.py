"""Results: all of them, with checksums; hostile things are named and never followed."""

import hashlib
import json
import os

import pytest


def _manifest(portal):
    data = b"".join(portal.manifest[number] for number in sorted(portal.manifest))
    return {line["path"]: line for line in map(json.loads, data.splitlines())}


def test_files_come_with_checksums_modes_and_empty_folders(agent, portal):
    agent.run(
        "mkdir -p a/b empty/deep; echo x > a/b/c; : > nothing",
        "printf '#!' > s.sh; chmod 750 s.sh; head -c 20000000 /dev/urandom > big",
    )
    lines = _manifest(portal)
    assert set(lines) == {"a/b/c", "empty/deep/", "nothing", "s.sh", "big"}
    assert lines["empty/deep/"] == {"path": "empty/deep/", "size": 0, "dir": True}
    for path in ("a/b/c", "nothing", "s.sh", "big"):
        content = (agent.work / path).read_bytes()
        assert portal.files.get(path, b"") == content
        assert lines[path]["sha256"] == hashlib.sha256(content).hexdigest()
        assert lines[path]["size"] == len(content)
    assert lines["s.sh"]["mode"] == 0o750
    assert lines["big"]["mtime"] == pytest.approx((agent.work / "big").stat().st_mtime)
    done = portal.last("done")
    assert (done["files"], done["bytes"], done["skipped"], done["failed"]) == (4, 20000004, 0, 0)


def test_hostile_things_are_listed_and_never_followed(agent, portal):
    agent.run(
        "ln -s /etc/passwd passwd; ln -s /etc etc; ln -s . loop; ln -s loop/loop/x broken; mkfifo fifo",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"",
        "mkdir d; ln -s ../../agent d/up; echo good > d/good",
    )
    lines = _manifest(portal)
    kinds = {path: line.get("skipped") for path, line in lines.items()}
    assert kinds == {
        "passwd": "symlink", "etc": "symlink", "loop": "symlink", "broken": "symlink", "fifo": "fifo", "sock": "socket",
        "d/up": "symlink", "d/good": None,
    }  # fmt: skip
    assert lines["passwd"]["detail"] == "/etc/passwd"
    assert portal.files == {"d/good": b"good\n"}
    assert portal.last("done")["skipped"] == 7


def test_folder_that_becomes_a_link_saves_nothing_from_elsewhere(agent, portal):
    agent.run("mkdir sub; echo secret > ../outside; cd sub; rm -rf ../sub; ln -s .. ../sub")
    assert portal.files == {}
    assert _manifest(portal)["sub"]["skipped"] == "symlink"


NAMES = [
    b"with space", b"-leading", b"quote'\"", b"new\nline", b"\xff\xfe", "emoji \U0001f680".encode(), b"a" * 255, b"%41&=?#+",
    b"back\\slash",
]  # fmt: skip


def test_any_name_that_a_file_can_have(agent, portal):
    agent.work.mkdir()
    expected = {}
    for number, name in enumerate(NAMES):
        for path, content in ((name, b"%d" % number), (b"big" + name[:200], b"%d" % number * 1500000)):
            with open(os.fsencode(agent.work) + b"/" + path, "wb") as file:
                file.write(content)
            expected[path.decode("utf-8", "surrogateescape")] = content
    agent.run("true")
    assert portal.files == expected
    assert set(_manifest(portal)) == set(expected)


def test_job_folder_that_is_gone_ends_with_a_word(agent, portal):
    agent.run("rm -rf \"$HOME\"")
    assert _manifest(portal) == {".": {"path": ".", "failed": "the job folder is gone: No such file or directory"}}


def test_many_small_files_go_in_batches(agent, portal):
    agent.run("mkdir m; seq 600 | split -l 1 -a 3 - m/; for i in 1 2 3 4 5 6 7 8 9; do head -c 1000000 /dev/zero > n$i; done")
    assert len(portal.files) == 609
    assert portal.files["m/aab"] == b"2\n"
    assert portal.batches == 2  # of 8 MB at most
    assert portal.last("done")["files"] == 609


def test_saving_goes_on_after_the_reporter_died(agent, portal, until):
    portal.spec["commands"] = ["mkdir m; seq 300 | split -l 1 -a 3 - m/; head -c 20000000 /dev/zero > z"]
    portal.refuse["outputs/file"] = (503, {})
    agent.start()
    manifest = agent.folder / "manifest.ndjson"
    until(lambda: manifest.exists() and manifest.read_bytes().count(b"\n") == 300)
    agent.kill("reporter")
    batches = portal.batches
    portal.refuse.clear()
    agent.finished()
    assert portal.batches == batches
    assert len(portal.files["z"]) == 20000000
    assert len(_manifest(portal)) == 301


def test_file_that_the_portal_refuses_is_named(agent, portal):
    portal.refuse["outputs/file"] = (413, {"message": "too big for this project"})
    agent.run("head -c 3000000 /dev/zero > big; echo x > small")
    assert _manifest(portal)["big"] == {"path": "big", "failed": "too big for this project"}
    assert portal.files == {"small": b"x\n"}
    assert portal.last("done")["failed"] == 1


def test_full_portal_is_waited_for(agent, portal, until):
    portal.spec["commands"] = ["echo x > small"]
    portal.refuse["outputs/batch"] = (507, {"message": "disk full"})
    agent.start()
    until(lambda: portal.last("exit"))
    portal.refuse.clear()
    agent.finished()
    assert portal.files == {"small": b"x\n"}


def test_failed_command_has_its_outputs_saved(agent, portal):
    assert agent.run("echo half > result; exit 9")["code"] == 9
    assert portal.files == {"result": b"half\n"}


def test_manifest_comes_in_parts(agent, portal):
    agent.run(f"mkdir m; cd m; touch $(seq -f {'x' * 230}%g 3000)", seconds=60)
    assert len(portal.manifest) >= 2
    assert all(len(part) <= 1 << 20 for part in portal.manifest.values())
    assert len(_manifest(portal)) == 3000


def test_force_stop_in_the_middle_of_saving_gives_the_rest_up(agent, portal, until):
    portal.spec["commands"] = ["echo x > a; head -c 3000000 /dev/zero > z"]
    portal.refuse["outputs/file"] = (503, {})
    agent.start()
    until(lambda: portal.files)
    portal.order(wish="force stop")
    agent.finished()
    assert portal.files == {"a": b"x\n"}
    assert set(_manifest(portal)) == {"a"}


def test_folders_without_end_are_cut_and_named(agent, portal):
    agent.run("python3 -c \"import os\nfor _ in range(600): os.mkdir('d'); os.chdir('d')\"; echo x > ok")
    lines = _manifest(portal)
    deep = [line for line in lines.values() if line.get("skipped")]
    assert [(line["skipped"], line["detail"], line["path"].count("/")) for line in deep] == [("unreadable", "more than 512 folders deep", 512)]
    assert portal.files == {"ok": b"x\n"}

"""Files on their way into a home: whole, once, over nothing that is there, as the session's user; whoever dies meanwhile."""

import io
import os
import stat
import tarfile
import tempfile
from pathlib import Path

import pytest

from jobs.agent import apart, bringing, hidden, home
from jobs.agent.config import parse
from tests.jobs.agent.spoken_workstation import Workstations

UID = 54331
as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")


@pytest.fixture
def spoken():
    return Workstations()


@pytest.fixture
def started(agent, portal, until):
    agent.start()
    until(lambda: portal.last("ready"))
    return agent


def told(portal):
    return sorted((body["id"], body.get("name") or body["error"]) for body in portal.bodies("brought"))


def test_files_come_into_a_living_home(started, portal, until):
    portal.bring((1, "deck.inp", b"*NODE\n"), (2, "runs/a/mesh.msh", b"m" * 3_000_000))
    until(lambda: len(portal.bodies("brought")) == 2)
    assert told(portal) == [(1, "deck.inp"), (2, "runs/a/mesh.msh")]
    assert (started.work / "deck.inp").read_bytes() == b"*NODE\n"
    assert (started.work / "runs/a/mesh.msh").read_bytes() == b"m" * 3_000_000
    assert stat.S_IMODE((started.work / "deck.inp").stat().st_mode) == 0o640
    assert [name for name in os.listdir(started.work) if name.startswith(".bringing")] == []


def test_what_was_ordered_before_the_start_comes_after_the_home(agent, portal, until):
    portal.bring((7, "early", b"early"))
    agent.start()
    until(lambda: portal.last("brought"))
    assert (agent.work / "early").read_bytes() == b"early"
    names = [name for name, _ in portal.heard]
    assert names.index("staged") < names.index("brought")


def test_nothing_that_is_there_is_written_over(started, portal, until):
    (started.work / "deck.inp").write_text("mine")
    (started.work / "outside").symlink_to("/etc/nowhere")
    portal.bring((1, "deck.inp", b"one"), (2, "deck.inp", b"two"), (3, "outside", b"three"))
    until(lambda: len(portal.bodies("brought")) == 3)
    assert told(portal) == [(1, "deck (2).inp"), (2, "deck (3).inp"), (3, "outside (2)")]
    assert (started.work / "deck.inp").read_text() == "mine"
    assert (started.work / "deck (3).inp").read_text() == "two"
    assert os.readlink(started.work / "outside") == "/etc/nowhere"


def test_a_name_as_long_as_names_may_be_is_cut_between_letters(started, portal, until):
    """And nothing that was begun stays, nor goes what is the user's own."""
    (started.work / ".bringing-1").write_text("my own")
    long, other = "é" * 125 + "a.inp", "n" * 255
    portal.bring((1, long, b"one"), (2, long, b"two"), (3, other, b"three"), (4, other, b"four"), (5, "n" * 256, b"five"), (6, "." + other[1:], b"six"))
    until(lambda: len(portal.bodies("brought")) == 6)
    portal.bring((7, "." + other[1:], b"seven"))
    until(lambda: len(portal.bodies("brought")) == 7)
    names = [long, "é" * 123 + " (2).inp", other, "n" * 251 + " (2)", "." + other[1:], "." + "n" * 250 + " (2)"]
    assert told(portal) == [*enumerate(names[:4], 1), (5, "File name too long"), (6, names[4]), (7, names[5])]
    assert sorted(os.listdir(started.work)) == sorted([".bringing-1", *names])
    assert (started.work / ".bringing-1").read_text() == "my own"
    assert not list(started.folder.glob("bringing-*"))


def test_links_lead_nowhere(started, portal, until, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (started.work / "out").symlink_to(tmp_path / "elsewhere")
    portal.bring((1, "out/deck.inp", b"x"), (2, "../up", b"x"), (3, "fine", b"x"))
    until(lambda: len(portal.bodies("brought")) == 3)
    assert told(portal) == [(1, "a link or a file is where its folder should be"), (2, "a path with .."), (3, "fine")]
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_broken_connection_costs_only_what_was_not_there(started, portal, until):
    data = os.urandom(5_000_000)
    portal.cut_input_after = 2_000_000
    portal.bring((1, "big", data))
    until(lambda: portal.last("brought"))
    assert (started.work / "big").read_bytes() == data
    assert portal.bodies("input") == [0, 2_000_000]


def test_a_wrong_checksum_never_arrives_and_says_so(started, portal, until):
    portal.bring((1, "deck", b"right"))
    until(lambda: portal.last("brought"))
    portal.waiting[2] = {"id": 2, "name": "other", "size": 5, "sha256": "0" * 64, "mode": 0o644}
    portal.inputs["sent-2"] = b"wrong"
    portal.order(bring=list(portal.waiting.values()))
    until(lambda: len(portal.bodies("brought")) == 2)
    assert portal.last("brought") == {"id": 2, "error": "its checksum is wrong after 3 downloads"}
    assert not (started.work / "other").exists()


def test_a_reporter_that_dies_before_it_told_brings_nothing_twice(started, portal, until):
    portal.refuse["brought"] = (503, {})
    portal.bring((1, "deck", b"once"))
    until((started.work / "deck").exists)
    until(lambda: started.mark("brought-1.json"))
    started.kill("reporter")
    del portal.refuse["brought"]
    until(lambda: portal.last("brought"))
    assert told(portal) == [(1, "deck")]
    assert not (started.work / "deck (2)").exists()


def test_a_reporter_that_dies_in_the_middle_goes_on(started, portal, until):
    class Once(dict):
        """Gives a file once; then it is refused."""

        def __getitem__(self, key):
            portal.refuse[f"input/{key}"] = (503, {})
            return super().__getitem__(key)

    data, part = os.urandom(6_000_000), started.folder / "brought-1.part"
    portal.inputs, portal.cut_input_after = Once(), 3_000_000
    portal.bring((1, "big", data))
    until(lambda: part.exists() and part.stat().st_size == 3_000_000)
    started.kill("reporter")
    portal.refuse.clear()
    until(lambda: portal.last("brought"))
    assert (started.work / "big").read_bytes() == data
    assert portal.bodies("input") == [0, 3_000_000]


def test_it_waits_while_the_session_is_to_end_and_is_known_before_the_home_is_saved(started, portal, until):
    portal.bring((1, "deck", b"x"))
    until(lambda: portal.last("brought"))
    portal.order(wish="suspend", bring=[{"id": 2, "name": "late", "size": 1, "sha256": "", "mode": 0o644}])
    assert started.finished()["why"] == "wish"
    assert told(portal) == [(1, "deck")]
    names = [name for name, _ in portal.heard]
    assert names.index("brought") < names.index("home/whole")


def in_home(folder, work, run_as=None):
    raw = {"portal": "http://x", "token": "t-1", "secret": "s", "folder": str(folder), "workdir": str(folder), "run_as": run_as}
    with open(__file__, "rb") as source:
        return apart.done(parse(raw), lambda: work(source.fileno()), source.fileno())


def test_a_death_between_the_two_names_leaves_one_file(tmp_path):
    def put(fd):
        return {"name": bringing._placed(str(tmp_path), fd, taken, 0o600).decode()}

    taken = hidden.Hidden(b"deck", b".bringing-1")
    assert in_home(tmp_path, put) == {"name": "deck"}
    assert in_home(tmp_path, put) == {"name": "deck"}
    (tmp_path / ".bringing-1").unlink()
    (tmp_path / ".bringing-1").write_text("half of i")
    assert in_home(tmp_path, put) == {"name": "deck (2)"}
    assert (tmp_path / "deck (2)").read_bytes() == Path(__file__).read_bytes()


def test_what_is_being_brought_is_in_no_copy_and_settled_at_the_end(tmp_path):
    """Somebody died: over one that had its name already, and over one that was half there."""
    (tmp_path / "work").mkdir()
    raw = {"portal": "http://x", "token": "t-1", "secret": "s", "folder": str(tmp_path), "workdir": str(tmp_path / "work")}
    config = parse(raw)
    named, half = (tmp_path / "work" / os.fsdecode(hidden.take(config, code, code.encode()).name) for code in "12")
    named.write_text("whole")
    os.link(named, tmp_path / "work" / "1")
    half.write_text("ha")
    (tmp_path / "work" / ".bringing-mine").write_text("mine")
    data = b"".join(home.Archive(config, lambda: None).pieces())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert sorted(tar.getnames()) == [".bringing-mine", "1"]
    work = bringing.Bringing(config, None, None, lambda: False, print)
    for code in hidden.codes(config):
        work._settle(code)
    assert sorted(os.listdir(tmp_path / "work")) == [".bringing-mine", "1"]
    assert [path.name for path in tmp_path.glob("br*.json")] == ["brought-1.json"]


@as_root
def test_it_is_written_with_the_rights_of_the_user_alone():
    with tempfile.TemporaryDirectory(prefix="headrace-bring-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        (folder / "home").mkdir()
        os.chown(folder / "home", UID, UID)
        (folder / "home" / "roots").mkdir(mode=0o700)

        def put(path):
            return lambda fd: {"name": bringing._placed(str(folder / "home"), fd, hidden.Hidden(path, b".bringing-1"), 0o600).decode()}

        who = {"uid": UID, "gid": UID}
        assert in_home(folder / "home", put(b"deck"), who) == {"name": "deck"}
        assert (folder / "home" / "deck").stat().st_uid == UID
        assert in_home(folder / "home", put(b"roots/deck"), who) == {"error": "Permission denied"}

"""Suspending and resuming a workstation: nothing ends before it can be saved, nothing that was saved is lost."""

import io
import os
import struct
import tarfile

import pytest

from tests.jobs.agent.spoken_workstation import Workstations


@pytest.fixture
def portal():
    portal = Workstations()
    yield portal
    portal.release()
    portal.stop()


@pytest.fixture
def terminal(agent, portal, until):
    """Opens the terminal of a started workstation."""

    def open_():
        agent.start()
        until(lambda: portal.last("ready") and portal.relay)
        return portal.relay.open("terminal")

    return open_


def enter(stream, line):
    data = line.encode() + b"\n"
    stream.write(struct.pack(">BI", 0, len(data)) + data)


def files(data):
    with tarfile.open(fileobj=io.BytesIO(data), encoding="utf-8", errors="surrogateescape") as tar:
        return {member.name: tar.extractfile(member).read() if member.isreg() else None for member in tar}


def test_without_room_the_session_goes_on_and_says_so(terminal, agent, portal, until):
    stream = terminal()
    portal.no_room = "The home has 12 GB, 3 GB are free."
    portal.order(wish="suspend")
    until(lambda: portal.last("unsaved"))
    assert portal.last("unsaved") == {"message": "The home has 12 GB, 3 GB are free."}
    portal.order(wish="run")
    enter(stream, "echo alive-$((1+1)) > kept; cat kept")
    stream.until(b"alive-2")
    assert portal.last("exit") is None
    portal.no_room = ""
    portal.order(wish="suspend")
    assert agent.finished()["why"] == "wish"
    assert files(portal.home())["kept"] == b"alive-2\n"


def test_a_home_over_its_limit_is_refused_in_words(terminal, agent, portal, until):
    portal.session(limit=2_000_000)
    stream = terminal()
    enter(stream, "head -c 3000000 /dev/zero > big; echo done-$((1+1))")
    stream.until(b"done-2")
    portal.order(wish="stop")
    until(lambda: portal.last("unsaved"))
    assert portal.last("unsaved") == {"message": "the home has 3.0 MB, 2.0 MB can be saved"}
    assert portal.rooms == []
    enter(stream, "rm big; echo gone-$((1+1))")
    stream.until(b"gone-2")
    portal.order(wish="run")
    until(lambda: portal.known == portal.orders["version"])
    portal.order(wish="stop")
    assert agent.finished()["why"] == "wish"


def test_a_home_comes_back_and_goes_out_again(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "mkdir -p a/b; echo one > a/b/c; ln -s a/b/c link; chmod 750 a; echo done-$((1+1))")
    stream.until(b"done-2")
    portal.order(wish="suspend")
    agent.finished()
    first = portal.home()
    portal.release()
    until(agent.gone)
    second = Workstations()
    try:
        resumed = type(agent)(second, agent.base.parent / "resumed", agent.pyz)
        second.give_home(first)
        resumed.start()
        until(lambda: second.last("ready"))
        assert second.last("staged") == {"files": 1, "bytes": len(first)}
        assert (resumed.work / "link").read_text() == "one\n"
        second.order(wish="suspend")
        resumed.finished()
        assert files(second.home()).items() >= files(first).items()
    finally:
        second.release()
        second.stop()
        resumed.end()


def test_a_home_with_another_checksum_never_starts(agent, portal, until):
    portal.give_home(b"x" * 20480, sha256="0" * 64)
    agent.start()
    until(lambda: portal.last("staged"))
    assert portal.last("staged")["error"]["file"] == "home"
    assert "checksum" in portal.last("staged")["error"]["message"]
    assert portal.last("go") is None


def test_a_home_that_is_no_archive_never_starts(agent, portal, until):
    portal.give_home(b"x" * 20480)
    agent.start()
    until(lambda: portal.last("staged"))
    assert portal.last("staged")["error"]["file"] == "home"
    assert portal.last("go") is None


def test_force_stop_gives_the_home_up_at_once(terminal, agent, portal, until):
    terminal()
    portal.no_room = "full"
    portal.order(wish="suspend")
    until(lambda: portal.last("unsaved"))
    portal.order(wish="force stop")
    assert agent.finished()["signal"] == 9
    assert portal.wholes == []


def test_force_stop_ends_a_copy_under_way(terminal, agent, portal, until):
    terminal()
    portal.refuse["home/part"] = (503, {})
    portal.order(wish="suspend")
    until(lambda: portal.last("exit") and portal.last("home/room"))
    portal.order(wish="force stop")
    agent.finished()
    assert portal.wholes == []


def test_a_copy_that_arrived_wrong_is_sent_again(terminal, agent, portal, until):
    terminal()
    portal.refuse["home/whole"] = (409, {"size": 0})
    portal.order(wish="suspend")
    until(lambda: portal.last("exit") and len(portal.rooms) >= 2)
    del portal.refuse["home/whole"]
    agent.finished()
    assert len(portal.wholes) == 1


def test_room_is_kept_from_before_the_end_until_the_copy_is_there(terminal, agent, portal):
    terminal()
    portal.order(wish="suspend")
    agent.finished()
    assert len(portal.rooms) == 2
    assert {body["copy"] for body in portal.rooms} == {portal.wholes[-1]["copy"]}


def test_a_copy_that_the_portal_gave_up_is_made_again(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "head -c 30000000 /dev/urandom > big; echo done-$((1+1))")
    stream.until(b"done-2")
    portal.order(wish="suspend")
    until(lambda: portal.last("home/part"))
    with portal.lock:
        portal.parts.pop(portal.rooms[-1]["copy"], None)
    agent.finished(60)
    assert len({body["copy"] for body in portal.rooms}) >= 2
    assert files(portal.home())["big"] == (agent.work / "big").read_bytes()


def test_broken_answers_lose_and_double_nothing(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "head -c 40000000 /dev/urandom > big; echo done-$((1+1))")
    stream.until(b"done-2")
    data = (agent.work / "big").read_bytes()
    portal.cut = 40  # every other answer of so many
    portal.order(wish="suspend")
    agent.finished(60)
    assert files(portal.home())["big"] == data


def test_storage_that_is_full_in_the_end_is_waited_for(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "echo x > kept; echo done-$((1+1))")
    stream.until(b"done-2")
    portal.refuse["home/part"] = (507, {"message": "storage is full"})
    portal.order(wish="suspend")
    until(lambda: portal.last("exit"))
    portal.refuse.clear()
    agent.finished(60)
    assert files(portal.home())["kept"] == b"x\n"


def test_a_reporter_that_dies_while_it_copies_is_followed_by_one_that_copies(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "head -c 30000000 /dev/urandom > big; echo done-$((1+1))")
    stream.until(b"done-2")
    data = (agent.work / "big").read_bytes()
    portal.refuse["home/whole"] = (503, {})
    portal.order(wish="suspend")
    for _ in range(3):
        parts = len(portal.bodies("home/part"))
        until(lambda parts=parts: len(portal.bodies("home/part")) > parts)
        agent.kill("reporter")
    portal.refuse.clear()
    agent.finished(60)
    assert files(portal.home())["big"] == data
    assert len({body["pid"] for body in portal.bodies("started")}) == 1


def test_reporter_and_portal_die_and_the_terminal_goes_on(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "export MINE=kept; echo first-$((1+1))")
    stream.until(b"first-2")
    agent.kill("reporter")
    assert stream.wait_closed() == "cut"
    relay = until(lambda: portal.relay)
    stream = relay.open("terminal")
    stream.until(b"first-2")
    port = portal.port
    portal.stop()
    portal.start(port)
    stream = until(lambda: portal.relay).open("terminal")
    enter(stream, "echo $MINE-$((2+2))")
    stream.until(b"kept-4")
    assert portal.last("exit") is None


def test_copies_are_made_from_time_to_time_if_anything_changed(terminal, agent, portal, until):
    portal.session(every=0.3)
    stream = terminal()
    enter(stream, "echo one > kept; echo done-$((1+1))")
    stream.until(b"done-2")
    until(lambda: portal.wholes and files(portal.home()).get("kept") == b"one\n")
    assert portal.wholes[-1]["why"] == "periodic"
    count = len(portal.wholes)
    enter(stream, "echo two > kept; echo done-$((2+2))")
    stream.until(b"done-4")
    until(lambda: len(portal.wholes) > count)
    until(lambda: files(portal.home())["kept"] == b"two\n")
    copies = len(portal.wholes)
    agent.kill("reporter")
    until(lambda: len(portal.bodies("hello")) == 2 and portal.relay)
    portal.order(wish="stop")
    agent.finished()
    assert len(portal.wholes) == copies + 1


def test_a_periodic_copy_gives_way_to_the_last_one(terminal, agent, portal, until):
    portal.session(every=0.2)
    portal.refuse["home/part"] = (503, {})
    terminal()
    until(lambda: portal.rooms)
    assert portal.rooms[-1]["why"] == "periodic"
    portal.order(wish="suspend")
    until(lambda: portal.last("exit"))
    portal.refuse.clear()
    agent.finished()
    assert [whole["why"] for whole in portal.wholes] == ["suspend"]


def test_programs_are_asked_to_save_before_they_end(terminal, agent, portal, until):
    portal.spec["stop_command"] = "echo saved > hook; echo hook says so"
    stream = terminal()
    enter(stream, "(trap 'echo saved > trap; exit' TERM; echo armed-$((1+1)); while :; do sleep 0.05; done)")
    stream.until(b"armed-2")
    portal.order(wish="suspend")
    agent.finished()
    kept = files(portal.home())
    assert (kept["hook"], kept["trap"]) == (b"saved\n", b"saved\n")
    assert b"hook says so" in portal.log()


def test_a_lost_holder_costs_the_programs_but_not_the_home(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "echo x > kept; echo done-$((1+1))")
    stream.until(b"done-2")
    agent.kill("holder")
    assert agent.finished()["why"] == "lost"
    assert files(portal.home())["kept"] == b"x\n"
    assert agent.processes() == []


def test_beats_tell_typing_and_work(terminal, agent, portal, until):
    portal.orders["watched"] = True
    portal.session(solvers=["*Foam", "ccx"])
    stream = terminal()
    idle = until(lambda: next((beat for beat in portal.bodies("beat") if "busy" in beat), None))
    assert (idle["input_at"], idle["programs"]) == (None, [])
    enter(stream, "cp $(command -v bash) simpleFoam; ./simpleFoam -c 'while :; do :; done' &")
    beat = until(lambda: next((beat for beat in portal.bodies("beat") if beat.get("busy", 0) > 0.05), None), 40)
    assert beat["programs"] == ["simpleFoam"]
    assert beat["input_at"] is not None
    assert beat["gpu"] is None or 0 <= beat["gpu"] <= 1


def test_a_kind_that_does_not_exist_is_said(agent, portal, until):
    portal.session(kind="hologram")
    agent.start()
    assert agent.finished()["code"] == 127
    assert b"no kind of session called 'hologram'" in portal.log()


def test_an_own_start_replaces_the_shell(agent, portal, until):
    portal.session(start="echo mine-$((1+1)); exec sleep 600")
    agent.start()
    until(lambda: portal.last("ready") and portal.relay)
    portal.relay.open("terminal").until(b"mine-2")
    assert os.path.isdir(agent.work)

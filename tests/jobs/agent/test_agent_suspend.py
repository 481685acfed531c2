"""Suspending and resuming a workstation: nothing ends before it can be saved, nothing that was saved is lost."""

import os

import pytest

from tests.jobs.agent.spoken_workstation import Workstations, enter, files


@pytest.fixture
def spoken():
    return Workstations()


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

"""A terminal through the relay, end to end: real agent, real shell, real websocket."""

import socket
import struct

import pytest

from jobs.agent.session.terminal import SCREEN, screen
from tests.jobs.agent.spoken_workstation import CREDIT, FIRST, Workstations


@pytest.fixture
def spoken():
    return Workstations()


def typed(text):
    return struct.pack(">BI", 0, len(text)) + text


FLOOD = b"head -c 8000000 /dev/zero | tr '\\0' x; echo end-$((1+1))\n"


def opened(agent, portal, until):
    agent.start()
    until(lambda: portal.last("ready") and portal.relay)
    return portal.relay.open("terminal")


def test_a_terminal_keeps_its_screen_and_saves_its_home_at_suspend(agent, portal, until):
    agent.start()
    until(lambda: portal.last("ready"))
    assert portal.last("ready") == {"service": "terminal"}
    relay = until(lambda: portal.relay)
    assert relay.headers["path"] == f"/relay/{agent.token.rsplit('-', 1)[0]}/agent"
    assert (relay.headers["Headrace-Token"], relay.headers["Headrace-Node"]) == (agent.token, "0")
    stream = relay.open("terminal")
    stream.write(typed(b"echo $((40+2))-here > kept.txt; cat kept.txt; pwd\n"))
    stream.until(b"42-here")
    stream.until(str(agent.work).encode())
    stream.write(struct.pack(">BIHH", 1, 4, 101, 33) + typed(b"stty size\n"))
    stream.until(b"33 101")
    again = relay.open("terminal")
    again.until(b"33 101")
    portal.order(wish="suspend")
    exit = agent.finished()
    assert exit["why"] == "wish"
    reports = [name for name, _ in portal.heard if name in ("home/room", "exit", "home/whole", "done")]
    assert reports == ["home/room", "exit", "home/room", "home/whole", "done"]
    assert portal.wholes[-1]["files"] >= 1
    assert agent.processes() == []


def test_a_viewer_that_lags_behind_another_is_let_go(agent, portal, until):
    fast = opened(agent, portal, until)
    slow = portal.relay.open("terminal")
    slow.grants = False
    fast.write(typed(FLOOD))
    assert fast.until(b"end-2", 60).count(b"x") >= 8_000_000
    slow.grants = True
    portal.relay.send(CREDIT, slow.number, struct.pack(">I", FIRST))
    slow.wait_closed(60)
    assert slow.got < 2_000_000
    again = portal.relay.open("terminal")
    assert len(again.until(b"end-2")) < 600_000


def test_a_shell_waits_for_its_only_viewer(agent, portal, until):
    stream = opened(agent, portal, until)
    stream.grants = False
    stream.write(typed(FLOOD))
    until(lambda: stream.got == FIRST)
    stream.grants = True
    portal.relay.send(CREDIT, stream.number, struct.pack(">I", FIRST))
    assert stream.until(b"end-2", 60).count(b"x") >= 8_000_000


def test_a_shell_that_ends_is_followed_by_another(agent, portal, until):
    stream = opened(agent, portal, until)
    stream.write(typed(b"sleep 1; exit\n"))
    stream.until(b"[the shell ended; this is a new one]")
    stream.write(typed(b"echo second-$((1+1))\n"))
    stream.until(b"second-2")
    assert portal.last("exit") is None


def test_a_screen_begins_with_a_line_and_asks_nothing():
    end = b"\x1b[6n\x1b[31mred\x1b[c\x1b]10;?\x07\x1b[2Jend"
    lines = b"0123456\n" * (SCREEN // 8)
    assert screen(b"xyz" + lines + end) == lines[32:] + b"\x1b[31mred\x1b[2Jend"
    assert screen(b"long line" * SCREEN + b"\nend").endswith(b"long line\nend")
    assert len(screen(b"long line" * SCREEN + b"\nend")) == SCREEN
    assert screen(b"short") == b"short"


def test_another_process_of_the_same_user_is_not_let_in(agent, portal, until):
    stream = opened(agent, portal, until)
    stream.write(typed(b"echo mine-$((1+1))\n"))
    stream.until(b"mine-2")
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(10)
        stranger.connect(str(agent.base / "tmp" / "session" / "terminal.sock"))
        assert stranger.recv(100) == b""

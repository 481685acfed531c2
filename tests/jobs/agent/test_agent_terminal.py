"""A terminal through the relay, end to end: real agent, real shell, real websocket."""

import struct

import pytest

from tests.jobs.agent.spoken_workstation import Workstations


@pytest.fixture
def portal():
    portal = Workstations()
    yield portal
    portal.release()
    portal.stop()


def typed(text):
    return struct.pack(">BI", 0, len(text)) + text


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

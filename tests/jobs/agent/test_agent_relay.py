"""The relay's frames: credit, cuts, refusals, many streams, what somebody may not reach."""

import contextlib
import os
import random
import socket
import threading
import time

import pytest

from jobs.agent import doors, websocket
from jobs.agent.folder import Refused
from jobs.agent.relay import Way
from tests.jobs.agent.spoken_workstation import FIRST, Workstations
from tests.jobs.agent.test_agent_home import config_of


@pytest.fixture
def spoken():
    portal = Workstations()
    portal.session(start="exec sleep 600")
    return portal


@pytest.fixture
def relay(agent, portal, until):
    agent.start()
    until(lambda: portal.last("ready") and portal.relay)
    return portal.relay


class Server:
    """A service of a session, made by the test: keeps what it reads, says what it is told to."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(64)
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
            except OSError:
                return

    def send(self, number, data):
        """In a thread: it may wait for somebody who reads."""

        def send():
            with contextlib.suppress(OSError):
                self.connections[number].sendall(data)

        threading.Thread(target=send, daemon=True).start()

    def close(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()


@pytest.fixture
def server(agent, relay):
    server = Server(agent.base / "tmp" / "session" / "app.sock")
    yield server
    server.close()


@pytest.fixture
def stream(relay, server, until):
    stream = relay.open("app")
    assert stream.opened
    until(lambda: server.connections)
    return stream


def test_bytes_pass_both_ways_unchanged(stream, server):
    data = random.Random(1).randbytes(5_000_000)
    end = server.connections[0]
    server.send(0, data)
    assert stream.read(len(data)) == data
    writer = threading.Thread(target=stream.write, args=(data,), daemon=True)
    writer.start()
    got = bytearray()
    while len(got) < len(data):
        got += end.recv(1 << 20)
    assert got == data
    end.close()
    assert stream.wait_closed() == ""


def test_a_viewer_that_sleeps_stops_its_own_stream_only(stream, relay, server, until):
    stream.grants = False
    server.send(0, bytes(3_000_000))
    until(lambda: stream.got == FIRST)
    other = relay.open("app")
    until(lambda: len(server.connections) == 2)
    server.connections[1].sendall(bytes(2_000_000))
    assert len(other.read(2_000_000)) == 2_000_000
    assert stream.got == FIRST


def test_a_session_that_does_not_read_gets_no_credit(stream, relay, server, until):
    sent = []

    def fill():
        try:
            for _ in range(100):
                stream.write(bytes(65536), timeout=60)
                sent.append(65536)
        except ConnectionError:
            pass

    threading.Thread(target=fill, daemon=True).start()
    until(lambda: sum(sent) >= FIRST)
    other = relay.open("app")
    other.write(b"still here")
    until(lambda: len(server.connections) == 2)
    assert server.connections[1].recv(100) == b"still here"
    assert sum(sent) < 3_000_000


def test_a_closed_stream_ends_its_connection_and_the_other_way_round(stream, relay, server, until):
    stream.write(b"last words")
    stream.close()
    end = server.connections[0]
    assert end.recv(100) == b"last words"
    assert end.recv(100) == b""
    other = relay.open("app")
    until(lambda: len(server.connections) == 2)
    server.connections[1].sendall(b"good bye")
    server.connections[1].close()
    assert other.read(8) == b"good bye"
    assert other.wait_closed() == ""


def test_more_than_was_granted_ends_the_stream(stream, relay, server):
    for _ in range(40):
        relay.send(3, stream.number, bytes(65536))
    assert "more than was granted" in stream.wait_closed()


def test_what_does_not_listen_is_said(relay):
    assert "does not answer" in relay.open("desktop").wait_closed()
    assert "no service called '../../etc'" in relay.open("../../etc").wait_closed()


def test_a_hundred_streams_at_once(relay, server, until):
    streams = [relay.open("app") for _ in range(100)]
    until(lambda: len(server.connections) == 100)
    for number, one in enumerate(streams):
        one.write(b"%03d" % number)
    assert sorted(connection.recv(3) for connection in server.connections) == [b"%03d" % number for number in range(100)]


def test_the_relay_comes_back_after_refusals_and_cuts(relay, portal, agent, until):
    portal.relay_refusal = 503
    relay.cut()
    until(lambda: "503" in (agent.folder / "agent.log").read_text())
    portal.relay_refusal = 0
    assert until(lambda: portal.relay).open("terminal").opened


def test_410_at_the_relay_ends_the_agent(relay, portal, agent, until):
    portal.relay_refusal = 410
    relay.cut()
    until(agent.gone)


@pytest.mark.parametrize("kind", ["symlink", "file", "hard link"])
def test_an_agent_follows_no_link_out_of_the_session(kind, tmp_path):
    config = config_of(tmp_path / "node")
    folder = tmp_path / "node" / "tmp" / "session"
    folder.mkdir(parents=True)
    outside = socket.socket(socket.AF_UNIX)
    outside.bind(str(tmp_path / "outside"))
    outside.listen()
    make = {"symlink": os.symlink, "hard link": os.link, "file": lambda source, path: path.touch()}[kind]
    make(tmp_path / "outside", folder / "app.sock")
    if kind == "hard link":
        config = config._replace(run_as=(os.getuid() + 1, os.getgid()))
    with outside, pytest.raises((OSError, Refused)):
        doors.connect(config, "app")
    assert not doors.answers(config, "app")


def test_silence_is_a_cut(tmp_path, monkeypatch):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    way = Way(websocket.Websocket(ours), config_of(tmp_path), lambda: None)
    moment = time.monotonic() + 51
    monkeypatch.setattr(time, "monotonic", lambda: moment)
    with ours, theirs, pytest.raises(ConnectionError, match="nothing heard"):
        way.live(lambda: None)

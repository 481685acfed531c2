"""The relay's frames: credit, cuts, refusals, many streams, what somebody may not reach; and the websocket below them."""

import contextlib
import os
import random
import socket
import ssl
import struct
import subprocess
import threading
import time

import pytest
from websockets.protocol import State
from websockets.server import ServerProtocol

from jobs.agent import doors, inputs, websocket
from jobs.agent.folder import Refused
from jobs.agent.relay import Way
from tests.jobs.agent.spoken_workstation import FIRST, Workstations
from tests.jobs.agent.test_agent_home import config_of


@pytest.fixture
def portal():
    portal = Workstations()
    portal.session(start="exec sleep 600")
    yield portal
    portal.release()
    portal.stop()


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


@pytest.fixture
def certificate(tmp_path):
    path = tmp_path / "both.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(path), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(words, check=True, capture_output=True)
    path.write_text(path.read_text() + (tmp_path / "cert.pem").read_text())
    return path


def test_a_websocket_over_tls_carries_much_both_ways(certificate, until):
    """Against `websockets`, echoing; the client checks the certificate by its own file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        protocol = ServerProtocol(max_size=1 << 20)
        with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
            while data := connection.recv(1 << 16):
                protocol.receive_data(data)
                for event in protocol.events_received():
                    if protocol.state is State.CONNECTING:
                        protocol.send_response(protocol.accept(event))
                    elif event.opcode == 2:
                        protocol.send_binary(bytes(event.data))
                for out in protocol.data_to_send():
                    connection.sendall(out)

    threading.Thread(target=serve, daemon=True).start()
    client = ssl.create_default_context(cafile=str(certificate))
    line = websocket.connect(f"https://localhost:{listener.getsockname()[1]}/relay/x/agent", {"A": "b"}, client)
    sizes = [0, 1, 125, 126, 65535, 65536, 500_000]
    sent = [random.Random(size).randbytes(size) for size in sizes]
    for data in sent:
        line.send(data)
    got = []

    def turn():
        line.flush()
        got.extend(message.data for message in line.receive())
        return len(got) == len(sent)

    until(turn)
    assert got == sent
    line.close()
    listener.close()


def test_another_authority_is_not_trusted(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                context.wrap_socket(listener.accept()[0], server_side=True)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(ssl.SSLError):
            websocket.connect(f"https://localhost:{listener.getsockname()[1]}/x", {}, ssl.create_default_context())


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 1023, 1024, 1025, 70001])
def test_masks_are_undone_by_themselves(size):
    data, key = random.Random(size).randbytes(size), b"\x01\xff\x00\x7e"
    masked = websocket.masked(data, key)
    assert masked == bytes(byte ^ key[at % 4] for at, byte in enumerate(data))


@pytest.mark.parametrize("frame", [b"\x82\x85", b"\xf2\x01x", b"\x82\x7f" + bytes([0, 0, 0, 1, 0, 0, 0, 0])])
def test_frames_that_no_server_may_send_break_the_line(frame):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    line = websocket.Websocket(ours)
    theirs.sendall(frame + bytes(10))
    with ours, theirs, pytest.raises(ConnectionError):
        line.receive()


def test_pieces_of_a_message_and_pings_between_them(until):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    line = websocket.Websocket(ours)
    theirs.sendall(b"\x02\x03abc" + b"\x89\x02hi" + b"\x80\x03def")
    with ours, theirs:
        assert [message.data for message in line.receive()] == [b"abcdef"]
        pong = theirs.recv(100)
        assert pong[0] == 0x8A
        assert websocket.masked(pong[6:], pong[2:6]) == b"hi"


def test_silence_is_a_cut(tmp_path, monkeypatch):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    way = Way(websocket.Websocket(ours), config_of(tmp_path), lambda: None)
    moment = time.monotonic() + 51
    monkeypatch.setattr(time, "monotonic", lambda: moment)
    with ours, theirs, pytest.raises(ConnectionError, match="nothing heard"):
        way.live(lambda: None)


OPENING = b"RFB 003.008\n\x01\x01"
QUIET = [
    struct.pack(">BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0), struct.pack(">BxHiii", 2, 3, 0, 16, -308),
    struct.pack(">BBHHHH", 3, 1, 0, 0, 10, 10), struct.pack(">BxxxI", 6, 3) + b"abc", struct.pack(">Bxxxi", 6, -6) + b"\x04" * 6,
    struct.pack(">BBHHHH", 150, 1, 0, 0, 1, 1), struct.pack(">BxxxIB", 248, 0, 4) + b"\x05" * 4,
    struct.pack(">BxHHBxIHHHHI", 251, 5, 5, 1, 0, 0, 0, 5, 5, 0),
]  # fmt: skip
LOUD = [struct.pack(">BBxxI", 4, 1, 97), struct.pack(">BBHH", 5, 0, 1, 1), struct.pack(">BBHII", 255, 0, 1, 97, 30)]


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_only_keys_and_pointer_are_input_on_a_desktop(step):
    watcher = inputs.watcher("desktop")

    def heard(data):
        return any([watcher.heard(data[at : at + step]) for at in range(0, len(data), step)])

    assert not heard(OPENING + b"".join(QUIET) * 3)
    for message in LOUD:
        assert heard(b"".join(QUIET) + message)
        assert not heard(b"".join(QUIET))


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_only_typing_is_input_in_a_terminal(step):
    def heard(data):
        watcher = inputs.watcher("terminal")
        return any([watcher.heard(data[at : at + step]) for at in range(0, len(data), step)])

    size = struct.pack(">BIHH", 1, 4, 80, 24)
    assert not heard(size * 3)
    assert heard(size + struct.pack(">BI", 0, 1) + b"x")
    assert not heard(size + struct.pack(">BI", 0, 0))


def test_only_changes_are_input_in_an_app():
    assert inputs.watcher("app").heard(b"POST /relay/x/app/api/kernels HTTP/1.1\r\n")
    assert not inputs.watcher("app").heard(b"GET /relay/x/app/lab HTTP/1.1\r\n")

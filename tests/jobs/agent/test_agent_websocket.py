"""The websocket below the relay: TLS and whom it trusts, masks, frames that no server may send, pieces, pings."""

import contextlib
import random
import socket
import ssl
import subprocess
import threading

import pytest
from websockets.protocol import State
from websockets.server import ServerProtocol

from jobs.agent import websocket


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

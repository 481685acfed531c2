"""Websockets, at the application's pace; and how a server ends."""

import signal
import socket
import subprocess
import sys
import threading

import pytest
import websockets
from websockets.sync.client import connect

from tests.portal.asgi_probe import OURS, ROOT, ask, free_port, handshake, push, running, told, wait_for

MIB = 1 << 20


def test_messages_go_both_ways(server):
    with connect(f"ws://127.0.0.1:{server}/echo") as client:
        for text in "one", "zwei ü", "x" * 100_000:
            client.send(text)
            assert client.recv() == text


def test_a_refused_socket_is_never_accepted(server):
    with pytest.raises(websockets.exceptions.InvalidStatus) as error:
        connect(f"ws://127.0.0.1:{server}/deny")
    assert error.value.response.status_code == 403


def test_a_client_that_floods_a_lagging_application_is_held_back(ours):
    before = told(ours)["rss"]

    frame = b"\x81\xff" + (100_000).to_bytes(8, "big") + b"\0\0\0\0" + b"x" * 100_000
    with socket.create_connection(("127.0.0.1", ours)) as client:
        client.sendall(handshake("/sink?lag=60"))
        client.recv(4096)
        client.setblocking(False)
        sent = 0
        for _ in range(2000):
            sent += push(client, frame)
        assert sent < 30 * MIB
        assert told(ours)["rss"] - before < 10 * MIB


def test_a_closed_socket_is_told_to_the_application(server):
    with connect(f"ws://127.0.0.1:{server}/echo") as client:
        client.close(4000)
    wait_for(lambda: told(server).get("closed") == "4000")


# the end


def test_sigterm_lets_requests_end_and_tells_sockets():
    with running() as (port, process):
        answers = []
        slow = threading.Thread(target=lambda: answers.append(ask(port, "GET", "/sleep?seconds=1")[0].status))
        with connect(f"ws://127.0.0.1:{port}/echo") as client, socket.create_connection(("127.0.0.1", port)) as silent:
            client.send("there")
            client.recv()
            silent.sendall(b"GET / HTTP/1.1\r\n")
            slow.start()
            wait_for(lambda: told(port).get("sleep") == "begun")
            process.send_signal(signal.SIGTERM)
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                client.recv()
        assert closed.value.rcvd.code == 1001
        slow.join()
        assert answers == [200]
        assert process.wait(10) == 0


def test_an_address_in_use_is_an_error():
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        code = OURS.format(port=taken.getsockname()[1])
        run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert run.returncode == 1
    assert "in use" in run.stderr.lower()

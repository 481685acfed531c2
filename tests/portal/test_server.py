"""The server waits for slow peers in both directions, loses nothing, and ends in order."""

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
import websockets
from websockets.sync.client import connect

from tests.portal.asgi_probe import OURS, ROOT, UVICORN, free_port, running, wait_for

MIB = 1 << 20


@pytest.fixture(scope="module", params=["ours", "uvicorn"])
def server(request):
    with running(OURS if request.param == "ours" else UVICORN) as (port, _):
        yield port


@pytest.fixture(scope="module")
def ours():
    with running() as (port, _):
        yield port


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer, data


def told(port, path="/memory"):
    return json.loads(ask(port, "GET", path)[1])


# bodies in


def test_a_body_arrives_whole(server):
    data = os.urandom(3 * MIB)
    for body in (data, b"", b"x", iter([data[:5], data[5:100_000], data[100_000:]])):
        _, answer = ask(server, "POST", "/upload", body)
        found = json.loads(answer)
        assert found["sha256"] == hashlib.sha256(data if not isinstance(body, bytes) else body).hexdigest()


def test_a_body_reaches_the_application_as_it_arrives(server):
    with socket.create_connection(("127.0.0.1", server)) as client:
        client.sendall(b"POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000)
        wait_for(lambda: told(server).get("first") == "answered")
        assert b"200 OK" in client.recv(4096)


def test_a_form_of_many_megabytes_is_not_parsed_by_the_server(server):
    body = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + b"x" * (40 * MIB) + b"\r\n--b--\r\n"
    before = told(server)["rss"]
    _, answer = ask(server, "POST", "/upload", body, {"Content-Type": "multipart/form-data; boundary=b"})
    assert json.loads(answer)["size"] == len(body)
    assert told(server)["rss"] - before < 30 * MIB


def test_a_lagging_application_pauses_the_socket(ours):
    before = told(ours)["rss"]
    with socket.create_connection(("127.0.0.1", ours)) as client:
        client.setblocking(False)
        sent = push(client, b"POST /upload?lag=30 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
        for _ in range(2000):
            sent += push(client, b"x" * MIB)
        assert sent < 30 * MIB
        assert told(ours)["rss"] - before < 10 * MIB


def push(client, data):
    try:
        return client.send(data)
    except BlockingIOError:
        return 0


@pytest.mark.parametrize("size", [200_000, 60 * MIB])
def test_an_answer_before_the_end_of_the_body_can_be_read(ours, size):
    with socket.create_connection(("127.0.0.1", ours)) as client:
        client.sendall(b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
        feeder = threading.Thread(target=feed, args=(client, size))
        feeder.start()
        assert client.recv(100).startswith(b"HTTP/1.1 413")
        feeder.join()


def feed(client, size):
    with suppress(OSError):  # the server closes: it reads a part of an unwanted body, not all
        client.sendall(b"x" * size)


def test_a_connection_is_used_again_after_an_early_answer(ours):
    connection = http.client.HTTPConnection("127.0.0.1", ours, timeout=30)
    for path, status in ("/refuse", 413), ("/upload", 200), ("/refuse", 413), ("/x", 200):
        connection.request("POST", path, b"x" * 200_000)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
    connection.close()


def test_requests_in_a_row_are_answered_in_order(ours):
    with socket.create_connection(("127.0.0.1", ours)) as client:
        client.sendall(b"".join(b"POST /n%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" % n for n in range(20)))
        data = b""
        while data.count(b'"method"') < 20:
            data += client.recv(65536)
        assert [part.split(b'"')[0] for part in data.split(b'"path":"/')[1:]] == [b"n%d" % n for n in range(20)]


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\nHo st: x", b"nonsense", b"POST / HTTP/1.1\r\nContent-Length: x"])
def test_a_malformed_request_is_400(ours, head):
    with socket.create_connection(("127.0.0.1", ours)) as client:
        client.sendall(head + b"\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 400")
    assert told(ours, "/x")["path"] == "/x"


def test_an_error_in_the_application_is_500(server):
    assert ask(server, "GET", "/broken")[0].status == 500


# answers out


def test_a_reader_that_stops_holds_up_the_application_not_the_memory(server):
    before = told(server)["rss"]
    with socket.create_connection(("127.0.0.1", server)) as client:
        client.sendall(b"GET /flood?count=4000 HTTP/1.1\r\nHost: x\r\n\r\n")
        client.recv(1000)
        settled = wait_for_standstill(lambda: told(server).get("flood"))
        assert int(settled) < 1000
        assert told(server)["rss"] - before < 10 * MIB


def test_a_viewer_that_stops_holds_up_the_application_not_the_memory(server):
    before = told(server)["rss"]
    with socket.create_connection(("127.0.0.1", server)) as client:
        client.sendall(handshake("/flood?count=4001"))
        client.recv(100)
        settled = wait_for_standstill(lambda: told(server).get("sent"))
        assert int(settled) < 1000
        assert told(server)["rss"] - before < 10 * MIB


def handshake(path):
    return (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


def wait_for_standstill(ask_value, seconds=20):
    """The value once it has stayed the same for ten looks."""
    seen = []

    def stands():
        seen.append(ask_value())
        return len(seen) > 10 and seen[-1] is not None and len(set(seen[-10:])) == 1

    wait_for(stands, seconds)
    return seen[-1]


def test_a_client_that_goes_is_told_to_the_application(server):
    with socket.create_connection(("127.0.0.1", server)) as client:
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_for(lambda: told(server).get("wait") == "waiting")
    wait_for(lambda: told(server).get("wait") == "http.disconnect")


def test_a_download_ends_when_its_client_goes(server, tmp_path):
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(4 << 30)
    with socket.create_connection(("127.0.0.1", server)) as client:
        client.sendall(f"GET /file?path={path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        client.recv(100_000)
    wait_for(lambda: told(server).get("file") == "ended")


def test_two_gigabytes_pass_in_both_directions_in_flat_memory(ours, tmp_path):
    size = 2 << 30
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(size - 4)
        file.write(b"end!")
    before, most = told(ours)["rss"], 0
    with socket.create_connection(("127.0.0.1", ours)) as client:
        client.sendall(f"GET /file?path={path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        most, got, last = read_with_rests(client, lambda: told(ours)["rss"])
    assert got > size
    assert last.endswith(b"end!")
    with path.open("rb") as file:
        most = max(most, upload_watched(ours, file, size))
    assert most - before < 50 * MIB


def read_with_rests(client, memory):
    """Reads to the end; now and then it stops reading until the server's memory is known."""
    buffer, got, most, last = bytearray(MIB), 0, 0, b""
    while count := client.recv_into(buffer):
        if got >> 28 != (got + count) >> 28:
            most = max(most, memory())
        got += count
        last = (last + bytes(buffer[max(0, count - 4) : count]))[-4:]
    return most, got, last


def upload_watched(port, file, size):
    seen = []
    done = threading.Event()

    def watch():
        while not done.wait(0.3):
            seen.append(told(port)["rss"])

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, answer = ask(port, "PUT", "/upload", file, {"Content-Length": str(size)})
    done.set()
    watcher.join()
    assert json.loads(answer)["size"] == size
    return max(seen, default=0)


# websockets


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

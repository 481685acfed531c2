"""Answers that go out: at the reader's pace, in flat memory, and no longer than somebody reads."""

import json
import socket
import threading

from tests.portal.asgi_probe import ask, handshake, told, wait_for

MIB = 1 << 20


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

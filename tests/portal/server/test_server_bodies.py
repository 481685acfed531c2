"""Bodies that come in: whole, as they arrive, at the application's pace; requests in a row, malformed and broken ones."""

import hashlib
import http.client
import json
import os
import socket
import threading
from contextlib import suppress

import pytest

from tests.portal.asgi_probe import ask, push, told, wait_for

MIB = 1 << 20


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

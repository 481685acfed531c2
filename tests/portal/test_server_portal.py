"""The whole portal behind a real server: ours, and uvicorn, which must do as well."""

import http.client
import json
import signal
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.portal.asgi_probe import wait_for
from tests.portal.served import OURS, UVICORN, prepare

MIB = 1 << 20


@pytest.fixture(scope="module")
def portal(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("portal"))


@pytest.fixture(scope="module", params=["ours", "uvicorn"])
def server(request, portal):
    with portal.served(OURS if request.param == "ours" else UVICORN) as (port, process):
        yield port, process


@pytest.fixture
def viewing(portal, server):
    with ExitStack() as stack:
        yield lambda what: stack.enter_context(
            connect(f"ws://127.0.0.1:{server[0]}/live/jobs/{portal.jobs[0][0]}/{what}", additional_headers=portal.cookie)
        )


def ask(portal, port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={**portal.cookie, **headers})
    return connection.getresponse()


def test_a_line_goes_from_the_node_to_the_viewer(portal, server, viewing):
    public_id, token = portal.jobs[0]
    viewer = viewing("log/?stream=stdout")
    size = json.loads(viewer.recv())["size"]
    viewer.send(json.dumps({"type": "follow", "from": size}))
    assert portal.report(server[0], token, f"log?stream=stdout&generation=0&offset={size}", b"hello\n") == {"size": size + 6}
    while isinstance(frame := viewer.recv(30), str):
        pass
    assert frame == size.to_bytes(8, "big") + b"hello\n"
    answer = ask(portal, server[0], f"/jobs/{public_id}/log/bytes?from={size}")
    assert answer.read() == b"hello\n"


def test_a_page_is_pushed_when_the_job_moves(portal, server, viewing):
    viewer = viewing("?page=status")
    first = viewer.recv(30)
    assert f'id="job-{portal.jobs[0][0]}-stages"' in first
    portal.touch(portal.jobs[0][0])
    assert f'id="job-{portal.jobs[0][0]}-stages"' in viewer.recv(30)


def test_a_beat_goes_from_the_node_to_the_chart(portal, server, viewing):
    viewer = viewing("health/")
    portal.report(server[0], portal.jobs[0][1], "beat", json.dumps({"cpu": 1.5, "memory": 5}).encode())
    message = json.loads(viewer.recv(30))
    assert (message["type"], message["node"], message["points"][-1]["cpu"]) == ("points", 0, 1.5)


def test_a_slowly_read_download_of_a_big_log_costs_little_memory(portal, server):
    public_id, _ = portal.jobs[0]
    folder = portal.log_of(public_id)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "big.0.log").open("wb") as file:
        file.truncate(512 * MIB)
    port, process = server
    before, most, got = rss(process), 0, 0
    answer = ask(portal, port, f"/jobs/{public_id}/log/download?stream=big")
    while piece := answer.read(8 * MIB):
        got += len(piece)
        most = max(most, rss(process))
    assert got == 512 * MIB
    assert most - before < 50 * MIB


def rss(process):
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * 4096


def test_sigterm_ends_pages_logs_and_long_polls_in_order(portal):
    public_id, token = portal.jobs[0]
    with portal.served() as (port, process), ExitStack() as stack:
        viewers = [
            stack.enter_context(connect(f"ws://127.0.0.1:{port}/live/jobs/{public_id}/{what}", additional_headers=portal.cookie))
            for what in ("", "log/", "health/")
        ]
        viewers[0].recv(30)
        viewers[1].recv(30)
        have = portal.report(port, token, "orders?have=0", method="GET")["orders"]["version"]
        answers = []
        poll = threading.Thread(target=lambda: answers.append(portal.report(port, token, f"orders?have={have + (1 << 40)}", method="GET")))
        poll.start()
        wait_for(lambda: connections_to(port) >= 4)
        process.send_signal(signal.SIGTERM)
        assert process.wait(9) == 0
        poll.join()
        for viewer in viewers:
            with pytest.raises(ConnectionClosed) as closed:
                drain(viewer)
            assert closed.value.rcvd.code in (1001, 4503)
        assert answers[0]["orders"]["wish"] == "run"


def drain(viewer):
    while True:
        viewer.recv(10)


def connections_to(port):
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_sockets_are_refused_before_accept(portal, server):
    with socket.create_connection(("127.0.0.1", server[0])) as client:
        client.sendall(
            f"GET /live/jobs/{portal.jobs[0][0]}/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert client.recv(4096).startswith(b"HTTP/1.1 403")

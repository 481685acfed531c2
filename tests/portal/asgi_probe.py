"""A bare ASGI application that the server tests talk to, and how a test starts it."""

import asyncio
import contextlib
import hashlib
import http.client
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

from tests.waiting import until as wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
SEEN: dict[str, str] = {}


async def application(scope, receive, send):
    """Answers by the path, see PATHS; another one is told back as it came."""
    from portal import streams

    if scope["type"] == "lifespan":
        raise ValueError("no lifespan")
    query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
    if scope["type"] == "websocket":
        await _socket(scope["path"], query, receive, send)
    elif answer := PATHS.get(scope["path"]):
        await answer(scope, query, receive, send)
    else:
        await streams.reply(send, 200, {"path": scope["path"], "query": scope["query_string"].decode(), "method": scope["method"]})


async def _upload(scope, query, receive, send):
    """Reads to the end, `lag` seconds a piece."""
    from portal import streams

    digest, size, pieces = hashlib.sha256(), 0, 0
    async for piece in streams.body(receive):
        digest.update(piece)
        size, pieces = size + len(piece), pieces + 1
        await asyncio.sleep(float(query.get("lag", 0)))
    await streams.reply(send, 200, {"sha256": digest.hexdigest(), "size": size, "pieces": pieces})


async def _refuse(scope, query, receive, send):
    """Answers before anything is read."""
    from portal import streams

    await streams.reply(send, 413, {"message": "too big"})


async def _first(scope, query, receive, send):
    """Answers after the first piece."""
    from portal import streams

    message = await receive()
    await streams.reply(send, 200, {"size": len(message["body"]), "more": message["more_body"]})
    SEEN["first"] = "answered"


async def _file(scope, query, receive, send):
    from portal import streams

    await streams.whole_body(receive, 0)
    await streams.send_file(scope, receive, send, [streams.of_file(Path(query["path"]))], filename=query.get("name", "big.bin"))
    SEEN["file"] = "ended"


async def _wait(scope, query, receive, send):
    """Never answers; notes what it is told next."""
    from portal import streams

    await streams.whole_body(receive, 0)
    SEEN["wait"] = "waiting"
    SEEN["wait"] = (await receive())["type"]


async def _sleep(scope, query, receive, send):
    from portal import streams

    SEEN["sleep"] = "begun"
    await asyncio.sleep(float(query["seconds"]))
    await streams.reply(send, 200, {"slept": True})


async def _flood(scope, query, receive, send):
    """`count` pieces of 64 KiB; notes how many were taken."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for number in range(int(query["count"])):
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        SEEN["flood"] = str(number)
    await send({"type": "http.response.body"})


async def _broken(scope, query, receive, send):
    raise RuntimeError("broken on purpose")


async def _memory(scope, query, receive, send):
    from portal import streams

    await streams.reply(send, 200, {"rss": _rss(), **SEEN})


PATHS = {
    "/upload": _upload, "/refuse": _refuse, "/first": _first, "/file": _file, "/wait": _wait, "/sleep": _sleep, "/flood": _flood,
    "/broken": _broken, "/memory": _memory,
}  # fmt: skip


async def _socket(path, query, receive, send):
    await receive()
    if path == "/deny":
        await send({"type": "websocket.close", "code": 4404})
        return
    await send({"type": "websocket.accept"})
    if path == "/flood":
        for number in range(int(query["count"])):
            await send({"type": "websocket.send", "bytes": b"x" * 65536})
            SEEN["sent"] = str(number)
    while (message := await receive())["type"] == "websocket.receive":
        await asyncio.sleep(float(query.get("lag", 0)))
        if path != "/sink":
            await send({"type": "websocket.send", "text": message["text"]})
    SEEN["closed"] = str(message.get("code"))


def _rss() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


OURS = """
from portal.server import serve
from tests.portal.asgi_probe import application
raise SystemExit(serve(application, "127.0.0.1", {port}))
"""
UVICORN = """
import uvicorn
from tests.portal.asgi_probe import application
uvicorn.run(application, host="127.0.0.1", port={port}, log_level="warning")
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(code: str = OURS, port: int | None = None, **environment):
    """Runs a server in a process of its own; gives (port, process)."""
    port = port or free_port()
    process = subprocess.Popen([sys.executable, "-c", code.format(port=port)], cwd=ROOT, env={**os.environ, **environment})
    try:
        wait_for(lambda: _answers(port) or process.poll() is not None, 90)
        yield port, process
    finally:
        process.terminate()
        try:
            process.wait(15)
        finally:
            process.kill()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# what a test says to it


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer, data


def told(port, path="/memory"):
    return json.loads(ask(port, "GET", path)[1])


def push(client, data):
    try:
        return client.send(data)
    except BlockingIOError:
        return 0


def handshake(path):
    return (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()

"""From a line that an agent posts to the same line on its viewers' sockets; how many bytes a second; what a stuck viewer costs.

Run: `uv run --group test python tests/bench/log_tail.py [lines]`. Beside each figure its bare limit in the same run: a
websockets server that sends on what it is sent (latency), `cat` over a pipe (throughput). Lines come at random, 20 a second
on average; a line that comes sooner after the last frame than the tail's pace (20 to 50 ms) waits for the rest of it.
"""

import asyncio
import json
import random
import socket
import subprocess
import sys
import time

from stage import child, free_port, now, percentiles, portal, rss, table, viewers, wait_for

MIB = 1 << 20
BARE = """
import asyncio, logging, sys
from websockets.asyncio.server import broadcast, serve
logging.disable()  # sockets that are torn off at the end
opened = set()
async def stay(socket):
    if socket.request.path != "/in":
        opened.add(socket)
        await socket.wait_closed()
    async for message in socket:
        broadcast(opened, message)
async def main():
    async with serve(stay, "127.0.0.1", int(sys.argv[1]), compression=None, ping_interval=None):
        await asyncio.Event().wait()
asyncio.run(main())
"""
SIZE = 64 * MIB  # of the log that is read flat out


def main(lines: int = 200) -> None:
    with portal(jobs=3, broker=False) as ours, ours.served() as (port, server):
        latency(ours, port, lines)
        throughput(ours, port)
        stuck(ours, port, server)


# latency


def latency(ours, port: int, lines: int) -> None:
    public_id, token = ours.jobs[0]
    bare_port = free_port()
    rows = []
    with child(BARE, str(bare_port)):
        wait_for(lambda: is_open(bare_port))
        for count in 1, 10, 100:
            address = f"ws://127.0.0.1:{port}/live/jobs/{public_id}/log/?stream=lines{count}"
            mine = asyncio.run(post_and_watch(ours, port, token, address, count, lines))
            bare = asyncio.run(send_and_watch(bare_port, count, lines))
            rows.append([f"{count} viewers", *percentiles(mine), *percentiles(bare)])
    table(f"line posted to line on the socket, {lines} lines", ["", "p50 ms", "p99 ms", "bare p50 ms", "bare p99 ms"], rows)


async def post_and_watch(ours, port, token, address, count, lines) -> list[float]:
    async with viewers(address, count, ours.cookie) as opened:
        for one in opened:
            await one.recv()
            await one.send(json.dumps({"type": "follow", "from": 0}))
        waiting = [asyncio.ensure_future(follow(one, lines)) for one in opened]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        at = 0
        for _ in range(lines):
            await asyncio.sleep(random.expovariate(20))
            at += await post(reader, writer, token, f"log?stream=lines{count}&offset={at}", line())
        return sum(await asyncio.gather(*waiting), [])


async def post(reader, writer, token: str, what: str, body: bytes) -> int:
    """One report on a kept connection; the body's length."""
    head = f"POST /nodes/{token}/0/{what} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nHeadrace-Protocol: 1\r\n"
    writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in answer.split(b"\r\n")[0]:
        raise RuntimeError(answer.decode())
    length = next(int(row.split(b":")[1]) for row in answer.split(b"\r\n") if row.lower().startswith(b"content-length"))
    await reader.readexactly(length)
    return len(body)


def line() -> bytes:
    """100 bytes that say when they were written, on the clock that all processes share."""
    return f"{now():.6f} residual".encode().ljust(99, b".") + b"\n"


async def follow(one, lines: int) -> list[float]:
    """How old each line was when it came. Acknowledges as a browser does, at most every 100 ms."""
    ages: list[float] = []
    acked = 0.0
    while len(ages) < lines:
        frame = await one.recv()
        if isinstance(frame, bytes):
            at = now()
            ages += [at - float(row.split(b" ")[0]) for row in frame[8:].splitlines()]
            if at - acked > 0.1:
                acked = at
                await one.send(json.dumps({"type": "ack", "offset": int.from_bytes(frame[:8], "big") + len(frame) - 8}))
    return ages


async def send_and_watch(port: int, count: int, lines: int) -> list[float]:
    async with viewers(f"ws://127.0.0.1:{port}/", count) as opened, viewers(f"ws://127.0.0.1:{port}/in", 1) as (source,):
        waiting = [asyncio.ensure_future(ages_of(one, lines)) for one in opened]
        for _ in range(lines):
            await asyncio.sleep(random.expovariate(20))
            await source.send(line())
        await source.close()
        return sum(await asyncio.gather(*waiting), [])


async def ages_of(one, lines: int) -> list[float]:
    ages = []
    for _ in range(lines):
        row = await one.recv()
        ages.append(now() - float(row.split(b" ")[0]))
    return ages


# throughput


def throughput(ours, port: int) -> None:
    public_id, token = ours.jobs[1]
    folder = ours.log_of(public_id)
    folder.mkdir(parents=True)
    path = folder / "big.0.log"
    path.write_bytes((b"x" * 99 + b"\n") * (SIZE // 100))
    size = path.stat().st_size
    address = f"ws://127.0.0.1:{port}/live/jobs/{public_id}/log/?stream="
    read = size / asyncio.run(swallow(address + "big", ours.cookie, size)) / MIB
    posted = SIZE / asyncio.run(post_and_swallow(address + "posted", ours.cookie, port, token)) / MIB
    pipe = size / cat(path) / MIB
    rows = [["a log that is there, to a viewer", read, read / pipe], ["from the agent's posts to a viewer", posted, posted / pipe],
            ["cat over a pipe (bare)", pipe, 1.0]]
    table(f"throughput, {SIZE // MIB} MiB", ["", "MiB/s", "of the pipe"], rows)


async def swallow(address: str, headers, size: int) -> float:
    """Seconds until all bytes are here, each acknowledged."""
    async with viewers(address, 1, headers) as (one,):
        await one.recv()
        started, at = now(), 0
        await one.send(json.dumps({"type": "follow", "from": 0}))
        while at < size:
            frame = await one.recv()
            if isinstance(frame, bytes):
                if int.from_bytes(frame[:8], "big") != at:
                    raise RuntimeError(f"expected offset {at}")
                at += len(frame) - 8
                await one.send(json.dumps({"type": "ack", "offset": at}))
        return now() - started


async def post_and_swallow(address: str, headers, port: int, token: str) -> float:
    reading = asyncio.ensure_future(swallow(address, headers, SIZE))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    piece = (b"x" * 99 + b"\n") * (MIB // 100)
    piece += b"x" * (MIB - len(piece))
    for at in range(0, SIZE, MIB):
        await post(reader, writer, token, f"log?stream=posted&offset={at}", piece)
    return await reading


def cat(path) -> float:
    """Seconds that a reader needs for what `cat` writes into a pipe."""
    started = now()
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as process:
        while process.stdout.read(64 << 10):
            pass
    return now() - started


# memory


def stuck(ours, port: int, server) -> None:
    """A viewer that asks for everything, acknowledges nothing and reads nothing; then one that acknowledges and does not read."""
    public_id, _ = ours.jobs[1]
    rows = []
    for name, ack in ("acknowledges nothing, reads nothing", 0), ("acknowledges all, reads nothing", 1 << 40):
        before = rss(server.pid)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(handshake(f"/live/jobs/{public_id}/log/?stream=big", ours.cookie["Cookie"]))
            client.sendall(frame({"type": "follow", "from": 0}))
            most = before
            for _ in range(40):
                client.sendall(frame({"type": "ack", "offset": ack}))
                time.sleep(0.05)
                most = max(most, rss(server.pid))
        rows.append([name, most - before])
    table(f"a viewer of {SIZE // MIB} MiB that is stuck", ["", "MiB more in web"], rows)


def handshake(path: str, cookie: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


def frame(content: dict) -> bytes:
    """A short text frame as a client sends it, masked with zeros."""
    text = json.dumps(content).encode()
    return b"\x81" + bytes([0x80 | len(text)]) + b"\0\0\0\0" + text


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

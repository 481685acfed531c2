"""The relay alone: many desktops open through one web process, with played nodes and played viewers.

Run: `uv run --group test python tests/bench/relay.py [desktops]` (30 if not said). The nodes and viewers live in this process and
answer at once, so that what is measured is the web process: its memory for open desktops, its processor time while everybody
types and while everybody watches a film. Figures by processor time hold on a busy machine, those in ms do not.
"""

from __future__ import annotations

import asyncio
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

from stage import ROOT, percentiles, portal, rss, table
from websockets.asyncio.client import connect

from jobs.agent.relay import CREDIT, CREDIT_AT_FIRST, DATA, OPEN, OPENED, PIECE

SECONDS, KEYS_A_SECOND = 10.0, 4
PICTURE, FILM = 20_000, 200_000  # bytes: a letter and its surroundings, a whole window
HELLO, INIT = b"RFB 003.008\n", b"\x05\x00\x03\x20" + bytes(16) + b"\x00\x00\x00\x04test"
KEY, ASK = bytes([4, 1, 0, 0, 0, 0, 0, 97]), bytes([3, 1, 0, 0, 0, 0, 5, 0, 3, 32])
FORMAT = bytes(20)
HEAD = struct.Struct(">BI")
DESKS = """
import sys
sys.path.insert(0, "tests")
import django
django.setup()
from django.contrib.auth.models import User
from django.utils import timezone
import factories
from jobs import tokens
from jobs.models import Cluster, Coretype
owner, kind = User.objects.get(username="owner"), Coretype.objects.first()
for number in range(int(sys.argv[1])):
    work = factories.workstation(owner, status="active", name=f"desk {number}", coretype=kind).workload
    token = tokens.token_of(work)
    Cluster.objects.create(workload=work, attempt=work.attempt, token=token, secret_hash=tokens.hash_of("secret"), backend="local",
                           coretype=work.coretype, nodes_wanted=1, cores=1, price=1, asked=timezone.now(), up=timezone.now())
    print(token)
"""


def frame(kind: int, stream: int, payload: bytes = b"") -> bytes:
    return HEAD.pack(kind, stream) + payload


class Node:
    """An agent with one desktop, which answers each request for a picture with `size` bytes."""

    def __init__(self, port: int, token: str) -> None:
        self.token, self.size = token, PICTURE
        headers = {"Authorization": "Bearer secret", "Headrace-Token": token, "Headrace-Protocol": "1", "Headrace-Node": "0"}
        self.opening = connect(f"ws://127.0.0.1:{port}/relay/{token.rpartition('-')[0]}/agent", additional_headers=headers, compression=None, max_size=None)
        self.credit, self.room = CREDIT_AT_FIRST, asyncio.Event()

    async def open(self) -> Node:
        self.socket = await self.opening
        self.life = asyncio.ensure_future(self._live())
        return self

    async def _live(self) -> None:
        heard, answers = bytearray(), asyncio.Queue[bytes]()
        writing = None
        async for message in self.socket:
            (kind, number), payload = HEAD.unpack_from(message), message[HEAD.size :]
            if kind == OPEN:
                await self.socket.send(frame(OPENED, number))
                writing = asyncio.ensure_future(self._write(number, answers))
                answers.put_nowait(HELLO)
            elif kind == DATA:
                heard += payload
                await self.socket.send(frame(CREDIT, number, len(payload).to_bytes(4, "big")))
                self._answer(heard, answers)
            elif kind == CREDIT:
                self.credit += int.from_bytes(payload, "big")
                self.room.set()
        if writing:
            writing.cancel()

    greeted = 0

    def _answer(self, heard: bytearray, answers: asyncio.Queue[bytes]) -> None:
        for step, (size, answer) in enumerate(((12, b"\x01\x01"), (1, bytes(4)), (1, INIT))):
            if self.greeted == step and len(heard) >= size:
                del heard[:size]
                self.greeted += 1
                answers.put_nowait(answer)
        while self.greeted == 3 and heard:
            size = {0: 20, 2: 8, 3: 10, 4: 8}.get(heard[0], 0)
            if heard[0] == 2 and len(heard) >= 4:
                size = 4 + 4 * int.from_bytes(heard[2:4], "big")
            if not size or len(heard) < size:
                return
            if heard[0] == 3:
                answers.put_nowait(bytes(self.size))
            del heard[:size]

    async def _write(self, number: int, answers: asyncio.Queue[bytes]) -> None:
        while True:
            data = memoryview(await answers.get())
            while data:
                while self.credit <= 0:
                    self.room.clear()
                    await self.room.wait()
                piece = data[: min(PIECE, self.credit)]
                self.credit -= len(piece)
                data = data[len(piece) :]
                await self.socket.send(frame(DATA, number, bytes(piece)))


class Viewer:
    """A browser on one of them."""

    def __init__(self, port: int, token: str, cookie: dict[str, str]) -> None:
        self.opening = connect(f"ws://127.0.0.1:{port}/relay/{token.rpartition('-')[0]}/desktop", additional_headers=cookie, compression=None, max_size=None)
        self.bytes = 0

    async def open(self) -> Viewer:
        self.socket = await self.opening
        for size, answer in ((12, HELLO), (2, b"\x01"), (4, b"\x01"), (len(INIT), FORMAT)):
            await self._take(size)
            await self.socket.send(answer)
        return self

    async def picture(self, size: int, first: bytes = b"") -> float:
        """Seconds from the question to the last byte."""
        began = time.perf_counter()
        await self.socket.send(first + ASK)
        await self._take(size)
        return time.perf_counter() - began

    async def _take(self, size: int) -> None:
        while size > 0:
            data = await self.socket.recv()
            size -= len(data)
            self.bytes += len(data)


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def types(viewer: Viewer, until: float) -> list[float]:
    took = []
    while time.perf_counter() < until:
        took.append(await viewer.picture(PICTURE, KEY))
        await asyncio.sleep(max(0.0, 1 / KEYS_A_SECOND - took[-1]))
    return took


async def watches(viewer: Viewer, until: float) -> list[float]:
    took = []
    while time.perf_counter() < until:
        took.append(await viewer.picture(FILM))
    return took


async def measured(name: str, viewers: list[Viewer], what, web: int) -> list[object]:
    before, spent, began = sum(one.bytes for one in viewers), cpu(web), time.perf_counter()
    took = [one for each in await asyncio.gather(*(what(viewer, began + SECONDS) for viewer in viewers)) for one in each]
    wall, spent, moved = time.perf_counter() - began, cpu(web) - spent, (sum(one.bytes for one in viewers) - before) / 1e6
    return [name, *percentiles(took), len(took) / wall, moved / wall, 100 * spent / wall, 1000 * spent / len(took), 1000 * spent / moved]


async def story(port: int, web: int, tokens: list[str], cookie: dict[str, str]) -> None:
    bare = rss(web)
    nodes = [await Node(port, token).open() for token in tokens]
    viewers = [await Viewer(port, token, cookie).open() for token in tokens]
    await asyncio.gather(*(viewer.picture(PICTURE) for viewer in viewers))
    opened, spent, began = rss(web), cpu(web), time.perf_counter()
    await asyncio.sleep(SECONDS)
    idle = 100 * (cpu(web) - spent) / (time.perf_counter() - began)
    rows = [await measured(f"all type, {KEYS_A_SECOND} keys a second each", viewers, types, web)]
    for node in nodes:
        node.size = FILM
    rows.append(await measured("all watch a film", viewers, watches, web))
    heads = ["", "p50 ms", "p99 ms", "pictures/s", "MB/s", "% of a core", "ms a picture", "ms a MB"]
    table(f"{len(tokens)} desktops through one web process, load {os.getloadavg()[0]:.0f}", heads, rows)
    memory = [["nothing open", bare, ""], ["all open", opened, idle], ["after all of it", rss(web), ""]]
    table("its memory, and what open desktops cost while nobody does anything", ["", "MiB", "% of a core"], memory)


def main(count: int = 30) -> None:
    with portal(broker=False) as made:
        run = subprocess.run([sys.executable, "-c", DESKS, str(count)], cwd=ROOT, env=made.environment, stdout=subprocess.PIPE, text=True, check=True)
        with made.served() as (port, process):
            asyncio.run(story(port, process.pid, run.stdout.split(), made.cookie))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

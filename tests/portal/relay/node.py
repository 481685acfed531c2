"""An agent for tests, inside the test's process: the frames of a real one, and services that are plain functions."""

import asyncio
import struct
from contextlib import asynccontextmanager, suppress

from channels.testing import WebsocketCommunicator

from portal.relay import frames
from tests.portal.live_client import ROOM

HELLO = b"RFB 003.008\n"
WIDTH, HEIGHT = 8, 4


class Pipe:
    """A service's side of a stream: read exactly, write."""

    def __init__(self, agent, number):
        self.agent, self.number, self.reader = agent, number, asyncio.StreamReader()

    async def write(self, data):
        await self.agent.send(frames.pack(frames.DATA, self.number, data))

    async def read(self, size=1 << 16):
        return await self.reader.read(size)

    async def exactly(self, size):
        return await self.reader.readexactly(size)

    async def close(self, why=b""):
        await self.agent.send(frames.pack(frames.CLOSE, self.number, why))


class Agent(WebsocketCommunicator):
    """`services`: name -> coroutine function of a Pipe."""

    def __init__(self, name, token, secret, services):
        from portal.asgi import application

        headers = [
            (b"host", b"testserver"),
            (b"authorization", f"Bearer {secret}".encode()),
            (b"headrace-token", token.encode()),
            (b"headrace-protocol", b"1"),
            (b"headrace-node", b"0"),
        ]
        super().__init__(application, f"/relay/{name}/agent", headers=headers)
        self.services, self.pipes, self.running = services, {}, []

    async def send(self, frame):
        await self.send_to(bytes_data=frame)

    async def serve(self):
        while True:
            message = await self.receive_output(3600)
            if message["type"] != "websocket.send":
                return
            await self._frame(*frames.unpack(message["bytes"]))

    async def _frame(self, kind, number, payload):
        if kind == frames.OPEN:
            await self._open(number, payload.decode())
        elif kind == frames.DATA and number in self.pipes:
            self.pipes[number].reader.feed_data(payload)
            await self.send(frames.credit(number, len(payload)))
        elif kind == frames.CLOSE and number in self.pipes:
            self.pipes.pop(number).reader.feed_eof()

    async def _open(self, number, service):
        if service not in self.services:
            await self.send(frames.pack(frames.CLOSE, number, f"{service} is not there".encode()))
            return
        pipe = self.pipes[number] = Pipe(self, number)
        await self.send(frames.pack(frames.OPENED, number))
        self.running.append(asyncio.ensure_future(self.services[service](pipe)))


@asynccontextmanager
async def connected(name, token, secret, services):
    """A connected agent; ends with the block."""
    agent = Agent(name, token, secret, services)
    accepted, code = await agent.connect(timeout=ROOM)
    assert accepted, code
    serving = asyncio.ensure_future(agent.serve())
    try:
        yield agent
    finally:
        serving.cancel()
        for task in agent.running:
            task.cancel()
        await asyncio.gather(serving, *agent.running, return_exceptions=True)
        with suppress(Exception):
            await agent.disconnect(timeout=ROOM)


async def shake_hands(pipe):
    """A desktop's side of the beginning."""
    await pipe.write(HELLO)
    assert await pipe.exactly(12) == HELLO
    await pipe.write(b"\x01\x01")
    assert await pipe.exactly(1) == b"\x01"
    await pipe.write(bytes(4))
    await pipe.exactly(1)
    await pipe.write(struct.pack(">HH", WIDTH, HEIGHT) + bytes(16) + struct.pack(">I", 4) + b"test")


async def echo(pipe):
    while data := await pipe.read():
        await pipe.write(data)


def remembering_desktop(heard):
    """A desktop that notes in `heard` what reaches it after the greeting."""

    async def desktop(pipe):
        await shake_hands(pipe)
        while data := await pipe.read():
            heard.append(data)
            await pipe.write(b"\x02")  # a bell for every message

    return desktop


async def red_desktop(pipe):
    """Draws itself in red whenever it is asked."""
    await shake_hands(pipe)
    await pipe.exactly(20 + 8)
    while await pipe.exactly(10):
        await pipe.write(b"\x02\x00\x00\x01"[:1])  # a bell first: it must be passed over
        await pipe.write(b"\x00\x00" + struct.pack(">H", 1) + struct.pack(">HHHHi", 0, 0, WIDTH, HEIGHT, 0))
        await pipe.write(bytes([0, 0, 255, 0]) * (WIDTH * HEIGHT))

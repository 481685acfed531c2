"""A websocket client inside the test's process: signs in by a real session and speaks to the whole application."""

import asyncio
import json
from contextlib import asynccontextmanager

from channels.testing import WebsocketCommunicator
from django.test import Client

from jobs import logs
from portal import live

ROOM = 10  # seconds that anything may take before a test fails


def session_of(user) -> str:
    """Signs a user in; the session's key. In synchronous code only."""
    client = Client()
    client.force_login(user)
    return client.session.session_key


class Viewer(WebsocketCommunicator):
    def __init__(self, path, session="", origin=b""):
        from portal.asgi import application

        headers = [(b"host", b"testserver")]
        if session:
            headers.append((b"cookie", f"sessionid={session}".encode()))
        if origin:
            headers.append((b"origin", origin))
        super().__init__(application, path, headers=headers)

    async def text(self):
        return await self.receive_from(timeout=ROOM)

    async def json(self):
        return json.loads(await self.text())

    async def info(self, wanted=lambda info: True):
        """The next info that is as wanted; frames before it are an error."""
        while not wanted(info := await self.json()):
            pass
        return info

    async def frame(self):
        """The next frame as (offset, bytes); infos before it are passed over."""
        while isinstance(data := await self.receive_from(timeout=ROOM), str):
            pass
        return int.from_bytes(data[:8], "big"), data[8:]

    async def bytes_until(self, size, at=0, ack=True):
        """Follows up to an offset; every frame must go on where the last one ended."""
        found = bytearray()
        while at < size:
            offset, data = await self.frame()
            assert offset == at
            found += data
            at += len(data)
            if ack:
                await self.send_json_to({"type": "ack", "offset": at})
        return bytes(found)

    async def closed(self):
        """The code with which the server closes; what it sends before is passed over."""
        while (message := await self.receive_output(ROOM))["type"] != "websocket.close":
            pass
        return message.get("code")


@asynccontextmanager
async def viewing(path, session="", origin=b""):
    viewer = Viewer(path, session, origin)
    accepted, code = await viewer.connect(timeout=ROOM)
    assert accepted, code
    try:
        yield viewer
    finally:
        await viewer.disconnect(timeout=ROOM)


async def refused(path, session="", origin=b""):
    """The code with which a handshake is refused."""
    accepted, code = await Viewer(path, session, origin).connect(timeout=ROOM)
    assert not accepted
    return code


async def until(condition, seconds=ROOM):
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def write(work, folder, data, stream="stdout", generation=0):
    """Append to a log as an agent's report does, and tell its viewers."""
    at = logs.size(folder, stream, generation=generation)
    for start in range(0, len(data), 1 << 20):
        logs.write(folder, stream, generation, at + start, data[start : start + (1 << 20)])
    live.hub.publish(f"log:{work.public_id}", {"stream": stream, "size": at + len(data)})


async def follow(viewer, at=0):
    await viewer.send_json_to({"type": "follow", "from": at})

"""An agent's websocket as a line that carries many streams, and the lines that this process has.

The one idea: credit. Neither side sends what the other has not asked for, so a viewer that stops reading stops its own
stream, at the price of one window of memory, and no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

from . import frames

OPEN_LIMIT = 15.0
"""Seconds that a session may take to answer."""
STREAMS = 256
"""Most streams of one line."""
Send = Callable[[bytes], Awaitable[None]]


class Closed(Exception):
    """The stream is over, or could not be opened; the message is for people."""


class Line:
    """`send` carries one message to the agent."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.alive = True
        self._streams: dict[int, Stream] = {}
        self._numbers = count(1)

    async def open(self, service: str) -> Stream:
        """A stream to a service of the session. Raises Closed."""
        if not self.alive or len(self._streams) >= STREAMS:
            raise Closed("too many connections" if self.alive else "the workstation is not connected")
        stream = Stream(self, next(self._numbers))
        self._streams[stream.number] = stream
        await self.send(frames.pack(frames.OPEN, stream.number, service.encode()))
        try:
            async with asyncio.timeout(OPEN_LIMIT):
                await stream.opened()
        except TimeoutError as error:
            await stream.close()
            raise Closed(f"{service} does not answer") from error
        return stream

    def heard(self, message: bytes) -> None:
        """Takes a frame of the agent; raises ValueError for what is none."""
        kind, number, payload = frames.unpack(message)
        stream = self._streams.get(number)
        if stream is None:
            return  # closed here, and the agent has not heard of it yet
        if kind == frames.DATA:
            stream.arrived(payload)
        elif kind == frames.CREDIT:
            stream.granted(frames.count_in(payload))
        elif kind == frames.OPENED:
            stream.answered()
        elif kind == frames.CLOSE:
            self.forget(number)
            stream.ended(payload.decode("utf-8", "replace"))

    def forget(self, number: int) -> None:
        self._streams.pop(number, None)

    def end(self) -> None:
        """The agent has gone: all streams are over."""
        self.alive = False
        for stream in list(self._streams.values()):
            stream.ended("the connection to the workstation broke")
        self._streams.clear()


class Stream:
    """One connection to one service, as two byte streams with credit."""

    def __init__(self, line: Line, number: int) -> None:
        self.number = number
        self._line = line
        self._in: deque[bytes] = deque()
        self._held = 0
        self._owed = 0
        self._credit = frames.WINDOW
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._answered = False
        self.over: str | None = None
        """Why it ended; None while it lives."""

    async def opened(self) -> None:
        while not self._answered:
            if self.over is not None:
                raise Closed(self.over or "the session does not answer")
            await _ring(self._news)

    async def read(self, most: int = 4 * frames.PIECE) -> bytes:
        """What has arrived, up to about `most` bytes; empty at the end."""
        while not self._in:
            if self.over is not None:
                return b""
            await _ring(self._news)
        pieces, size = [], 0
        while self._in and size < most:
            pieces.append(self._in.popleft())
            size += len(pieces[-1])
        self._held -= size
        await self._grant(size)
        return b"".join(pieces)

    async def write(self, data: bytes) -> None:
        """Waits until the other side has room. Raises Closed."""
        view = memoryview(data)
        while view:
            while self._credit <= 0 and self.over is None:
                await _ring(self._room)
            if self.over is not None:
                raise Closed(self.over)
            piece = view[: min(frames.PIECE, self._credit)]
            self._credit -= len(piece)
            view = view[len(piece) :]
            await self._line.send(frames.pack(frames.DATA, self.number, bytes(piece)))

    async def close(self, why: str = "") -> None:
        if self.over is None:
            self.over = why
            self._line.forget(self.number)
            self._wake()
            with suppress(Exception):  # the agent's connection may be going as well
                await self._line.send(frames.pack(frames.CLOSE, self.number, why.encode()))

    # --- what the line tells ------------------------------------------------------------------------------------------
    def arrived(self, data: bytes) -> None:
        self._held += len(data)
        if self._held > 2 * frames.WINDOW:
            raise ValueError("more than was asked for")
        self._in.append(data)
        self._news.set()

    def granted(self, size: int) -> None:
        self._credit += size
        self._room.set()

    def answered(self) -> None:
        self._answered = True
        self._news.set()

    def ended(self, why: str) -> None:
        self.over = why
        self._wake()

    async def _grant(self, size: int) -> None:
        """Asks for more, not for every byte alone."""
        self._owed += size
        if self._owed >= frames.WINDOW // 4 and self.over is None:
            owed, self._owed = self._owed, 0
            await self._line.send(frames.credit(self.number, owed))

    def _wake(self) -> None:
        self._news.set()
        self._room.set()


async def _ring(bell: asyncio.Event) -> None:
    """Waits for the bell and stills it."""
    await bell.wait()
    bell.clear()


_lines: dict[str, Line] = {}


def name_of(token: str) -> str:
    """A workstation's name in addresses: its cluster's token without the attempt."""
    return token.rpartition("-")[0]


def line(name: str) -> Line:
    """The connected agent of this workstation; raises Closed."""
    found = _lines.get(name)
    if found is None:
        raise Closed("the workstation is not connected")
    return found


def connected(name: str, new: Line) -> None:
    """An agent came; one that was there before is an earlier life of it."""
    old = _lines.get(name)
    _lines[name] = new
    if old is not None:
        old.end()


def left(name: str, old: Line) -> None:
    if _lines.get(name) is old:
        del _lines[name]
    old.end()

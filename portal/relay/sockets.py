"""Desktops and terminals in a browser: one websocket each, bytes both ways, at the pace of whoever is slower.

A desktop's socket carries RFB. A terminal's carries what its screen shows; towards the node binary messages are keys, and a
text message {"resize": [columns, rows]} is a new size. A socket that can't reach its workstation closes with AGAIN: the
page comes back by itself, after a network drop, a restart of the portal or a resume.
"""

from __future__ import annotations

import asyncio
import json
import struct
import time
from contextlib import suppress
from typing import Any

from django.utils import timezone

from jobs import logs
from portal.consumers.socket import AGAIN, NOT_FOUND, Left, Socket, in_thread, off_loop, still_signed_in

from . import access, lines, present
from .lines import Closed, Stream
from .rfb import Filter, Nonsense

CHECK = 5.0
"""Seconds between two looks at whether the viewer may still be here."""
NOTED = 5.0
"""Seconds within which input is noted once."""
KEYS, SIZE = 0, 1
WRONG = 4400

_way_of_user, _way_of_share, _touch = in_thread(access.of_user), in_thread(access.of_share), off_loop(logs.touched)


class Session(Socket):
    """What both share: the way in, the stream, and that input is noted."""

    service = ""

    async def enter(self) -> None:
        self.name = self.scope["name"]
        way = await self._way()
        if way is None:
            raise Left(NOT_FOUND)
        self.way = way
        self._noted = 0.0
        try:
            self.stream: Stream = await lines.line(self.name).open(self.service)
        except Closed as error:
            raise Left(AGAIN) from error

    async def show(self) -> None:
        with present.connected(self.way):
            while data := await self.stream.read():
                await self.send_bytes(data)
        raise Left(AGAIN)

    async def _stay(self) -> None:
        try:
            await super()._stay()
        finally:
            await self.stream.close()

    async def _hear(self) -> None:
        with suppress(Closed):
            while True:
                message = await self.receive()
                if message["type"] == "websocket.disconnect":
                    raise Left
                await self.take(message)
        raise Left(AGAIN)

    async def take(self, message: dict[str, Any]) -> None:
        raise NotImplementedError

    async def _watch_user(self) -> None:
        """More often than for a page: who is shown out must not go on typing."""
        while True:
            await asyncio.sleep(CHECK)
            way = await self._way()
            if way is None or way.mode != self.way.mode:
                raise Left(NOT_FOUND)

    async def _way(self) -> access.Way | None:
        secret = self.query.get("share")
        if self.user.is_authenticated and not await still_signed_in(self.scope):
            return None
        if secret:
            return await _way_of_share(self.name, secret, self.user, timezone.now())
        return await _way_of_user(self.name, self.user)

    async def touched(self) -> None:
        """Somebody was at work; noted for the rule that judges idleness."""
        if time.monotonic() - self._noted > NOTED:
            self._noted = time.monotonic()
            with suppress(OSError):
                await _touch(logs.attempt_dir(self.way.public_id, self.way.attempt))


class DesktopSocket(Session):
    service = "desktop"

    async def enter(self) -> None:
        await super().enter()
        self.filter = Filter(self.way.acts)

    async def take(self, message: dict[str, Any]) -> None:
        try:
            passing = self.filter.feed(message.get("bytes") or b"")
        except Nonsense as error:
            raise Left(WRONG) from error
        await self.stream.write(passing)
        if self.filter.touched:
            self.filter.touched = False
            await self.touched()


class TerminalSocket(Session):
    service = "terminal"

    async def take(self, message: dict[str, Any]) -> None:
        if not self.way.acts:
            return
        size = _size(message.get("text"))
        if size:
            await self.stream.write(_framed(SIZE, struct.pack(">HH", *size)))
        elif message.get("bytes"):
            await self.stream.write(_framed(KEYS, message["bytes"]))
            await self.touched()


def _framed(kind: int, payload: bytes) -> bytes:
    return struct.pack(">BI", kind, len(payload)) + payload


def _size(text: str | None) -> tuple[int, int] | None:
    """Columns and rows in {"resize": [columns, rows]}; None for anything else."""
    try:
        columns, rows = json.loads(text or "")["resize"]
        return min(max(int(columns), 2), 1000), min(max(int(rows), 2), 1000)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None

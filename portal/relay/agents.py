"""The agent's end: its one websocket, let in by its cluster's secret as every report is.

It is asked for again every few seconds, so after a release nothing goes through any more.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async

from jobs import gateway
from jobs.gateway import Caller
from portal.live import hub
from portal.streams import headers_of

from . import lines
from .frames import PIECE

CHECK = 15.0
"""Seconds between two looks at whether its cluster is still its own."""
REFUSED, OVER = 4403, 4410
LONGEST = PIECE + 64


async def serve(scope: dict[str, Any], receive: Any, send: Any, name: str) -> None:
    await receive()  # websocket.connect
    caller = await _caller(scope, name)
    if caller is None:
        await send({"type": "websocket.close", "code": REFUSED})
        return
    await send({"type": "websocket.accept"})
    line = lines.Line(lambda message: send({"type": "websocket.send", "bytes": message}))
    lines.connected(name, line)
    hub.publish(f"workstation:{caller.public_id}", {"relay": True})
    try:
        await _carry(scope, receive, send, line, name)
    finally:
        lines.left(name, line)
        hub.publish(f"workstation:{caller.public_id}", {"relay": False})


async def _carry(scope: dict[str, Any], receive: Any, send: Any, line: lines.Line, name: str) -> None:
    hearing = asyncio.ensure_future(_hear(receive, line))
    try:
        while not hearing.done():
            await asyncio.wait({hearing}, timeout=CHECK)
            if not line.alive or (not hearing.done() and await _caller(scope, name) is None):
                await send({"type": "websocket.close", "code": OVER})
                return
        with suppress(ValueError):
            hearing.result()
    finally:
        hearing.cancel()


async def _hear(receive: Any, line: lines.Line) -> None:
    while line.alive:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        data = message.get("bytes") or b""
        if len(data) > LONGEST:
            raise ValueError("a frame is at most one piece long")
        line.heard(data)


async def _caller(scope: dict[str, Any], name: str) -> Caller | None:
    """Who has proved to be this workstation's agent."""
    headers = headers_of(scope)
    token, secret = headers.get("headrace-token", ""), headers.get("authorization", "").removeprefix("Bearer ").strip()
    known = headers.get("headrace-protocol") in {str(number) for number in gateway.PROTOCOLS}
    if not known or lines.name_of(token) != name:
        return None
    with suppress(gateway.Gone, gateway.Unknown):
        caller = await database_sync_to_async(gateway.identify)(token, 0, secret)
        return caller if caller.kind == "workstation" else None
    return None

"""The websockets of the pages for programs: `Authorization: Token TOKEN` in the handshake instead of a session.

One idea: the consumers ask nothing but `scope["user"]`. A token that is revoked or expires closes what it opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async

from jobs.models import ApiToken

from .auth import narrowed, token_in

REFUSED = 4403
CHECK = 60.0
"""Seconds between two looks at whether the token still lives."""
Application = Callable[..., Awaitable[None]]


class ByToken:
    """ASGI middleware. `without`: what serves handshakes that carry no Authorization header."""

    def __init__(self, application: Application, without: Application) -> None:
        self.application, self.without = application, without

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        header = dict(scope["headers"]).get(b"authorization", b"").decode("latin1")
        if not header:
            await self.without(scope, receive, send)
            return
        token = await _living(header, (scope.get("client") or [None])[0])
        if token is None:
            await send({"type": "websocket.close", "code": REFUSED})
            return
        await self._serve({**scope, "user": narrowed(token)}, receive, send, header)

    async def _serve(self, scope: dict[str, Any], receive: Any, send: Any, header: str) -> None:
        serving = asyncio.ensure_future(self.application(scope, receive, send))
        try:
            while not serving.done():
                await asyncio.wait({serving}, timeout=CHECK)
                if not serving.done() and await _living(header, None) is None:
                    await send({"type": "websocket.close", "code": REFUSED})
                    return
            serving.result()
        finally:
            serving.cancel()


@database_sync_to_async
def _living(header: str, address: str | None) -> ApiToken | None:
    return token_in(header, address)

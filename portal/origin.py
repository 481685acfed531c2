"""Which pages may open a websocket: those of this portal's own origin, and those that the settings trust.

A browser sends cookies along with a websocket from any page, so the origin decides before anything is accepted. A client
that sends no origin is no browser and is judged by its sign-in alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

Application = Callable[..., Awaitable[None]]


class SameOrigin:
    """ASGI middleware: refuses a handshake from a foreign page before accept."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if is_own(dict(scope["headers"])):
            await self.application(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 4403})


def is_own(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin", b"").decode("latin1")
    if not origin:
        return True
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    return urlsplit(origin).netloc.lower() == headers.get(b"host", b"").decode("latin1").lower() != ""

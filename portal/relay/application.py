"""Routes what lies below /relay/: agents, browsers' sockets, pictures, applications."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async

from portal import streams
from portal.consumers.socket import NOT_FOUND
from portal.origin import SameOrigin

from . import access, agents, apps, sockets
from .lines import Closed
from .picture import picture

PATH = re.compile(r"^/relay/([A-Za-z0-9-]{1,80})/([a-z.]+)(/.*)?$", re.DOTALL)
_way_of_user = database_sync_to_async(access.of_user)
Handler = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    found = PATH.match(scope["path"])
    if found is None:
        await nothing(scope, receive, send)
        return
    name, part, rest = found[1], found[2], found[3] or ""
    scope = {**scope, "name": name, "rest": rest}
    if scope["type"] == "websocket":
        await _socket(part, rest)(scope, receive, send)
    elif part in {"app", "enter"}:
        await (apps.page if part == "app" else apps.enter)(scope, receive, send)
    elif part == "picture.png" and not rest:
        await _signed_in_picture(scope, receive, send)
    else:
        await nothing(scope, receive, send)


def _socket(part: str, rest: str) -> Handler:
    if part == "app":
        return apps.socket
    if rest.strip("/"):
        return nothing
    return {"agent": _agent, "desktop": _desktop, "terminal": _terminal}.get(part, nothing)


async def _agent(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await agents.serve(scope, receive, send, scope["name"])


_desktop = SameOrigin(AuthMiddlewareStack(sockets.DesktopSocket.as_asgi()))
_terminal = SameOrigin(AuthMiddlewareStack(sockets.TerminalSocket.as_asgi()))


async def _picture(scope: dict[str, Any], receive: Any, send: Any) -> None:
    way = await _way_of_user(scope["name"], scope["user"])
    if way is None or not way.acts or scope["method"] not in {"GET", "HEAD"}:  # others would look without being seen to
        await streams.reply(send, 404, "There is no such picture.")
        return
    try:
        data = await picture(scope["name"])
    except Closed as error:
        await streams.reply(send, 503, f"No picture now: {error}.")
        return
    await streams.reply(send, 200, data, [("Content-Type", "image/png"), ("Cache-Control", "private, max-age=10")])


_signed_in_picture = AuthMiddlewareStack(_picture)


async def nothing(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The answer to an address that we do not have."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": NOT_FOUND})
    else:
        await streams.reply(send, 404, "There is nothing at this address.")

"""The proxy itself: a request or a websocket of a browser, carried over a stream to the program's socket on the node.

HTTP is httpcore's and the websocket wsproto's; ours is the transport below both, a stream of the agent's line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpcore
from django.conf import settings
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, RejectConnection, Request, TextMessage
from wsproto.utilities import ProtocolError

from jobs import logs
from portal import streams
from portal.consumers.socket import AGAIN, REFUSED, off_loop

from . import lines, present
from .access import Way
from .lines import Closed, Stream

SERVICE = "app"
CHECK = 5.0
HOP = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
NOT_ANSWERED = HOP | {"service-worker-allowed", "server", "strict-transport-security"}
Pairs = list[tuple[bytes, bytes]]
_touch = off_loop(logs.touched)


# --- pages ------------------------------------------------------------------------------------------------------------
async def page(scope: dict[str, Any], receive: Any, send: Any, way: Way) -> None:
    if scope["method"] not in {"GET", "HEAD"}:
        await touched(way)
    try:
        async with _pool(scope["name"]) as pool:
            await _answered(pool, scope, receive, send)
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, Closed):
        with suppress(Exception):  # half an answer may be out already
            await streams.reply(send, 502, "The application does not answer now. It may still be starting: try again in a moment.")
    except streams.Gone:
        return


async def _answered(pool: httpcore.AsyncConnectionPool, scope: dict[str, Any], receive: Any, send: Any) -> None:
    body = streams.body(receive) if _has_body(scope) else None
    asked = httpcore.Request(scope["method"], _target(scope), headers=_asked_headers(scope), content=body)
    answer = await pool.handle_async_request(asked)

    async def pass_on() -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": _answered_headers(answer.headers, scope["name"])})
        async for piece in answer.aiter_stream():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    try:
        if body is None:
            await streams.while_there(receive, pass_on())
        else:
            await pass_on()
    finally:
        await answer.aclose()


def _has_body(scope: dict[str, Any]) -> bool:
    headers = streams.headers_of(scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _target(scope: dict[str, Any]) -> httpcore.URL:
    path = scope.get("raw_path") or quote(scope["path"]).encode()
    query = scope["query_string"]
    return httpcore.URL(scheme=b"http", host=b"app", port=80, target=path.partition(b"?")[0] + (b"?" + query if query else b""))


def _asked_headers(scope: dict[str, Any]) -> Pairs:
    """What the program may know of the request: no hop, and no cookie of ours."""
    named = {
        item.strip().lower()
        for name, value in scope["headers"]
        if name.lower() == b"connection"
        for item in value.decode("latin1").split(",")
    }
    kept = [(name, value) for name, value in scope["headers"] if name.decode("latin1").lower() not in HOP | named | {"cookie"}]
    cookies = _its_cookies(scope["headers"])
    return kept + ([(b"cookie", cookies)] if cookies else []) + [(b"x-forwarded-proto", b"https" if settings.HTTPS else b"http")]


def _its_cookies(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    ours = (b"headrace-app-", settings.SESSION_COOKIE_NAME.encode(), settings.CSRF_COOKIE_NAME.encode())
    pairs = [pair.strip() for name, value in headers if name.lower() == b"cookie" for pair in value.split(b";")]
    return b"; ".join(pair for pair in pairs if pair and not pair.startswith(ours))


def _answered_headers(headers: Pairs, name: str) -> Pairs:
    """The program's answer, its cookies held to its own paths, in no frame of another site."""
    kept = [(key.lower(), value) for key, value in headers if key.decode("latin1").lower() not in NOT_ANSWERED | {"set-cookie"}]
    cookies = [(b"set-cookie", _held(value, name)) for key, value in headers if key.lower() == b"set-cookie"]
    return kept + cookies + [(b"referrer-policy", b"same-origin"), (b"content-security-policy", b"frame-ancestors 'self'")]


def _held(cookie: bytes, name: str) -> bytes:
    parts = [part.strip() for part in cookie.split(b";")]
    base = f"/relay/{name}/app/".encode()
    asked = next((part[5:] for part in parts if part.lower().startswith(b"path=")), base)
    path = asked if asked.startswith(base) else base
    return b"; ".join([part for part in parts if not part.lower().startswith((b"path=", b"domain="))] + [b"Path=" + path])


# --- websockets -------------------------------------------------------------------------------------------------------
async def socket(scope: dict[str, Any], receive: Any, send: Any, way: Way, again: Callable[[], Awaitable[Way | None]]) -> None:
    """Carries a websocket; `again` says whether its viewer may stay, asked every CHECK seconds."""
    await receive()
    try:
        stream = await lines.line(scope["name"]).open(SERVICE)
    except Closed:
        await send({"type": "websocket.close", "code": AGAIN})
        return
    talk = _Talk(stream, receive, send, way)
    try:
        if await talk.begun(scope):
            with present.connected(way):
                await _first_of(talk.down(), talk.up(), _while_allowed(again, send))
    except (Closed, ProtocolError):
        with suppress(Exception):
            await send({"type": "websocket.close", "code": AGAIN})
    finally:
        await stream.close()


async def _first_of(*parts: Any) -> None:
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _while_allowed(again: Callable[[], Awaitable[Way | None]], send: Any) -> None:
    while await again():
        await asyncio.sleep(CHECK)
    await send({"type": "websocket.close", "code": REFUSED})


class _Talk:
    """Two websockets tied together: the browser's by ASGI, the program's over a stream."""

    def __init__(self, stream: Stream, receive: Any, send: Any, way: Way) -> None:
        self.stream, self.receive, self.send, self.way = stream, receive, send, way
        self.program = WSConnection(ConnectionType.CLIENT)

    async def begun(self, scope: dict[str, Any]) -> bool:
        """Whether the program took it."""
        skipped = {b"sec-websocket-key", b"sec-websocket-version", b"sec-websocket-extensions", b"sec-websocket-protocol", b"host"}
        extra = [(name, value) for name, value in _asked_headers(scope) if name.lower() not in skipped]
        target = _target(scope).target.decode("latin1")
        asked = Request(
            streams.headers_of(scope).get("host", "app"), target, extra_headers=extra, subprotocols=list(scope.get("subprotocols") or [])
        )
        await self.stream.write(self.program.send(asked))
        while True:
            self._fed(await self.stream.read())
            for event in self.program.events():
                if isinstance(event, AcceptConnection):
                    await self.send({"type": "websocket.accept", "subprotocol": event.subprotocol})
                    return True
                if isinstance(event, RejectConnection):
                    await self.send({"type": "websocket.close", "code": REFUSED})
                    return False

    async def down(self) -> None:
        parts: list[Any] = []
        while True:
            for event in self.program.events():
                if isinstance(event, TextMessage | BytesMessage):
                    parts.append(event.data)
                    if event.message_finished:
                        await self._shown(parts)
                        parts = []
                elif isinstance(event, Ping):
                    await self.stream.write(self.program.send(event.response()))
                elif isinstance(event, CloseConnection):
                    await self.send({"type": "websocket.close", "code": event.code if event.code >= 3000 else 1000})
                    return
            self._fed(await self.stream.read())

    async def up(self) -> None:
        while True:
            message = await self.receive()
            if message["type"] == "websocket.disconnect":
                with suppress(Closed, ProtocolError):
                    await self.stream.write(self.program.send(CloseConnection(1000)))
                return
            await touched(self.way)
            text = message.get("text")
            event = TextMessage(text) if text is not None else BytesMessage(message.get("bytes") or b"")
            await self.stream.write(self.program.send(event))

    async def _shown(self, parts: list[Any]) -> None:
        if isinstance(parts[0], str):
            await self.send({"type": "websocket.send", "text": "".join(parts)})
        else:
            await self.send({"type": "websocket.send", "bytes": b"".join(parts)})

    def _fed(self, data: bytes) -> None:
        if not data:
            raise Closed("the application went away")
        self.program.receive_data(data)


async def touched(way: Way) -> None:
    with suppress(OSError):
        await _touch(logs.attempt_dir(way.public_id, way.attempt))


# --- the transport below ----------------------------------------------------------------------------------------------
def _pool(name: str) -> httpcore.AsyncConnectionPool:
    return httpcore.AsyncConnectionPool(max_connections=1, network_backend=_Node(name))


class _Node(httpcore.AsyncNetworkBackend):
    """Connections that are streams of a workstation's line."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def connect_tcp(self, host: str, port: int, *more: Any, **options: Any) -> Any:
        """Whatever host is named: there is only the one program."""
        try:
            return _Connection(await lines.line(self.name).open(SERVICE))
        except Closed as error:
            raise httpcore.ConnectError(str(error)) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Connection(httpcore.AsyncNetworkStream):
    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._rest = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._rest or await self.stream.read(max_bytes)
        self._rest = data[max_bytes:]
        return data[:max_bytes]

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            await self.stream.write(buffer)
        except Closed as error:
            raise httpcore.WriteError(str(error)) from error

    async def aclose(self) -> None:
        await self.stream.close()

    def get_extra_info(self, info: str) -> Any:
        return None

"""Connections that wait: the gate before the transport, the inbox before the application.

The one idea: Twisted says when its transport is full and can stop reading a socket; Daphne uses neither.
A gate makes a send wait for the first, an inbox uses the second while the application lags. Requests
start at the end of their headers; what comes of the body goes by the inbox.
"""

import daphne.server  # isort:skip  # noqa: F401 (first: it chooses Twisted's event loop)

import asyncio
from collections.abc import Callable
from io import BytesIO
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import reactor
from twisted.internet.interfaces import IPushProducer
from twisted.web import http
from zope.interface import implementer

INBOX_FULL = 256 << 10  # bytes waiting for the application at which the socket is paused
INBOX_LOW = 64 << 10
MESSAGE_COST = 256  # bytes that any message counts, so that many empty ones fill the inbox too
DRAIN_SECONDS = 2.0  # how long, and
DRAIN_BYTES = 8 << 20  # how much of an unwanted body is read, so that the client gets to read the answer


@implementer(IPushProducer)
class Gate:
    """Open while the transport takes more bytes; Twisted calls pause and resume."""

    def __init__(self, transport: Any = None):
        self.transport = transport
        self._open = asyncio.Event()
        self._open.set()

    async def passed(self) -> None:
        """Returns once the transport has room, or is gone."""
        await self._open.wait()

    def pauseProducing(self) -> None:
        self._open.clear()

    def resumeProducing(self) -> None:
        self._open.set()
        if getattr(self.transport, "disconnecting", False):
            self.transport.unregisterProducer()  # else Twisted never closes it

    stopProducing = resumeProducing


class Inbox(asyncio.Queue):
    """Messages for one application; `throttle(True)` is called when it lags, `throttle(False)` when not."""

    def __init__(self, throttle: Callable[[bool], None]):
        super().__init__()
        self._throttle, self._held, self._paused = throttle, 0, False

    def put_nowait(self, message: dict[str, Any]) -> None:
        """Daphne's own, whole body (always empty here) is left out: `feed` brings the real one."""
        if message["type"] != "http.request":
            super().put_nowait(message)

    def feed(self, body: bytes, more: bool) -> None:
        super().put_nowait({"type": "http.request", "body": body, "more_body": more})

    def _put(self, item: dict[str, Any]) -> None:
        super()._put(item)
        self._held += _weight(item)
        if self._held > INBOX_FULL and not self._paused:
            self._paused = True
            self._throttle(True)

    def _get(self) -> dict[str, Any]:
        item = super()._get()
        self._held -= _weight(item)
        if self._held < INBOX_LOW and self._paused:
            self._paused = False
            self._throttle(False)
        return item


def _weight(message: dict[str, Any]) -> int:
    return MESSAGE_COST + len(message.get("body") or message.get("bytes") or message.get("text") or "")


class Channel(http.HTTPChannel):
    """One HTTP connection: starts a request at the end of its headers instead of its body."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()
        self.lagging = False

    def allHeadersReceived(self) -> None:
        super().allHeadersReceived()
        self.requests[-1].begin(self._command, self._path, self._version, self.length)

    def pauseProducing(self) -> None:
        self.gate.pauseProducing()
        super().pauseProducing()

    def resumeProducing(self) -> None:
        self.gate.resumeProducing()
        super().resumeProducing()
        if self.lagging:
            self._networkProducer.pauseProducing()

    def connectionLost(self, reason: Any) -> None:
        self.gate.resumeProducing()
        super().connectionLost(reason)

    def throttle(self, lagging: bool) -> None:
        """Stops or goes on reading from the socket; an application that lags is no idle client."""
        self.lagging = lagging
        if lagging:
            self._networkProducer.pauseProducing()
            self.setTimeout(None)
        elif not self._waitingForTransport or self._handlingRequest:
            self._networkProducer.resumeProducing()
            self.setTimeout(None if self._handlingRequest else self.timeOut)


class Request(WebRequest):
    """One HTTP request; Daphne checks its headers and makes its scope, the body goes by the inbox."""

    whole = False  # the body has come to its end
    drained = 0
    drain: Any = None

    def begin(self, method: bytes, uri: bytes, version: bytes, length: int | None) -> None:
        self.method, self.uri, self.clientproto = method, uri, version
        self.path, self.args, self.gate = uri.split(b"?", 1)[0], {}, self.channel.gate
        if length != 0:
            self.requestHeaders.removeHeader(b"Upgrade")  # a handshake has no body
        self.process()

    def gotLength(self, length: int | None) -> None:
        self.content = BytesIO()  # what Daphne looks at; stays empty

    def handleContentChunk(self, data: bytes) -> None:
        if self.application_queue is not None and not self.finished:
            self.application_queue.feed(data, True)
        elif (drained := self.drained + len(data)) > DRAIN_BYTES:
            self._give_up()
        else:
            self.drained = drained

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        self.whole = True
        if self.application_queue is not None:
            self.application_queue.feed(b"", False)
        if self.finished and self.drain:
            self._end_drain()
            super()._cleanup()

    def throttle(self, lagging: bool) -> None:
        if getattr(self, "channel", None) is not None:
            self.channel.throttle(lagging)

    def connectionLost(self, reason: Any) -> None:
        self._end_drain()
        super().connectionLost(reason)

    def _cleanup(self) -> None:
        """Called when all is answered: an answer before the body's end reads the rest first."""
        if self.whole or self.channel is None:
            super()._cleanup()
            return
        self.drain = reactor.callLater(DRAIN_SECONDS, self._give_up)
        self.channel.throttle(False)

    def _give_up(self) -> None:
        if self.drain and self.channel is not None:
            self._end_drain()
            self.channel.persistent = False
            reactor.callLater(0, self._close)

    def _close(self) -> None:
        if self.channel is not None:
            super()._cleanup()

    def _end_drain(self) -> None:
        if self.drain and self.drain.active():
            self.drain.cancel()
        self.drain = None


class Socket(WebSocketProtocol):
    """One websocket, with a gate and an inbox like a request's.

    A message goes to the kernel at once if nothing waits before it: a turn of the loop and two calls of epoll
    less. And Autobahn words every read and write for a log that nobody keeps: a third of its time.
    """

    def connectionMade(self) -> None:
        super().connectionMade()
        self.gate = Gate(self.transport)
        self.transport.unregisterProducer()
        self.transport.registerProducer(self.gate, True)

    def connectionLost(self, reason: Any = None) -> None:
        self.gate.resumeProducing()
        super().connectionLost(reason)

    def dataReceived(self, data: bytes) -> None:
        self._dataReceived(data)

    def sendData(self, data: bytes, sync: bool = False, chopsize: int | None = None) -> None:
        if sync or chopsize or self.send_queue or self.state != self.STATE_OPEN:
            super().sendData(data, sync, chopsize)
        elif rest := self._send_now(data):
            self.transport.write(rest)

    def _send_now(self, data: bytes) -> bytes:
        """What the kernel did not take; all of it where something waits already, or the transport has no such call (TLS)."""
        transport = self.transport
        waits = getattr(transport, "dataBuffer", True) or transport._tempDataBuffer or not transport.connected or transport.disconnecting
        taken = 0 if waits else transport.writeSomeData(data)
        return data[taken:] if isinstance(taken, int) and taken > 0 else data

    def throttle(self, lagging: bool) -> None:
        if lagging:
            self.transport.pauseProducing()
        else:
            self.transport.resumeProducing()


class Sockets(WebSocketFactory):
    protocol = Socket


class Requests(HTTPFactory):
    protocol = Channel

    def buildProtocol(self, addr: Any) -> Any:
        made = super().buildProtocol(addr)
        made.requestFactory = Request
        return made

"""The web server: Daphne, made to wait for slow peers in both directions.

The one idea: Daphne hands an application the whole body at once and takes whatever it sends at once, so
one slow reader or one big upload fills the memory. Here `await send()` returns when the transport has
room again (the gate), and body bytes reach the application as they arrive, with the socket paused while
the application lags (the inbox). Nothing that runs on this server may depend on it: any ASGI server does.

`python -m portal.server --host 127.0.0.1 --port 8000` serves until SIGTERM or SIGINT, then lets what is
under way end for a few seconds.
"""

from daphne.server import Server as Daphne  # isort:skip (first: it chooses Twisted's event loop)

import argparse
import asyncio
import logging
import os
import resource
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import daphne.server
from daphne.endpoints import build_endpoint_description_strings
from twisted.internet.defer import Deferred, maybeDeferred

from portal.connections import Inbox, Requests, Socket, Sockets

log = logging.getLogger(__name__)

TURN = 64  # sends after which the loop gets a turn, so that one long row of sends starves nobody
LEAVE_SECONDS = 4.0  # what requests get to end when the server is told to stop
PATIENCE = 30  # seconds that a handshake may take: after a restart every open page comes back at once
GOING_AWAY = 1001


class Server(Daphne):
    """Daphne with our protocols, a fair send, and an orderly end."""

    def __init__(self, *args: Any, on_leave: Callable[[], None] | None = None, **options: Any):
        super().__init__(*args, **options)
        self.on_leave, self.failed, self._sends = on_leave, False, 0
        self.ports: list[Any] = []

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Inbox | None:
        if protocol not in self.connections:
            return None
        scope.setdefault("asgi", {"version": "3.0"})
        inbox = Inbox(protocol.throttle)
        running = self.application(scope=scope, receive=inbox.get, send=partial(self.handle_reply, protocol))
        self.connections[protocol]["application_instance"] = asyncio.ensure_future(running)
        return inbox

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        await super().handle_reply(protocol, message)
        await protocol.gate.passed()
        self._sends += 1
        if self._sends % TURN == 0:
            await asyncio.sleep(0)

    def protocol_disconnected(self, protocol: Any) -> None:
        if protocol in self.connections:
            super().protocol_disconnected(protocol)

    def listen_success(self, port: Any) -> None:
        self.ports.append(port)
        super().listen_success(port)

    def listen_error(self, failure: Any) -> None:
        self.failed = True
        super().listen_error(failure)

    def kill_all_applications(self) -> Deferred:
        """Called before the loop stops: no new connections, sockets told, requests given a while."""
        return Deferred.fromFuture(asyncio.ensure_future(self._leave()))

    async def _leave(self) -> None:
        for port in self.ports:
            maybeDeferred(port.stopListening)
        if self.on_leave:
            self.on_leave()
        for protocol in list(self.connections):
            if isinstance(protocol, Socket) and protocol.state == protocol.STATE_OPEN:
                protocol.sendCloseFrame(code=GOING_AWAY, isReply=False)  # sendClose takes only codes of applications
        running = [one["application_instance"] for one in self.connections.values() if "application_instance" in one]
        if running:
            _, late = await asyncio.wait(running, timeout=LEAVE_SECONDS)
            for application in late:
                application.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def serve(application: Any, host: str, port: int, **options: Any) -> int:
    """Serves an ASGI application until the process is told to stop; 1 if the address can't be had."""
    _allow_many_files()
    endpoints = [f"{one}:backlog=1024" for one in build_endpoint_description_strings(host=host, port=port)]
    daphne.server.HTTPFactory, daphne.server.WebSocketFactory = Requests, Sockets  # it takes them from there only
    patience = {"websocket_handshake_timeout": PATIENCE, "websocket_connect_timeout": PATIENCE}
    server = Server(application, endpoints=endpoints, server_name="", **patience, **options)
    server.run()
    return int(server.failed)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="portal.server", description="Serves the portal.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--behind-proxy", action="store_true", help="trust X-Forwarded-For and X-Forwarded-Proto")
    given = parser.parse_args(argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    from portal.asgi import application

    proxy = {
        "proxy_forwarded_address_header": "X-Forwarded-For",
        "proxy_forwarded_proto_header": "X-Forwarded-Proto",
    }
    return serve(application, given.host, given.port, on_leave=_leave_hub, **(proxy if given.behind_proxy else {}))


def _leave_hub() -> None:
    from portal import live

    live.hub.close()


def _allow_many_files() -> None:
    """Every socket is an open file; the usual soft limit of 1,024 is below a busy portal."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    sys.exit(main())

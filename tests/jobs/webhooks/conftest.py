"""A receiver on this machine that the tests allow, and hooks of the cast."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from jobs.models import Webhook, WebhookDelivery


class Receiver:
    """Keeps what it gets. `codes` are its next answers; then `code`. `held`: answers only once it is set."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.codes: list[int] = []
        self.code, self.more, self.held = 204, {}, threading.Event()
        self.held.set()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=1"

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    def close(self) -> None:
        self.held.set()
        self.server.shutdown()
        self.server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                outer.held.wait(30)
                self.send_response(outer.codes.pop(0) if outer.codes else outer.code)
                for name, value in outer.more.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        return Handler


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.1"]
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def hook(owner, receiver):
    """The owner's own, with its secret as `.text`."""
    made, made.text = (pair := Webhook.make(owner, receiver.url))[0], pair[1]
    return made


@pytest.fixture
def waiting(db):
    """The rows that are still to be sent."""
    return lambda: list(WebhookDelivery.objects.filter(due__isnull=False).order_by("pk"))

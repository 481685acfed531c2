"""One call: a POST to an address that people chose, to where its name was found to lead, and back within seconds.

One idea: httpcore opens its connections through `Guarded`, which looks the name up once, judges what it finds and connects to
exactly that; the certificate is still asked for by name. Nothing of the answer is kept but its status, no redirect is
followed, no proxy of the environment is asked, and the whole call has one deadline, however slowly the other side speaks.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import certifi
import httpcore

from . import addresses

SECONDS = 10.0
"""A whole call may take."""


@dataclass(frozen=True)
class Answer:
    """`code` None: there was no answer, and `error` says why. `ms` is how long it took."""

    code: int | None
    error: str
    ms: int

    @property
    def good(self) -> bool:
        return self.code is not None and 200 <= self.code < 300


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float = SECONDS) -> Answer:
    """Send it. Never raises for what the other side does or is."""
    begun = time.monotonic()
    try:
        code, error = _sent(url, body, headers, seconds), ""
    except addresses.Forbidden as refused:
        code, error = None, str(refused)
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, httpcore.UnsupportedProtocol, OSError) as broken:
        code, error = None, _words(broken, seconds)
    if code is not None and 300 <= code < 400:
        error = "It redirects, which is not followed: give the address that it leads to."
    return Answer(code, error, round((time.monotonic() - begun) * 1000))


class Guarded(httpcore.NetworkBackend):
    """Connections to judged addresses only, all of whose waiting ends `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        found = addresses.looked_up(host, port)
        for number, address in enumerate(found, 1):
            try:
                return Timed(self.plain.connect_tcp(address, port, self.left() / (len(found) - number + 1)), self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(found):
                    raise
        raise httpcore.ConnectError("It has no address.")

    def left(self) -> float:
        """Seconds. Raises ReadTimeout once there are none."""
        rest = self.end - time.monotonic()
        if rest <= 0:
            raise httpcore.ReadTimeout("too slow")
        return rest


class Timed(httpcore.NetworkStream):
    """A stream whose every step ends by the deadline of its call."""

    def __init__(self, stream: httpcore.NetworkStream, guard: Guarded) -> None:
        self.stream, self.guard = stream, guard

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, self.guard.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, self.guard.left())

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return Timed(self.stream.start_tls(ssl_context, server_hostname, self.guard.left()), self.guard)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


# --- private ----------------------------------------------------------------------------------------------------------
def _sent(url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
    known = {
        "Host": urlsplit(url).netloc,
        "Content-Type": "application/json",
        "User-Agent": "Headrace-Webhook/1",
        "Connection": "close",
        **headers,
    }
    guard = Guarded(seconds)
    with (
        httpcore.ConnectionPool(ssl_context=_trust(), network_backend=guard, retries=0, keepalive_expiry=0) as pool,
        pool.stream("POST", url, headers=known, content=body) as answer,
    ):
        return int(answer.status)


@cache
def _trust() -> ssl.SSLContext:
    """The system's certificates (or SSL_CERT_FILE's) and those of certifi."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _words(error: Exception, seconds: float) -> str:
    """What went wrong, for people; nothing that the other side wrote."""
    text = str(error)
    if isinstance(error, httpcore.TimeoutException):
        return f"It did not answer within {seconds:g} s."
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "Its certificate is not one to trust."
    if isinstance(error, httpcore.ConnectError):
        return "It takes no connection."
    if isinstance(error, OSError):
        return "Its name leads nowhere."
    return "What it answered is no HTTP." if isinstance(error, httpcore.ProtocolError) else "The connection broke."

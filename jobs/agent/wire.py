"""Talking to the portal: one kept-alive connection a thread, answers as values, silence as Unreachable.

The one idea: every report may be sent twice without harm, so whatever goes wrong under way is answered by sending it again.
"""
import http.client
import json
import random
import threading
import time
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional
from urllib.parse import quote_from_bytes

from . import PROTOCOL
from .address import Address
from .config import Config

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0  # seconds between tries
FULL_PATIENCE = 600.0  # seconds to wait for room on the portal's disk before a file is given up
_MEANT = (200, 400, 409, 413, 507)  # codes that say something of the report itself; the others are worth another try
TIMEOUT = 40.0  # seconds for an answer; the portal holds a request for up to 25
_NAP = 0.05


class Unreachable(Exception):
    """No answer, half an answer, or one that says "later"."""


class Missing(Unreachable):
    """The portal has nothing under this address (404)."""


class Released(Exception):
    """The portal said 410: everything here is over."""


class Answer(NamedTuple):
    """A whole answer of the portal: its status and JSON body ({} when it had none)."""

    code: int
    body: Dict[str, Any]


class Portal:
    """The way to the portal, shared by all threads of the reporter.

    `heard` gets each answer's orders; `over` is set once the portal released us.
    """

    def __init__(self, config: Config, heard: Callable[[Dict[str, Any]], None], log: Callable[[str], None]) -> None:
        self.config = config
        self.over = threading.Event()
        self._heard = heard
        self._log = log
        self.address = Address(config)
        self._local = threading.local()
        self._answers = 0  # an answer to any thread ends the others' pauses
        self.tls = self._context()  # of every connection to the portal, None where it speaks plain HTTP

    def insist(self, report: str, body: Any = None, give_up: Optional[Callable[[], bool]] = None) -> Answer:
        """Sends a JSON report until the portal takes it (200) or `give_up()`; then code 0. Raises Released.

        A body that ages is given as a function.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                answer = self.call(report, body() if callable(body) else body)
                if answer.code == 200:
                    return answer
                self._log("%s: %d %s" % (report, answer.code, answer.body))
            except Unreachable as error:
                self._log("%s: %s" % (report, error))
            if give_up and give_up():
                return Answer(0, {})
            self.wait(pause)
            pause = longer(pause)

    def call(self, report: str, body: Any = None, data: Optional[bytes] = None, method: str = "POST", **query: Any) -> Answer:
        """One request, one answer. Raises Unreachable (worth another try) or Released."""
        if data is None and body is not None:
            data = json.dumps(body).encode("ascii")
        response = self._exchange(method, report + _query(query), data or b"", {})
        answer = Answer(response.status, _parsed(self._read(response)))
        return self._judge(answer)

    def ask(self, report: str, body: Any, check: Callable[[], None]) -> Answer:
        """Sends a JSON report until the portal says something of it, be it no. Raises Released or what check() raises."""
        pause = FIRST_PAUSE
        while True:
            check()
            try:
                return self.call(report, body)
            except Missing as error:
                return Answer(404, {"message": str(error)})
            except Unreachable as error:
                self._log("%s: %s" % (report, error))
            self.wait(pause)
            pause = longer(pause)

    def tell(self, report: str, body: Any = None, method: str = "POST", **query: Any) -> None:
        """Sends a report that can't be refused. Raises Unreachable or Released."""
        answer = self.call(report, body, method=method, **query)
        if answer.code != 200:
            raise Unreachable("%s: %d %s" % (report, answer.code, answer.body))

    def stream(self, path: str, start: int) -> http.client.HTTPResponse:
        """A GET whose body the caller reads, from an offset on. Raises Unreachable or Released."""
        response = self._exchange("GET", path, b"", {"Range": "bytes=%d-" % start} if start else {})
        if response.status not in (200, 206, 416):
            answer = Answer(response.status, _parsed(self._read(response)))
            if answer.code == 404:
                raise Missing(path)
            self._judge(answer)
            raise Unreachable("%s: %d" % (path, answer.code))
        return response

    def drop(self) -> None:
        """Closes this thread's connection; the next call opens another."""
        connection = getattr(self._local, "connection", None)
        if connection:
            connection.close()
        self._local.connection = None

    def wait(self, seconds: float) -> None:
        """A pause that ends early when another thread reached the portal. Raises Released."""
        before, until = self._answers, time.monotonic() + seconds
        while time.monotonic() < until and self._answers == before:
            self.check()
            time.sleep(_NAP)  # sleeps by the monotonic clock, as a Condition would not in older Pythons
        self.check()

    def check(self) -> None:
        """Raises Released once the portal let us go."""
        if self.over.is_set():
            raise Released()

    def _judge(self, answer: Answer) -> Answer:
        if answer.code == 410:
            self.release()
            raise Released()
        if answer.code == 404:
            raise Missing(answer.body.get("message") or "the portal knows nothing of it")
        if answer.code not in _MEANT:
            raise Unreachable("the portal says %d %s" % (answer.code, answer.body.get("message", "")))
        self._answers += 1
        orders = answer.body.get("orders")
        if isinstance(orders, dict):
            self._heard(orders)
        return answer

    def release(self) -> None:
        """Everything here is over; every thread that waits finds out."""
        self.over.set()

    def _exchange(self, method: str, path: str, data: bytes, headers: Dict[str, str]) -> http.client.HTTPResponse:
        self.check()
        headers = dict(headers)
        headers["Authorization"] = "Bearer " + self.config.secret
        headers["Headrace-Protocol"] = str(PROTOCOL)
        reused = getattr(self._local, "connection", None) is not None
        try:
            return self._send(method, path, data, headers)
        except Unreachable:
            if not reused:
                raise
        return self._send(method, path, data, headers)  # the portal may have closed the idle connection

    def _send(self, method: str, path: str, data: bytes, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        connection = getattr(self._local, "connection", None) or self._connect()
        self._local.connection = connection
        try:
            connection.request(method, self._place() + path, body=data or None, headers=headers)
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.drop()
            if self.address.look_again():
                self._log("the portal is at %s now" % self.address.url)
            raise Unreachable("%s: %s" % (type(error).__name__, error)) from error

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            self.drop()
            raise Unreachable("%s: %s" % (type(error).__name__, error)) from error

    def _place(self) -> str:
        return "%s/nodes/%s/%d/" % (self.address.parts.path, self.config.token, self.config.node)

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self.address.parts.hostname or "", self.address.parts.port
        if self.tls:
            return http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=self.tls)
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT)

    def _context(self) -> Any:
        if self.address.parts.scheme != "https":
            return None
        import ssl  # 30 ms that a plain portal does not cost

        return ssl.create_default_context(cafile=self.config.ca)


def patient(portal: Portal, check: Callable[[], None], report: str, data: bytes, **query: Any) -> Answer:
    """Sends until the portal says something of it; waits for room on its disk, but not for ever. Raises Missing for a copy
    of a home that the portal has given up; anything else that it does not know, it may know again."""
    pause = FIRST_PAUSE
    full_since: Optional[float] = None
    while True:
        check()
        try:
            answer = portal.call(report, data=data, **query)
            if answer.code != 507:
                return answer
            full_since = full_since or time.monotonic()
            if time.monotonic() - full_since > FULL_PATIENCE:
                return answer
        except Missing:
            if report.startswith("home/"):
                raise
        except Unreachable:
            pass
        portal.wait(pause)
        pause = longer(pause)


def longer(pause: float) -> float:
    """The pause after this one: growing, bounded, and not the same on every node."""
    return min(pause * 1.7, LONGEST_PAUSE) * random.uniform(0.8, 1.0)


def raw(text: str) -> bytes:
    """A name as the file system has it; raises UnicodeEncodeError for what no file can be called."""
    return text.encode("utf-8", "surrogateescape")


def text(name: bytes) -> str:
    """A file's name for JSON: bytes that are no UTF-8 become lone surrogates."""
    return name.decode("utf-8", "surrogateescape")


def _query(values: Mapping[str, Any]) -> str:
    parts = ["%s=%s" % (key, quote_from_bytes(raw(str(value)), safe="")) for key, value in values.items() if value is not None]
    return "?" + "&".join(parts) if parts else ""


def _parsed(data: bytes) -> Dict[str, Any]:
    try:
        body = json.loads(data.decode("utf-8"))
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}

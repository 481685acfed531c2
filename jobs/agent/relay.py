"""The way from the portal into a session: one websocket that the agent dials, with many streams in it.

The one idea: credit. Each side may send so many bytes of a stream as the other has granted, so a viewer that sleeps
stops its own stream and nobody else's, and neither side ever holds much.

A message is a frame: `type u8 | stream u32 | payload`. The portal opens streams; a cut of the websocket ends them all.
"""
import select
import socket
import struct
import time
from typing import Callable, Dict, Optional

from . import PROTOCOL, doors, inputs, websocket
from .config import Config
from .folder import Refused
from .websocket import BINARY, PING, Websocket
from .wire import Portal, longer

OPEN, OPENED, DATA, CREDIT, CLOSE = 1, 2, 3, 4, 5
CREDIT_AT_FIRST = 256 << 10  # bytes that each side may send on a new stream
PIECE = 64 << 10  # bytes of a DATA frame
MOST_STREAMS = 1000
_GRANT = 64 << 10  # bytes consumed that are worth a CREDIT frame
_FULL = 512 << 10  # bytes queued towards the portal at which no session is read
_PING, _SILENCE = 20.0, 50.0  # seconds between pings, and without any word until the way counts as cut
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0  # seconds between tries


class Relay:
    """Keeps the websocket; run() is a thread's life. `input_at`: when somebody last used the session (time.time()) or None."""

    def __init__(self, config: Config, portal: Portal, log: Callable[[str], None]) -> None:
        self.input_at: Optional[float] = None
        self._config, self._portal, self._log = config, portal, log

    def run(self) -> None:
        """Until released: connects, relays, connects again. Raises Released."""
        pause = _FIRST_PAUSE
        while True:
            self._portal.check()
            began = time.monotonic()
            try:
                self._one()
            except OSError as error:
                self._log("relay: %s" % (error or type(error).__name__))
                if isinstance(error, websocket.Refused) and error.code == 410:
                    self._portal.release()
            if time.monotonic() - began > _LONGEST_PAUSE:
                pause = _FIRST_PAUSE
            self._portal.wait(pause)
            pause = min(longer(pause), _LONGEST_PAUSE)

    def _one(self) -> None:
        """One connection's life."""
        config = self._config
        headers = {
            "Authorization": "Bearer " + config.secret, "Headrace-Protocol": str(PROTOCOL), "Headrace-Token": config.token,
            "Headrace-Node": str(config.node),
        }
        address = "%s/relay/%s/agent" % (self._portal.address.url, config.token.rsplit("-", 1)[0])
        line = websocket.connect(address, headers, self._portal.tls)
        way = Way(line, config, self._used)
        try:
            way.live(self._portal.check)
        finally:
            way.close()

    def _used(self) -> None:
        self.input_at = time.time()


class Stream:
    """A connection into the session. `credit`: bytes that may still go to the portal; `waiting`: bytes for the session."""

    def __init__(self, number: int, connection: socket.socket, watcher: inputs.Watcher) -> None:
        self.number, self.connection, self.watcher = number, connection, watcher
        self.credit = CREDIT_AT_FIRST
        self.waiting = bytearray()
        self.consumed = 0  # bytes for which the portal was granted no new credit yet
        self.closing = False  # the portal closed it; what waits still goes to the session


class Way:
    """The streams of one websocket."""

    def __init__(self, line: Websocket, config: Config, used: Callable[[], None]) -> None:
        self._line, self._config, self._used = line, config, used
        self._streams: Dict[int, Stream] = {}
        self._by_fd: Dict[int, Stream] = {}
        self._heard_at = self._pinged_at = time.monotonic()

    def live(self, check: Callable[[], None]) -> None:
        """Until the websocket breaks (OSError) or check() raises."""
        while True:
            check()
            self._keep_alive()
            happened = self._poll()
            for fd, event in happened.items():
                if fd != self._line.connection.fileno() and fd in self._by_fd:
                    self._session_moves(self._by_fd[fd], event)
            event = happened.get(self._line.connection.fileno(), 0)
            if event & ~select.POLLOUT or self._line.more:
                self._portal_speaks()
            self._line.flush()

    def close(self) -> None:
        """Everything, without a word."""
        for stream in self._streams.values():
            stream.connection.close()
        self._line.close()

    def _keep_alive(self) -> None:
        now = time.monotonic()
        if now - self._heard_at > _SILENCE:
            raise ConnectionError("nothing heard from the portal")
        if now - self._pinged_at > _PING:
            self._pinged_at = now
            self._line.send(b"", PING)

    def _poll(self) -> Dict[int, int]:
        poll = select.poll()
        poll.register(self._line.connection, select.POLLIN | (select.POLLOUT if self._line.waiting else 0))
        full = self._line.waiting > _FULL
        for stream in self._streams.values():
            events = select.POLLIN if stream.credit and not full and not stream.closing else 0
            events |= select.POLLOUT if stream.waiting else 0
            if events:
                poll.register(stream.connection, events)
        return dict(poll.poll(0 if self._line.more else 1000))

    def _portal_speaks(self) -> None:
        for message in self._line.receive():
            if message.kind == BINARY and len(message.data) >= 5:
                kind, number = struct.unpack(">BI", message.data[:5])
                self._frame(kind, number, message.data[5:])
        self._heard_at = time.monotonic()

    def _frame(self, kind: int, number: int, payload: bytes) -> None:
        if kind == OPEN:
            self._open(number, payload.decode("utf-8", "replace"))
            return
        stream = self._streams.get(number)
        if stream is None or stream.closing:
            return  # closed by us while this was under way
        if kind == DATA:
            self._data(stream, payload)
        elif kind == CREDIT and len(payload) == 4:
            stream.credit += struct.unpack(">I", payload)[0]
        elif kind == CLOSE:
            stream.closing = True
            if not stream.waiting:
                self._forget(stream)

    def _open(self, number: int, service: str) -> None:
        if number in self._streams or len(self._streams) >= MOST_STREAMS:
            self._say(CLOSE, number, b"too many connections")
            return
        try:
            connection = doors.connect(self._config, service)
        except (OSError, Refused) as error:
            self._say(CLOSE, number, ("the %s does not answer: %s" % (service, getattr(error, "strerror", None) or error)).encode("utf-8"))
            return
        stream = Stream(number, connection, inputs.watcher(service))
        self._streams[number] = self._by_fd[connection.fileno()] = stream
        self._say(OPENED, number)

    def _data(self, stream: Stream, payload: bytes) -> None:
        if stream.watcher.heard(payload):
            self._used()
        stream.waiting += payload
        if len(stream.waiting) > CREDIT_AT_FIRST + PIECE:
            self._end(stream, b"more than was granted")
            return
        self._to_session(stream)

    def _to_session(self, stream: Stream) -> None:
        """What the session takes now, and credit for it."""
        try:
            sent = stream.connection.send(stream.waiting)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(stream, (error.strerror or "").encode("utf-8"))
            return
        del stream.waiting[:sent]
        if stream.closing:
            if not stream.waiting:
                self._forget(stream)
            return
        stream.consumed += sent
        if stream.consumed >= _GRANT:
            self._say(CREDIT, stream.number, struct.pack(">I", stream.consumed))
            stream.consumed = 0

    def _session_moves(self, stream: Stream, event: int) -> None:
        if event & select.POLLOUT and stream.waiting:
            self._to_session(stream)
        if not event & ~select.POLLOUT or stream.number not in self._streams:
            return
        if stream.closing:
            self._forget(stream)
            return
        if not stream.credit:
            if event & (select.POLLERR | select.POLLNVAL):
                self._end(stream)
            return
        try:
            data = stream.connection.recv(min(PIECE, stream.credit))
        except BlockingIOError:
            return
        except OSError as error:
            self._end(stream, (error.strerror or "").encode("utf-8"))
            return
        if not data:
            self._end(stream)
            return
        stream.credit -= len(data)
        self._say(DATA, stream.number, data)

    def _end(self, stream: Stream, reason: bytes = b"") -> None:
        if not stream.closing:
            self._say(CLOSE, stream.number, reason)
        self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream.number, None)
        self._by_fd.pop(stream.connection.fileno(), None)
        stream.connection.close()

    def _say(self, kind: int, number: int, payload: bytes = b"") -> None:
        self._line.send(struct.pack(">BI", kind, number) + payload)

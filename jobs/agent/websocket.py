"""A client's end of a websocket (RFC 6455), for one thread around poll().

The one idea: nothing here waits once the connection is open. What is to be sent is queued and goes as the network takes
it; what arrives is handed over as whole messages.
"""
import base64
import hashlib
import os
import socket
import struct
from collections import deque
from typing import Any, Deque, Dict, List, NamedTuple, Optional
from urllib.parse import urlsplit

CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3
_PATIENCE = 10.0  # seconds for each step of opening
_MOST = 1 << 20  # bytes of a message
_READ = 1 << 18  # bytes taken in at a time
_TABLES: Dict[int, bytes] = {}


class Refused(OSError):
    """The other side answered, but not with a websocket: `code` is its HTTP status."""

    def __init__(self, code: int) -> None:
        super().__init__("the portal answered %d" % code)
        self.code = code


class Message(NamedTuple):
    """A whole message."""

    kind: int
    data: bytes


def connect(address: str, headers: Dict[str, str], tls: Any = None) -> "Websocket":
    """Opens a websocket at an http(s) address. Raises OSError, or Refused for another answer."""
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            connection = tls.wrap_socket(connection, server_hostname=parts.hostname)
        rest = _shake_hands(connection, parts.netloc, parts.path, headers)
        connection.setblocking(False)
        return Websocket(connection, rest)
    except BaseException:
        connection.close()
        raise


class Websocket:
    """An open connection; raises OSError from any call once it is broken."""

    def __init__(self, connection: socket.socket, rest: bytes = b"") -> None:
        self.connection = connection
        self.more = bool(rest)  # bytes came that poll() will not tell of
        self.waiting = 0  # bytes queued
        self._queue: Deque[memoryview] = deque()
        self._heard = bytearray(rest)
        self._parts: List[bytes] = []
        self._kind = BINARY

    def send(self, data: bytes, kind: int = BINARY) -> None:
        """Queues a message and sends what goes now."""
        frame = _head(len(data), kind)
        key = os.urandom(4)
        self._push(b"".join((frame, key, masked(data, key))))
        self.flush()

    def flush(self) -> None:
        """Sends what goes now."""
        while self._queue:
            first = self._queue[0]
            try:
                sent = self.connection.send(first[:_READ])
            except OSError as error:
                if _later(error):
                    return
                raise
            self.waiting -= sent
            if sent == len(first):
                self._queue.popleft()
            else:
                self._queue[0] = first[sent:]

    def receive(self) -> List[Message]:
        """The messages that are whole by now. Pings are answered. Raises ConnectionError at the end."""
        self._take_in()
        found: List[Message] = []
        while True:
            message = self._frame()
            if message is None:
                return found
            if message.kind == PING:
                self.send(message.data, PONG)
            elif message.kind == CLOSE:
                raise ConnectionError("the portal closed the relay")
            else:
                found.append(message)

    def close(self) -> None:
        self.connection.close()

    def _push(self, data: bytes) -> None:
        self._queue.append(memoryview(data))
        self.waiting += len(data)

    def _take_in(self) -> None:
        """At most _READ bytes, so that one direction can't starve the other."""
        self.more = False
        taken = 0
        while taken < _READ:
            try:
                data = self.connection.recv(1 << 16)
            except OSError as error:
                if _later(error):
                    return
                raise
            if not data:
                raise ConnectionError("the portal is gone")
            self._heard += data
            taken += len(data)
        self.more = True

    def _frame(self) -> Optional[Message]:
        """The next whole message or control frame, or None if it is still under way."""
        while True:
            heard = self._heard
            if len(heard) < 2:
                return None
            length, at = heard[1] & 127, 2
            if length > 125:
                size = 2 if length == 126 else 8
                if len(heard) < 2 + size:
                    return None
                length, at = int.from_bytes(heard[2:2 + size], "big"), 2 + size
            if heard[1] & 128 or heard[0] & 0x70 or length > _MOST:
                raise ConnectionError("a frame that no server may send")
            if len(heard) < at + length:
                return None
            first, data = heard[0], bytes(heard[at:at + length])
            del heard[:at + length]
            message = self._joined(first & 15, bool(first & 128), data)
            if message:
                return message

    def _joined(self, kind: int, last: bool, data: bytes) -> Optional[Message]:
        """A control frame as it is; frames of one message put together."""
        if kind >= CLOSE:
            return Message(kind, data)
        if kind != CONTINUED:
            self._kind, self._parts = kind, []
        self._parts.append(data)
        if sum(map(len, self._parts)) > _MOST:
            raise ConnectionError("a message that is too long")
        if not last:
            return None
        parts, self._parts = self._parts, []
        return Message(self._kind, b"".join(parts))


def masked(data: bytes, key: bytes) -> bytes:
    """Each byte XOR its byte of the key: as one number where it is short, else column by column through tables."""
    size = len(data)
    if size < 1024:
        pad = (key * (size // 4 + 1))[:size]
        return (int.from_bytes(data, "little") ^ int.from_bytes(pad, "little")).to_bytes(size, "little")
    out = bytearray(size)
    for column in range(4):
        out[column::4] = data[column::4].translate(_table(key[column]))
    return bytes(out)


def _table(value: int) -> bytes:
    if value not in _TABLES:
        _TABLES[value] = bytes(one ^ value for one in range(256))
    return _TABLES[value]


def _head(size: int, kind: int) -> bytes:
    if size < 126:
        return struct.pack(">BB", 0x80 | kind, 0x80 | size)
    if size < 1 << 16:
        return struct.pack(">BBH", 0x80 | kind, 0x80 | 126, size)
    return struct.pack(">BBQ", 0x80 | kind, 0x80 | 127, size)


def _later(error: OSError) -> bool:
    """Whether it only would have to wait; TLS says it in its own way."""
    if isinstance(error, BlockingIOError):
        return True
    return type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError")


def _shake_hands(connection: socket.socket, host: str, path: str, headers: Dict[str, str]) -> bytes:
    """The HTTP part; returns what came after it."""
    key = base64.b64encode(os.urandom(16))
    lines = ["GET %s HTTP/1.1" % path, "Host: %s" % host, "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    lines += ["Sec-WebSocket-Key: %s" % key.decode("ascii")] + ["%s: %s" % pair for pair in headers.items()]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    answer = b""
    while b"\r\n\r\n" not in answer:
        data = connection.recv(1 << 16)
        if not data or len(answer) > 1 << 16:
            raise ConnectionError("no answer to the handshake")
        answer += data
    head, rest = answer.split(b"\r\n\r\n", 1)
    words = head.split(None, 2)
    code = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    if code != 101:
        raise Refused(code)
    expected = base64.b64encode(hashlib.sha1(key + _GUID).digest())
    if expected not in head:
        raise ConnectionError("an answer to another handshake")
    return rest

"""One binary message of an agent's websocket is one frame: kind (1 byte), stream (4 bytes, big-endian), payload.

| kind | from | payload |
|---|---|---|
| OPEN | portal | name of a service of the session, UTF-8 |
| OPENED | agent | nothing: the service answers |
| DATA | both | at most PIECE bytes |
| CREDIT | both | 4 bytes, big-endian: so many more bytes may be sent to me |
| CLOSE | both | why, UTF-8, may be empty; the stream's number is never used again |
"""

from __future__ import annotations

import struct

OPEN, OPENED, DATA, CREDIT, CLOSE = 1, 2, 3, 4, 5
PIECE = 64 << 10
WINDOW = 256 << 10
"""Bytes that either side may send on a new stream before it is granted more."""
_HEAD = struct.Struct(">BI")
_COUNT = struct.Struct(">I")


def pack(kind: int, stream: int, payload: bytes = b"") -> bytes:
    return _HEAD.pack(kind, stream) + payload


def unpack(message: bytes) -> tuple[int, int, bytes]:
    """Raises ValueError for what is no frame."""
    if len(message) < _HEAD.size:
        raise ValueError("a frame has at least five bytes")
    kind, stream = _HEAD.unpack_from(message)
    return kind, stream, message[_HEAD.size :]


def credit(stream: int, count: int) -> bytes:
    return pack(CREDIT, stream, _COUNT.pack(count))


def count_in(payload: bytes) -> int:
    """The number in a CREDIT; raises ValueError."""
    if len(payload) != _COUNT.size:
        raise ValueError("a credit is four bytes")
    return _COUNT.unpack(payload)[0]

"""Whether somebody really uses a session: keys and pointer on a desktop, typing in a terminal, saving in an app.

The one idea: an open tab asks for pictures and pings for ever; only what a person does to the session counts.
"""
import struct
from typing import Optional

_KEY, _POINTER, _CUT, _FENCE, _SIZE, _QEMU, _ENCODINGS = 4, 5, 6, 248, 251, 255, 2  # RFC 6143, 7.5, and its extensions
_LENGTHS = {0: 20, 3: 10, _KEY: 8, _POINTER: 6, 150: 10, 250: 4, _QEMU: 12}
_CHANGES = (b"POST ", b"PUT ", b"PATCH ", b"DELETE ")


class Watcher:
    """Of one stream: heard() is true when these bytes towards the node are somebody's input."""

    def heard(self, data: bytes) -> bool:
        raise NotImplementedError


class Typing(Watcher):
    """A terminal: frames of kind 0."""

    def __init__(self) -> None:
        self._head, self._left = b"", 0

    def heard(self, data: bytes) -> bool:
        found, at = False, 0
        while at < len(data):
            if self._left:
                step = min(self._left, len(data) - at)
                self._left, at = self._left - step, at + step
                continue
            step = min(5 - len(self._head), len(data) - at)
            self._head, at = self._head + data[at:at + step], at + step
            if len(self._head) == 5:
                kind, self._left = struct.unpack(">BI", self._head)
                self._head, found = b"", found or (kind == 0 and self._left > 0)
        return found


class Screen(Watcher):
    """A desktop: RFB messages from the viewer, after its part of the opening."""

    def __init__(self) -> None:
        self._rest = b""
        self._skip = 0
        self._opened = False
        self._lost = False  # a message of a kind that is not known: where the next one begins can't be told

    def heard(self, data: bytes) -> bool:
        if self._lost:
            return True
        if self._skip >= len(data):
            self._skip -= len(data)
            return False
        data, self._skip = self._rest + data[self._skip:], 0
        if not self._opened:
            return self._opening(data)
        return self._messages(data)

    def _opening(self, data: bytes) -> bool:
        """Version (12 bytes), choice of security (not in 3.3), shared flag."""
        if len(data) < 14:
            self._rest = data
            return False
        self._opened, self._rest = True, b""
        return self._messages(data[13:] if data.startswith(b"RFB 003.003") else data[14:])

    def _messages(self, data: bytes) -> bool:
        found = False
        while data:
            size = _length(data)
            if size is None:
                self._lost = True
                return True
            if size == 0:
                break
            found = found or data[0] in (_KEY, _POINTER, _QEMU)
            self._skip, data = max(0, size - len(data)), data[size:]
        self._rest = data
        return found


class Changing(Watcher):
    """An app: requests that change something, and whatever a websocket carries is not told apart."""

    def heard(self, data: bytes) -> bool:
        return data.startswith(_CHANGES)


def watcher(service: str) -> Watcher:
    """For a stream to this service."""
    return {"desktop": Screen, "terminal": Typing}.get(service, Changing)()


def _length(data: bytes) -> Optional[int]:
    """Bytes of the message that begins here: 0 if too little of it came to tell, None if its kind is not known."""
    kind = data[0]
    if kind in _LENGTHS:
        return _LENGTHS[kind]
    if kind == _ENCODINGS:
        return 4 + 4 * struct.unpack(">H", data[2:4])[0] if len(data) >= 4 else 0
    if kind == _CUT:  # a negative length: the extended clipboard
        return 8 + abs(struct.unpack(">i", data[4:8])[0]) if len(data) >= 8 else 0
    if kind == _FENCE:
        return 9 + data[8] if len(data) >= 9 else 0
    if kind == _SIZE:
        return 8 + 16 * data[6] if len(data) >= 7 else 0
    return None

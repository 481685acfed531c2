"""What a viewer says to a desktop, told apart message by message (RFB 3.8, RFC 6143, with the extensions that viewers use).

Two things need it: somebody who may only look must not be able to type, whatever their program sends, nor be told what its
user copies; and idleness is judged by keys and pointers, not by an open tab. Bytes go on unchanged, but for what must not pass.
"""

from __future__ import annotations

from collections.abc import Iterator

VERSION = b"RFB 003.008\n"
SET_PIXEL_FORMAT, SET_ENCODINGS, UPDATE_REQUEST, KEY, POINTER, CUT_TEXT = 0, 2, 3, 4, 5, 6
CONTINUOUS_UPDATES, FENCE, POWER, DESKTOP_SIZE, QEMU = 150, 248, 250, 251, 255
LOOKING = frozenset({SET_PIXEL_FORMAT, SET_ENCODINGS, UPDATE_REQUEST, CONTINUOUS_UPDATES, FENCE})
INPUT = frozenset({KEY, POINTER, QEMU})
"""What a person does. Text for the clipboard is none: viewers speak of it by themselves whenever they connect."""
EXTENDED_BUTTONS = -316
"""An encoding that makes pointer messages one byte longer; not let through, so that their length is sure."""
EXTENDED_CLIPBOARD = -1063131698
NO_TEXT = bytes([CUT_TEXT, 0, 0, 0]) + (-8).to_bytes(4, "big", signed=True) + (1 << 24 | 1 << 27 | 1).to_bytes(4, "big") + bytes(4)
"""Capabilities of the extended clipboard: tell me that there is text, never the text itself (0 bytes without being asked)."""
LONGEST = 16 << 20
_FIXED = {SET_PIXEL_FORMAT: 20, UPDATE_REQUEST: 10, KEY: 8, POINTER: 6, CONTINUOUS_UPDATES: 10, POWER: 4}
_COUNTED = {SET_ENCODINGS: 4, CUT_TEXT: 8, FENCE: 9, DESKTOP_SIZE: 8, QEMU: 2}


class Nonsense(Exception):
    """Not RFB 3.8, or longer than anything that makes sense."""


class Filter:
    """Feed it what the viewer sent; get what may pass. `acts`: whether input may."""

    def __init__(self, acts: bool) -> None:
        self.acts = acts
        self.touched = False
        """Whether there was input since somebody last set this to False."""
        self._rest = b""
        self._greeting = [len(VERSION), 1, 1]  # version, security type, shared flag

    def feed(self, data: bytes) -> bytes:
        """Raises Nonsense."""
        self._rest += data
        return b"".join(self._passing())

    def _passing(self) -> Iterator[bytes]:
        while self._greeting and len(self._rest) >= self._greeting[0]:
            part = self._take(self._greeting.pop(0))
            if len(part) > 1 and part != VERSION:
                raise Nonsense("only RFB 3.8 is spoken here")
            yield part if self._greeting else self._begun()
        while not self._greeting and self._rest:
            size = _length(self._rest)
            if size is None or len(self._rest) < size:
                if len(self._rest) > LONGEST:
                    raise Nonsense("a message without end")
                return
            yield self._judged(self._take(size))

    def _begun(self) -> bytes:
        """Everybody shares the desktop. Who looks has its text kept away before anything can be copied."""
        return b"\x01" if self.acts else b"\x01" + _agreed([0, EXTENDED_CLIPBOARD]) + NO_TEXT

    def _judged(self, message: bytes) -> bytes:
        kind = message[0]
        self.touched |= self.acts and kind in INPUT
        if kind == SET_ENCODINGS:
            codes = [code for code in _encodings(message) if code != EXTENDED_BUTTONS]
            return _agreed(codes) if self.acts else _agreed([*codes, EXTENDED_CLIPBOARD]) + NO_TEXT
        return message if self.acts or kind in LOOKING else b""

    def _take(self, size: int) -> bytes:
        part, self._rest = self._rest[:size], self._rest[size:]
        return part


def _length(data: bytes) -> int | None:
    """Bytes of the message that begins here; None if that can't be told yet."""
    kind = data[0]
    if kind in _FIXED:
        return _FIXED[kind]
    if kind not in _COUNTED:
        raise Nonsense(f"message {kind} is unknown")
    if len(data) < _COUNTED[kind]:
        return None
    return _counted(kind, data)


def _counted(kind: int, data: bytes) -> int:
    if kind == SET_ENCODINGS:
        return 4 + 4 * int.from_bytes(data[2:4], "big")
    if kind == CUT_TEXT:  # a negative length marks the extended clipboard
        size = 8 + abs(int.from_bytes(data[4:8], "big", signed=True))
    elif kind == FENCE:
        size = 9 + data[8]
    elif kind == DESKTOP_SIZE:
        size = 8 + 16 * data[6]
    elif data[1] == 0:  # a key with its scan code
        size = 12
    else:
        raise Nonsense("sound is not carried")
    if size > LONGEST:
        raise Nonsense("a message without end")
    return size


def _encodings(message: bytes) -> list[int]:
    return [int.from_bytes(message[at : at + 4], "big", signed=True) for at in range(4, len(message), 4)]


def _agreed(codes: list[int]) -> bytes:
    """A message that names these encodings, at most as many as one can hold."""
    codes = codes[-0xFFFF:]
    return bytes([SET_ENCODINGS, 0]) + len(codes).to_bytes(2, "big") + b"".join(code.to_bytes(4, "big", signed=True) for code in codes)

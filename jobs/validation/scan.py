"""A stream of lines that can jump over long tables.

The one idea to know: it owns its buffer, so that it works on streams which can't seek (members of archives), and a
table of gigabytes is searched block by block for the line at which it ends.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from .text import LONGEST, in_time

_BLOCK = 1 << 20
_NUMBERS = b"0123456789.,+-eEdD \t\r\n"
_BLANK = 4 << 20  # bytes of blanks and nothing else at which a text is none


class Scanner:
    """`number` is the line that was read last; `cut` says that reading ended early (zeros, or out of time)."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream, self.name = stream, name
        self.buffer, self.at = b"", 0
        self.number = 0
        self.cut = False
        self.zeros = False
        self.blank = 0
        self.too_long = False
        self.ended = False

    def line(self) -> bytes | None:
        """The next line without its end; of an overlong one the beginning. None at the end."""
        end = self.buffer.find(b"\n", self.at)
        while end < 0 and not self.ended:
            if len(self.buffer) - self.at > 4 * _BLOCK:
                self.zeros = self.zeros or self.buffer[self.at :].isspace()
                self.cut = self.ended = self.too_long = True
                self.buffer, self.at = b"", 0
                return None
            self._more()
            end = self.buffer.find(b"\n", self.at)
        end = len(self.buffer) if end < 0 else end
        if self.at >= len(self.buffer):
            return None
        found = self.buffer[self.at : min(end, self.at + LONGEST)]
        self.at = end + 1
        self.number += 1
        return found.rstrip(b"\r")

    def skip_to(self, pattern: re.Pattern[bytes]) -> int:
        """Skip lines until one begins with what `pattern` (never a number) says behind a newline. The number of lines skipped."""
        before = self.number
        self.at = max(0, self.at - 1)  # so that the newline before the next line is seen
        while True:
            plain = not self.buffer[self.at :].translate(None, _NUMBERS)  # far quicker than looking at the beginning of each line
            found = None if plain else pattern.search(self.buffer, self.at)
            if found:
                self.number += self.buffer.count(b"\n", self.at, found.start())
                self.at = found.start() + 1
                break
            self.number += self.buffer.count(b"\n", self.at, max(self.at, len(self.buffer) - 256))
            self.buffer, self.at = self.buffer[max(self.at, len(self.buffer) - 256) :], 0
            if self.ended:
                self.at = len(self.buffer)
                break
            self._more()
        return self.number - before

    def _more(self) -> None:
        data = self.stream.read(_BLOCK)
        if not data:
            self.ended = True
        elif b"\0" in data:
            self.cut = self.ended = self.zeros = True
            data = data[: data.index(b"\0")]
        elif not in_time(self.name, self.number):
            self.cut = self.ended = True
        self.blank = self.blank + len(data) if data.isspace() else 0
        if self.blank > _BLANK:
            self.cut = self.ended = self.zeros = True
        self.buffer = self.buffer[self.at :] + data
        self.at = 0

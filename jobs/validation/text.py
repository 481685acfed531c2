"""Reads text inputs in a stream.

The one idea to know: a line has a limit and a file is never read whole, so that a deck of 2 GB costs no memory and
10 GB of zeros are noticed in the first block.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from .base import Finding, Inputs, error, warning

LONGEST = 64 << 10  # bytes of a line that are looked at
SMALL = 4 << 20  # a file up to this may be read at once
MOST_INCLUDES = 1_000  # files that one deck may include, counted each time
_BLOCK = 1 << 20
_ODD_BLANK = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_deadline: float | None = None
_cut: list[Finding] = []


def read_until(deadline: float) -> None:
    """Reading stops at this moment of the monotonic clock; what was not read is said by cut_short()."""
    global _deadline
    _deadline = deadline


def start() -> None:
    _cut.clear()


def cut_short() -> list[Finding]:
    return list(_cut)


def in_time(name: str, line: int) -> bool:
    """False once the deadline is over; notes how far the file was read."""
    if _deadline is None or time.monotonic() < _deadline:
        return True
    if not any(finding.file == name for finding in _cut):
        _cut.append(warning(f"{name} was checked only up to line {line:,}: it is too big to be read in time.", file=name,
                            line=line, thing="size"))  # fmt: skip
    return False


@dataclass(frozen=True)
class Line:
    number: int
    text: str


def read_small(inputs: Inputs, name: str, limit: int = SMALL) -> str | None:
    """The text of a file of modest size, byte-order mark removed; None if absent, binary or bigger."""
    try:
        if inputs.size(name) > limit:
            return None
        with inputs.open(name) as stream:
            data = stream.read(limit + 1)
    except (OSError, KeyError, ValueError):
        return None
    if len(data) > limit or b"\0" in data:
        return None
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def head(inputs: Inputs, name: str, count: int = 4096) -> bytes:
    try:
        with inputs.open(name) as stream:
            return stream.read(count)
    except (OSError, KeyError, ValueError):
        return b""


def lines(inputs: Inputs, name: str, most: int | None = None) -> Iterator[Line]:
    """The lines of a text, without their ends; stops after `most` lines, or where zeros show that it is no text."""
    try:
        with inputs.open(name) as stream:
            yield from _lines(stream, name, most)
    except (OSError, KeyError, ValueError, EOFError):
        return


def _lines(stream, name: str, most: int | None) -> Iterator[Line]:  # type: ignore[no-untyped-def]
    number = 0
    while most is None or number < most:
        data = stream.readline(LONGEST)
        if not data or b"\0" in data:
            return
        number += 1
        if not number % 10_000 and not in_time(name, number):
            return
        if number == 1:
            data = data.removeprefix(codecs.BOM_UTF8)
        if not data.endswith(b"\n") and len(data) == LONGEST and not _skip_line(stream):
            return
        yield Line(number, data.decode("utf-8", "replace").rstrip("\r\n"))


def _skip_line(stream) -> bool:  # type: ignore[no-untyped-def]
    """Past the rest of an overlong line; False if it goes on for more than a sensible text does."""
    for _ in range(64):
        rest = stream.readline(_BLOCK)
        if not rest or rest.endswith(b"\n"):
            return True
    return False


NO_TEXT = ("binary", "UTF-16", "line ends")  # things of the findings behind which nothing more is said of a file


def not_text(inputs: Inputs, name: str) -> Finding | None:
    """An error if a file that has to be text begins with zeros, is of two-byte characters, or has no lines."""
    start = head(inputs, name, 65536)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return error(f"{name} is encoded in UTF-16; the solver reads plain text only.", file=name, line=1,
                     thing="UTF-16", remedy="Save it as UTF-8 or plain ASCII.")  # fmt: skip
    if start.count(b"\r") > 1 and b"\n" not in start:
        return error(f"{name} has the line ends of an old Mac (CR alone): all of it counts as one line.", file=name, line=1,
                     thing="line ends", remedy="Save it with Unix line ends (LF).")  # fmt: skip
    if b"\0" in start:
        return error(f"{name} holds binary zeros; it is not a text that the solver can read.", file=name, line=1,
                     thing="binary", remedy="Upload the text itself; the file may be damaged or of another kind.")  # fmt: skip
    return None


def odd_blank(name: str, number: int, text: str) -> Finding | None:
    """An error if a blank copied from a web page or a PDF stands in a line (without its remark) for a solver that takes it as a letter."""
    found = _ODD_BLANK.search(_QUOTED.sub("", text))
    if not found:
        return None
    code = f"U+{ord(found.group()):04X}"
    return error(f"{name} line {number} has a no-break space ({code}) in it, which is no blank to the solver.", file=name, line=number,
                 thing=code, remedy="Type a plain blank in its place.")  # fmt: skip


def zeros_behind(name: str, line: int) -> Finding:
    """For a text that goes on as zeros, or as nothing but blanks."""
    return error(f"{name} holds nothing but zeros or blanks behind line {line:,}; the rest is no text that the solver can read.",
                 file=name, line=line, thing="binary", remedy="Upload it again; it is damaged.")  # fmt: skip


def too_many_includes(name: str, line: int) -> Finding:
    return error(f"{name} line {line}: more than {MOST_INCLUDES:,} files are included, counted each time.", file=name, line=line,
                 thing="includes", remedy="Look for files that include each other.")  # fmt: skip


def byte_order_mark(inputs: Inputs, name: str, why: str, stops: bool = False) -> Finding | None:
    """A finding if a file begins with a byte-order mark. Only for solvers that mind it; `why` says how, `stops` whether they end."""
    if not head(inputs, name, 3).startswith(codecs.BOM_UTF8):
        return None
    make = error if stops else warning
    return make(f"{name} starts with a byte-order mark (BOM); {why}", file=name, line=1, thing="byte-order mark",
                remedy="Strip the mark: save the file as UTF-8 without BOM.", fix="strip-bom")  # fmt: skip

"""Lines and numbers out of bytes that may be anything: 10 MB lines, NUL, invalid UTF-8, Fortran's exponents.

The one idea: what is kept is bounded. A line longer than LINE is cut, a file is read in chunks, and evidence for people
is a short printable text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from .base import Files

CHUNK = 1 << 20
LINE = 8192
SHOWN = 200

_FORTRAN = re.compile(r"^([+-]?\d*\.?\d*)[dDqQ]([+-]?\d+)$|^([+-]?\d*\.\d*)([+-]\d{3})$")
NOT_A_NUMBER = re.compile(rb"(?<![A-Za-z0-9_.])[-+]?(?:nan(?:\([a-z0-9]*\))?|inf(?:inity)?)(?![A-Za-z0-9_])", re.I)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+|\x1b\[[0-9;]*[A-Za-z]")


class Lines:
    """Cuts a growing stream into whole lines; the rest of an unfinished or overlong line costs at most LINE bytes."""

    def __init__(self) -> None:
        self.count = 0
        self.rest = b""

    def push(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their ends; `count` then is the number of the last one."""
        parts = data.split(b"\n")
        parts[0] = self.rest + parts[0]
        self.rest = parts.pop()[:LINE]
        self.count += len(parts)
        return parts

    def end(self) -> list[bytes]:
        """The last line if it has no end of its own."""
        return self.push(b"\n") if self.rest else []


def chunks(folder: Files, name: str, start: int = 0, limit: int | None = None) -> Iterator[bytes]:
    """The file's bytes from `start`, in chunks; nothing where it cannot be read."""
    left = math.inf if limit is None else limit
    try:
        with folder.open(name) as file:
            if start:
                file.seek(start)
            while left > 0 and (data := file.read(int(min(CHUNK, left)))):
                left -= len(data)
                yield data
    except (OSError, ValueError):
        return


def lines(folder: Files, name: str, limit: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(number, line) of a file, line ends and anything beyond LINE cut off."""
    cut, number = Lines(), 0
    for data in chunks(folder, name, limit=limit):
        for line in cut.push(data):
            number += 1
            yield number, line[:LINE].rstrip(b"\r")
    for line in cut.end():
        yield number + 1, line.rstrip(b"\r")


def head(folder: Files, name: str, size: int = 64 << 10) -> bytes:
    return b"".join(chunks(folder, name, limit=size))


def tail(folder: Files, name: str, size: int = 64 << 10) -> bytes:
    return b"".join(chunks(folder, name, start=max(0, folder.size(name) - size), limit=size))


def words(folder: Files, name: str, limit: int = 4 << 20) -> str:
    """A small text file (a deck) as text; what is not UTF-8 is replaced."""
    return head(folder, name, limit).decode("utf-8", "replace").replace("\x00", "")


def shown(line: bytes | str, limit: int = SHOWN) -> str:
    """A line for people: printable, stripped, short."""
    text = line[: 4 * limit].decode("utf-8", "replace") if isinstance(line, bytes) else line
    text = " ".join((text if text.isprintable() else _UNPRINTABLE.sub("", text)).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def number(text: str | bytes) -> float | None:
    """A float in any spelling that solvers use (1.0D-3, 0.1-100, NaN), or None."""
    word = text.decode("ascii", "replace") if isinstance(text, bytes) else text
    try:
        return float(word)
    except ValueError:
        pass
    match = _FORTRAN.match(word.strip())
    if match:
        try:
            return float(f"{match[1] or match[3] or 0}e{match[2] or match[4]}")
        except ValueError:
            return None
    return math.nan if word.strip("*") == "" and len(word) > 3 else None


def after(text: str, sign: str) -> float | None:
    """The number right behind the first `sign` of a line ("Maximum force = 6.8 on atom 2"), or None."""
    said = text.partition(sign)[2].split(None, 1)
    return number(said[0].rstrip(",;")) if said else None


def brief(value: float | None) -> str:
    """A number for people: 0.0855685 stays, 4.07e+14 is short, 10.0 reads 10."""
    if value is None:
        return "?"
    whole = math.isfinite(value) and abs(value) < 1e9 and value == int(value)
    return str(int(value)) if whole else f"{value:.6g}"

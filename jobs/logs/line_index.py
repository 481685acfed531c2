"""Lines of a log of any size: by number, by offset, by text, from the end.

The one idea: the index holds one number per 64 KiB block, the line breaks before that block, and can
be made again from the log alone (native byte order: all web processes are of one kind). So finding a
line means a bisection and reading one block, whatever the log's size; writing keeps it up for a few
microseconds a block. Lines are counted from 0 and end with a line feed; the last one may still be
without. A gap counts as part of the line around it.
"""

import fcntl
import os
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jobs.logs.holes import kept, length, noted
from jobs.logs.names import beside

BLOCK = 1 << 16
PIECE = 1 << 20
ENTRY = 8
TAIL_BYTES = 1 << 20  # the most that tail_lines looks back
SEARCH_SECONDS = 2.0


@dataclass(frozen=True)
class Lines:
    """Where a run of lines starts: line numbers from `first`, an offset each."""

    first: int
    offsets: list[int]
    total: int


@dataclass(frozen=True)
class Found:
    """Hits as (line, offset of the match); with `more`, go on after line `last`."""

    hits: list[tuple[int, int]]
    more: bool
    last: int


def lines(path: Path, first: int, count: int) -> Lines:
    """Offsets at which `count` lines from number `first` start; fewer at the log's end."""
    total = total_lines(path)
    first = max(0, first)
    if first >= total or count <= 0:
        return Lines(first, [], total)
    offset = _start_of(path, first)
    offsets = [offset]
    for at in _breaks(path, offset):
        if len(offsets) >= min(count, total - first):
            break
        offsets.append(at + 1)
    return Lines(first, offsets, total)


def line_at(path: Path, offset: int) -> int:
    """The number of the line in which the byte at `offset` lies."""
    offset = max(0, min(offset, length(path)))
    if not offset:
        return 0
    counts = _index(path)
    block = min(offset // BLOCK, len(counts) - 1)
    return counts[block] + _count(path, block * BLOCK, offset)


def total_lines(path: Path) -> int:
    """How many lines there are, an unfinished last one included."""
    end = length(path)
    if not end:
        return 0
    with path.open("rb") as file:
        file.seek(end - 1)
        unfinished = file.read(1) != b"\n"
    return line_at(path, end) + unfinished


def search(path: Path, text: str | bytes, after: int = -1, limit: int = 100, seconds: float = SEARCH_SECONDS) -> Found:
    """Lines after number `after` that contain `text`, at most `limit`, one hit a line.

    Capital and small ASCII letters count as equal. Looks for at most `seconds`, holds at most about
    two MiB in memory; a match that lies in a line of over a MiB is found all the same.
    """
    needle = (text.encode(errors="surrogateescape") if isinstance(text, str) else text).lower()
    if not needle or after + 1 >= total_lines(path):
        return Found([], False, after)
    return _Search(path, needle, after, limit, time.monotonic() + seconds).run()


def tail_lines(path: Path, count: int) -> bytes:
    """The last `count` lines, at most the last MiB and nothing from before a gap."""
    stretches = list(kept(path, max(0, length(path) - TAIL_BYTES)))
    if not stretches:
        return b""
    start, end = stretches[-1]
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    return _last(data, count) if count > 0 else b""


def refresh(path: Path) -> None:
    """Brings the index up to the log's length; makes it anew where it is missing or torn."""
    index = beside(path, "index")
    if length(index) == (length(path) // BLOCK + 1) * ENTRY:
        return
    with _locked(index) as fd:
        want = length(path) // BLOCK + 1
        have = os.fstat(fd).st_size // ENTRY
        have = have if have <= want else 0  # longer than the log: left over from another one
        os.ftruncate(fd, have * ENTRY)
        last = os.pread(fd, ENTRY, (have - 1) * ENTRY) if have else b""
        os.pwrite(fd, _entries(path, have, want, last), have * ENTRY)


def _entries(path: Path, have: int, want: int, last: bytes) -> bytes:
    counts = array("Q", last or b"\0" * ENTRY)
    holes = noted(path)
    with path.open("rb") as file:
        for block in range(max(have, 1) - 1, want - 1):
            start, end = block * BLOCK, (block + 1) * BLOCK
            empty = any(hole.start <= start and end <= hole.end for hole in holes)
            counts.append(counts[-1] + (0 if empty else os.pread(file.fileno(), BLOCK, start).count(b"\n")))
    return (counts[1:] if last else counts).tobytes()


@contextmanager
def _locked(index: Path) -> Iterator[int]:
    fd = os.open(index, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _index(path: Path) -> "array[int]":
    refresh(path)
    counts = array("Q")
    data = beside(path, "index").read_bytes()
    counts.frombytes(data[: len(data) // ENTRY * ENTRY])
    return counts


def _count(path: Path, start: int, end: int) -> int:
    found = 0
    with path.open("rb") as file:
        for first, last in kept(path, start, end):
            for at in range(first, last, BLOCK):
                found += os.pread(file.fileno(), min(BLOCK, last - at), at).count(b"\n")
    return found


def _start_of(path: Path, line: int) -> int:
    """The offset of a line that exists: behind the break number `line`, counted from 1."""
    if line == 0:
        return 0
    counts = _index(path)
    block = bisect_left(counts, line) - 1
    missing = line - counts[block]
    for at in _breaks(path, block * BLOCK):
        missing -= 1
        if not missing:
            return at + 1
    raise IndexError(line)


def _breaks(path: Path, start: int) -> Iterator[int]:
    """Offsets of the line feeds from `start` on."""
    with path.open("rb") as file:
        for first, last in kept(path, start):
            for at in range(first, last, BLOCK):
                data = os.pread(file.fileno(), min(BLOCK, last - at), at)
                found = data.find(b"\n")
                while found >= 0:
                    yield at + found
                    found = data.find(b"\n", found + 1)


def _last(data: bytes, count: int) -> bytes:
    at = len(data) - data.endswith(b"\n")
    for _ in range(count):
        at = data.rfind(b"\n", 0, at)
        if at < 0:
            return data
    return data[at + 1 :]


class _Search:
    """One pass over the log in pieces; a piece overlaps the next by the needle's length."""

    def __init__(self, path: Path, needle: bytes, after: int, limit: int, deadline: float):
        self.path, self.needle, self.limit, self.deadline = path, needle, limit, deadline
        self.hits: list[tuple[int, int]] = []
        self.line = after + 1  # of the byte that comes next
        self.start = _start_of(path, self.line)
        self.done = after  # the last line of which nothing is left to look at

    def run(self) -> Found:
        with self.path.open("rb") as file:
            for first, last in kept(self.path, self.start):
                if not self._stretch(file, first, last):
                    return Found(self.hits, True, self.done)
        return Found(self.hits, False, self.line)

    def _stretch(self, file, first: int, last: int) -> bool:
        """False when it is time to stop: enough hits, or the deadline."""
        while first < last:
            data = os.pread(file.fileno(), min(PIECE, last - first), first)
            if not data or not self._piece(data.lower(), first):
                return False
            step = len(data) if first + len(data) >= last else max(1, len(data) - len(self.needle) + 1)
            self.line += data.count(b"\n", 0, step)
            first += step
            self.done = max(self.done, self.line - 1)
            if time.monotonic() > self.deadline and first < last:
                return False
        return True

    def _piece(self, data: bytes, offset: int) -> bool:
        at, line, counted = data.find(self.needle), self.line, 0
        while at >= 0:
            line += data.count(b"\n", counted, at)
            counted = at
            if line > self.done:
                self.hits.append((line, offset + at))
                self.done = line
                if len(self.hits) >= self.limit:
                    return False
            end = data.find(b"\n", at)
            at = data.find(self.needle, end + 1) if end >= 0 else -1
        return True

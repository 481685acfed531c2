"""The growing end of a log, read once per process for all who watch it.

The one idea: whatever arrives is read by one task and kept for a moment, so a hundred viewers of a line
cost one look at the file. The first bytes after a pause are read at once, the next ones 20 to 50 ms later (the
more viewers the later), unless there is more than a frame of them. Who is further behind reads the file for himself.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs import logs
from portal import live
from portal.consumers.socket import off_loop

log = logging.getLogger(__name__)

FRAME = 64 << 10  # bytes
PACE, PACE_EACH, LONGEST_PACE = 0.02, 0.0001, 0.05  # seconds between two looks, while not more than a frame comes; more a viewer
KEEP = 256 << 10  # bytes of the end that stay in memory
LOOK = 1.0  # seconds after which to look although no news came
WATCH = 10.0  # seconds after which the mark for the agent is renewed


@dataclass(frozen=True)
class Ended:
    """What a look at the files found: a generation, its size and lines, what is missing, its seal, the bytes from `start`."""

    generation: int
    size: int
    lines: int
    gaps: tuple[logs.Gap, ...]
    seal: logs.Seal | None
    start: int
    data: bytes


class Tail:
    """One stream's end. `bells` ring whenever something about it has changed, and every second."""

    def __init__(self, public_id: str, directory: Path, stream: str, wake_agent: bool):
        self.public_id, self.directory, self.stream, self.wake_agent = public_id, directory, stream, wake_agent
        self.bells: set[asyncio.Event] = set()
        self.now = Ended(0, 0, 0, (), None, 0, b"")
        self.closed = False
        self.ready = asyncio.Event()
        self._watched = self._rung = -WATCH

    async def run(self) -> None:
        try:
            async with live.hub.subscribe(f"log:{self.public_id}") as news:
                await self._follow(news)
        except Exception:
            log.exception("a log can't be followed")
        finally:
            self.closed = True
            self.ready.set()
            self._ring()

    async def _follow(self, news: live.News) -> None:
        moved: object = {}
        while moved is not None:
            looked = time.monotonic()
            hurry = await self._look()
            moved = await news.next(0 if hurry else LOOK)
            if not hurry:
                await asyncio.sleep(max(0.0, looked + pace(len(self.bells)) - time.monotonic()))

    def cut(self, start: int, most: int) -> bytes | None:
        """Bytes from an offset if they are in memory: at most so many, up to the next gap; None if they aren't."""
        now = self.now
        if not now.start <= start < now.start + len(now.data):
            return None
        return now.data[start - now.start : start - now.start + most]

    async def _look(self) -> bool:
        """True if so much came that the next look should not wait."""
        before = self.now
        self.now = await look(self.directory, self.stream, before)
        if self.now != before or time.monotonic() - self._rung >= LOOK:
            self.ready.set()
            self._ring()
        if self.wake_agent and not self.now.seal and time.monotonic() - self._watched >= WATCH:
            await self._mark()
        return self.now.size - before.size > FRAME

    async def _mark(self) -> None:
        self._watched = time.monotonic()
        if await watch(self.directory, self.stream):
            live.hub.publish(f"orders:{self.public_id}", {"watched": self.stream})

    def _ring(self) -> None:
        self._rung = time.monotonic()
        for bell in self.bells:
            bell.set()


def pace(viewers: int) -> float:
    """Seconds: a few viewers get each line nearly at once, many share the cost of a frame."""
    return min(LONGEST_PACE, PACE + PACE_EACH * viewers)


@off_loop
def look(directory: Path, stream: str, before: Ended) -> Ended:
    """Reads what came since the last look, and whether anything else about the stream has changed."""
    generation = (logs.generations(directory, stream) or [0])[-1]
    path = logs.path_of(directory, stream, generation)
    same = generation == before.generation
    size = logs.size(directory, stream, generation=generation)
    gaps = tuple(logs.gaps(directory, stream, generation=generation))
    seal = logs.complete(directory, stream, generation=generation)
    if same and size == before.size:
        return Ended(generation, size, before.lines, gaps, seal, before.start, before.data)
    kept = list(logs.kept(path, max(0, size - KEEP), size))
    start = kept[-1][0] if kept else size
    grown = _grown(directory, stream, generation, start, size, before if same else None)
    return Ended(generation, size, logs.total_lines(path), gaps, seal, *grown)


def _grown(directory: Path, stream: str, generation: int, start: int, size: int, before: Ended | None) -> tuple[int, bytes]:
    """The bytes from `start` to `size`; those that were there before are not read again."""
    if before and before.start <= start < before.start + len(before.data):
        old = before.data[start - before.start :]
        return start, old + logs.read(directory, stream, start + len(old), size, generation=generation)
    return start, logs.read(directory, stream, start, size, generation=generation)


watch: Any = off_loop(logs.watch)

_tails: dict[tuple[Any, ...], tuple[Tail, "asyncio.Task[None]", list[int]]] = {}


@asynccontextmanager
async def tail_of(public_id: str, directory: Path, stream: str, wake_agent: bool) -> AsyncIterator[Tail]:
    """The process's one tail of a stream, running as long as somebody uses it."""
    key = (asyncio.get_running_loop(), directory, stream)
    if key not in _tails:
        tail = Tail(public_id, directory, stream, wake_agent)
        _tails[key] = tail, asyncio.ensure_future(tail.run()), [0]
    tail, task, users = _tails[key]
    users[0] += 1
    try:
        await tail.ready.wait()
        yield tail
    finally:
        users[0] -= 1
        if not users[0]:
            del _tails[key]
            task.cancel()

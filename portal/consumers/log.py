"""Live output: /live/jobs/<id>/log/?attempt=1&stream=stdout

The one idea: the viewer says from which offset it wants to follow and acknowledges what it has got; at
most 1 MiB is under way. So a viewer that stops reading costs a MiB, and one that comes back after a break
goes on at its own last offset.

Server: {"type": "info", size, lines, generation, complete, ended, unsure, gaps: [[from, to, reason]], sha256}, again
on changes and as a heartbeat; binary frames of an offset (8 bytes, big-endian) and at most 64 KiB. What is
not kept is left out: the next frame's offset lies behind it.
Client: {"type": "follow", "from": n}, {"type": "ack", "offset": n}, {"type": "pause"}.
"""

import asyncio
import re
import time
from collections import deque
from pathlib import Path
from typing import Any

from jobs import logs, names
from portal.consumers.socket import AGAIN, HEARTBEAT, NOT_FOUND, Left, Socket, entered_workload, off_loop, visible_workload
from portal.consumers.tail import FRAME, Ended, Tail, tail_of
from portal.numbers import whole

WINDOW = 1 << 20  # bytes under way without an acknowledgement
AHEAD = 256 << 10  # bytes that a viewer who is behind reads at a time
INFO_PACE = 1.0  # seconds between two infos about a log that grows
LONGEST_NAME = 5000  # characters of a stream's name
FILE = "file:"  # streams that are files of the job


class LogSocket(Socket):
    async def enter(self) -> None:
        self.public_id = self.scope["url_route"]["kwargs"]["public_id"]
        work = await entered_workload(self.public_id, self.user)
        attempt = whole(self.query.get("attempt", str(work.attempt))) or 0
        self.stream = names.path(self.query.get("stream", "stdout"))
        if not 1 <= attempt <= work.attempt or not is_stream(self.stream):
            raise Left(NOT_FOUND)
        self.directory = logs.attempt_dir(self.public_id, attempt)
        self.wake_agent = work.is_active and attempt == work.attempt
        self.bell = asyncio.Event()
        self.at: int | None = None  # the next offset to send; None while the viewer does not follow
        self.under_way: deque[tuple[int, int]] = deque()  # end and length of each frame not acknowledged
        self.flying = 0  # bytes of those frames
        self.ahead = (0, -1, b"")  # offset, generation and bytes read ahead by a viewer that is behind
        self.told: Ended | None = None
        self.told_at = 0.0

    async def may_stay(self) -> bool:
        return await visible_workload(self.public_id, self.user) is not None

    async def heard(self, message: dict[str, Any]) -> None:
        offset = message.get("from" if message.get("type") == "follow" else "offset")
        if message.get("type") == "pause":
            self._start_at(None)
        elif isinstance(offset, int) and offset >= 0:
            self._take(message["type"], offset)
        self.bell.set()

    async def show(self) -> None:
        async with tail_of(self.public_id, self.directory, self.stream, self.wake_agent) as tail:
            tail.bells.add(self.bell)
            try:
                while not tail.closed:
                    self.bell.clear()
                    await self._tell(tail)
                    await self._send_frames(tail)
                    await self.bell.wait()  # the tail has news, or a second has passed, or the viewer said something
            finally:
                tail.bells.discard(self.bell)
        raise Left(AGAIN)

    def _take(self, kind: str, offset: int) -> None:
        if kind == "follow":
            self._start_at(offset)
        elif kind == "ack":
            while self.under_way and self.under_way[0][0] <= offset:
                self.flying -= self.under_way.popleft()[1]

    def _start_at(self, offset: int | None) -> None:
        self.at, self.flying = offset, 0
        self.under_way.clear()

    def _due(self, now: Ended) -> float:
        """Seconds until the next info: at once if anything but the size has changed, else now and then."""
        told = self.told
        if told is None or (told.generation, told.gaps, told.seal) != (now.generation, now.gaps, now.seal):
            return 0.0
        return self.told_at + (HEARTBEAT if told.size == now.size else INFO_PACE) - time.monotonic()

    async def _tell(self, tail: Tail) -> None:
        now = tail.now
        if self._due(now) > 0:
            return
        if self.told and self.told.generation != now.generation:
            self._start_at(None)  # a new file begins at 0: the viewer asks when it is ready for it
        self.told, self.told_at = now, time.monotonic()
        await self.send_json(info(now))

    async def _send_frames(self, tail: Tail) -> None:
        while self.at is not None and self.at < tail.now.size and self.flying + FRAME <= WINDOW and self._is_told(tail.now):
            at, now = self.at, tail.now
            data = tail.cut(at, FRAME) or await self._read(at, now.generation)
            if self.at != at:
                continue  # the viewer has asked for another place meanwhile
            if not data:
                self.at = behind_gap(now.gaps, at)
                continue
            self.at += len(data)
            self.flying += len(data)
            self.under_way.append((self.at, len(data)))
            await self.send_bytes(at.to_bytes(8, "big") + data)

    async def _read(self, at: int, generation: int) -> bytes:
        """Up to a frame from the file, of which some frames are read at a time."""
        start, of, data = self.ahead
        if of != generation or not start <= at < start + len(data):
            start, data = at, await read(self.directory, self.stream, at, generation)
            self.ahead = start, generation, data
        return data[at - start : at - start + FRAME]

    def _is_told(self, now: Ended) -> bool:
        """No byte of a generation, and none behind a gap, is sent before the viewer knows of it."""
        return self.told is not None and (self.told.generation, self.told.gaps) == (now.generation, now.gaps)


def info(now: Ended) -> dict[str, Any]:
    """What a viewer is told of a stream. Complete: ended, and what is kept agrees with the agent's last word."""
    seal = now.seal
    return {
        "type": "info",
        "size": now.size,
        "lines": now.lines,
        "generation": now.generation,
        "complete": bool(seal and (seal.complete or (now.gaps and seal.size == seal.agent_size))),
        "ended": bool(seal),
        "unsure": bool(seal and seal.agent_size is None),
        "gaps": [[gap.start, gap.end, gap.reason] for gap in now.gaps],
        "sha256": seal.sha256 if seal else None,
    }


def behind_gap(gaps: tuple[logs.Gap, ...], offset: int) -> int:
    """The end of the gap that an offset lies in; the offset itself would be asked for again and again."""
    return next((gap.end for gap in gaps if gap.start <= offset < gap.end), offset + 1)


def is_stream(name: str) -> bool:
    """Whether a viewer may ask for this stream: a name of the software's, or a file inside the job's folder."""
    if not name.startswith(FILE):
        return re.fullmatch(r"[A-Za-z0-9_. -]{1,100}", name) is not None
    parts = name.removeprefix(FILE).split("/")
    return len(name) <= LONGEST_NAME and "\0" not in name and not any(part in ("", ".", "..") for part in parts)


@off_loop
def read(directory: Path, stream: str, offset: int, generation: int) -> bytes:
    return logs.read(directory, stream, offset, offset + AHEAD, generation=generation)

"""A log's bytes: written at their offset, read from an offset, gaps named, sealed at the end.

The one idea: the file's length is the stream's length. A writer that knows better (its offset lies
past the end) is told the length and sends again from there; a writer that repeats itself changes
nothing. So no write is fsynced one by one: after a power cut the length is shorter, the agent, which
keeps everything until it is released, is told so and sends again. Only the seal is fsynced.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from jobs.logs.holes import REASON, Gap, kept, length, note, noted
from jobs.logs.line_index import refresh
from jobs.logs.names import encode, log_path, recall, remember


class PastEnd(Exception):
    """The offset lies past the end; `size` is where the writer has to go on, in bytes."""

    def __init__(self, size: int):
        super().__init__(f"the log is {size} bytes long")
        self.size = size


@dataclass(frozen=True)
class Stream:
    """A stream that has a file here; `generation` is its newest, `size` that one's bytes."""

    name: str
    generation: int
    size: int


def attempt_dir(public_id: str, attempt: int) -> Path:
    """The folder of an attempt's logs; ValueError for what is no public id."""
    return _attempt_dir(str(settings.LOGS_DIR), public_id, int(attempt))


def write(directory: Path, stream: str, generation: int, offset: int, data: bytes) -> int:
    """Writes bytes at their offset and returns the stream's size.

    Bytes that are already there stay as they are. Raises PastEnd, or OSError (ENOSPC: full disk;
    what fitted is kept and counted).
    """
    path = log_path(directory, stream, generation)
    with _locked(path, stream) as (fd, end):
        if offset > end:
            raise PastEnd(end)
        end = _append(fd, end, memoryview(data)[end - offset :])
        refresh(path)
        return end


def gap(directory: Path, stream: str, generation: int, start: int, end: int, reason: str) -> int:
    """Notes that bytes from `start` to `end` are not kept and returns the stream's size.

    What we hold of them already counts as kept. The file grows by a hole, which costs no disk.
    """
    path = log_path(directory, stream, generation)
    with _locked(path, stream) as (fd, size_now):
        if start > size_now:
            raise PastEnd(size_now)
        if end <= size_now:
            return size_now
        note(path, Gap(size_now, end, reason[:REASON]))
        os.ftruncate(fd, end)
        refresh(path)
        return end


def read(directory: Path, stream: str, start: int, end: int, *, generation: int | None = None) -> bytes:
    """Kept bytes from `start` up to `end`, the end of the log or the next gap: whichever comes first."""
    path = path_of(directory, stream, generation)
    try:
        with path.open("rb", buffering=0) as file:
            for first, last in kept(path, start, end):
                return os.pread(file.fileno(), last - start, start) if first == start else b""
    except FileNotFoundError:
        pass
    return b""


def size(directory: Path, stream: str, *, generation: int | None = None) -> int:
    """Bytes of a stream so far, gaps included; 0 before the first one came."""
    return length(path_of(directory, stream, generation))


def gaps(directory: Path, stream: str, *, generation: int | None = None) -> list[Gap]:
    """What is not kept, in order."""
    return noted(path_of(directory, stream, generation))


def generations(directory: Path, stream: str) -> list[int]:
    """The generations that a stream has here, oldest first; empty before the first byte."""
    found = directory.glob(f"{encode(stream)}.*.log") if directory.is_dir() else ()
    return sorted(int(path.name.rsplit(".", 2)[1]) for path in found)


def streams(directory: Path) -> list[Stream]:
    """Every stream of an attempt with its newest generation, stdout first."""
    newest: dict[str, tuple[int, Path]] = {}
    for path in directory.glob("*.log") if directory.is_dir() else ():
        base, generation, _ = path.name.rsplit(".", 2)
        if int(generation) >= newest.get(base, (-1, path))[0]:
            newest[base] = int(generation), path
    found = [Stream(recall(path), number, length(path)) for number, path in newest.values()]
    return sorted(found, key=lambda stream: (stream.name != "stdout", stream.name))


def path_of(directory: Path, stream: str, generation: int | None = None) -> Path:
    """The file of a stream's generation, or of its newest one."""
    if generation is None:
        generation = (generations(directory, stream) or [0])[-1]
    return log_path(directory, stream, generation)


def delete(public_id: str) -> None:
    """Deletes all logs of a workload; nothing there is fine too."""
    with suppress(FileNotFoundError):
        shutil.rmtree(_workload_dir(public_id))


@lru_cache(maxsize=4096)
def _attempt_dir(logs: str, public_id: str, attempt: int) -> Path:
    """Kept, since every turn asks for those of a batch, and a path is slow to make."""
    return _workload_dir(public_id) / str(attempt)


def _workload_dir(public_id: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9]{1,32}", public_id):
        raise ValueError("not a public id")
    return Path(settings.LOGS_DIR) / public_id


@contextmanager
def _locked(path: Path, stream: str) -> Iterator[tuple[int, int]]:
    """The file, opened and locked against every other writer in any process, and its length."""
    fd = _open(path, stream)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd, os.fstat(fd).st_size
    finally:
        os.close(fd)


def _open(path: Path, stream: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        remember(path, stream)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _append(fd: int, end: int, data: memoryview) -> int:
    while data:
        done = os.pwrite(fd, data, end)
        end, data = end + done, data[done:]
    return end

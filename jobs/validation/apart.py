"""Validates in a child process that has a limit of memory and a deadline.

The one idea to know: the child asks its parent for bytes that it can't open itself (object storage), and tells each
finding as soon as it has it, so that what was found before a deck exploded is kept. Started by subprocess, not by
fork, it is safe in a worker with threads.

Lines from the child: {"finding": {...}}, {"read": [name, offset, size]}, {"done": true}. The parent answers a read
with four bytes of length and the bytes.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO, cast

from .base import Finding, Folder, Inputs, Request, Severity, Stored, StoredFile, mode_of, ordered, warning
from .unpacked import Unpacked

_ROOT = Path(__file__).resolve().parents[2]
_LEAST, _LONGEST = 3.0, 60.0  # seconds
_FILES = 1_000  # files per second
_SPEED = 60_000_000  # bytes per second that a busy machine reads at least
_BLOCK = 1 << 20


def run(request: Request, seconds: float | None, memory: int) -> list[Finding]:
    seconds = patience(request.inputs) if seconds is None else seconds
    child = subprocess.Popen(
        [sys.executable, "-m", "jobs.validation"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd=_ROOT, env=_environment(), start_new_session=True,
    )  # fmt: skip
    try:
        found, done = _Talk(child, request, seconds, memory).run()
    finally:
        _end(child)
    if not done:
        found.append(_exploded(seconds, memory))
    return ordered(found)


def patience(inputs: Inputs) -> float:
    """Seconds that reading these inputs may take: 3 and more with their size, never more than a minute."""
    inputs = _plain(inputs)
    names = inputs.names()
    total = sum(inputs.size(name) for name in names)
    return min(_LONGEST, _LEAST + total / _SPEED + len(names) / _FILES)


class _Talk:
    """The parent's side of the conversation."""

    def __init__(self, child: subprocess.Popen[bytes], request: Request, seconds: float, memory: int) -> None:
        assert child.stdin and child.stdout
        self.child, self.request = child, request
        self.end = time.monotonic() + seconds
        self.found: list[Finding] = []
        self.open: dict[str, BinaryIO] = {}
        self.first = json.dumps({"request": _packed(request), "seconds": seconds, "memory": memory}).encode() + b"\n"

    def run(self) -> tuple[list[Finding], bool]:
        assert self.child.stdin and self.child.stdout
        try:
            self.child.stdin.write(self.first)
            self.child.stdin.flush()
            return self.found, self._listen(self.child.stdout)
        except (BrokenPipeError, ValueError, KeyError, TypeError):
            return self.found, False
        finally:
            for stream in self.open.values():
                stream.close()

    def _listen(self, stdout: Any) -> bool:
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while (left := self.end - time.monotonic()) > 0 and selector.select(left):
                data = os.read(stdout.fileno(), _BLOCK)
                if not data:
                    return False
                *lines, pending = (pending + data).split(b"\n")
                if any([self._hear(json.loads(line)) for line in lines]):
                    return True
        return False

    def _hear(self, said: dict[str, Any]) -> bool:
        if "finding" in said:
            values = said["finding"]
            self.found.append(Finding(**{**values, "severity": Severity(values["severity"])}))
        elif "read" in said:
            self._answer(*said["read"])
        return "done" in said

    def _answer(self, name: str, offset: int, size: int) -> None:
        assert self.child.stdin
        data = b""
        with contextlib.suppress(OSError, ValueError, KeyError):
            if name not in self.open:
                self.open[name] = _plain(self.request.inputs).open(name)
            self.open[name].seek(offset)
            data = self.open[name].read(min(size, _BLOCK))
        self.child.stdin.write(len(data).to_bytes(4, "big") + data)
        self.child.stdin.flush()


def _plain(inputs: Inputs) -> Inputs:
    return inputs.inputs if isinstance(inputs, Unpacked) else inputs


def _packed(request: Request) -> dict[str, Any]:
    inputs = _plain(request.inputs)
    if isinstance(inputs, Folder):
        described: dict[str, Any] = {"folder": str(inputs.path.resolve())}
    else:
        paths = {file.name: file.path for file in inputs.files()} if isinstance(inputs, Stored) else {}
        described = {"files": [[n, inputs.size(n), mode_of(inputs, n), paths.get(n)] for n in inputs.names()]}
    described["archives"] = list(getattr(request.inputs, "archives", ()))
    return {
        "software": request.software, "version": request.version, "command": request.command, "cores": request.cores,
        "nodes": request.nodes, "memory": request.memory, "environment": dict(request.environment), "inputs": described,
    }  # fmt: skip


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"} if not os.access(__file__, os.W_OK) else kept


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    for stream in (child.stdin, child.stdout):
        with contextlib.suppress(OSError):
            if stream:
                stream.close()
    child.wait()


def _exploded(seconds: float, memory: int) -> Finding:
    return warning(
        f"The inputs could not be checked to the end within {seconds:.0f} s and {memory >> 20} MiB of memory.",
        thing="limits", remedy="Look for files that include themselves, are damaged, or are not what their name says.",
    )  # fmt: skip


# The child's side.


class Asked(io.RawIOBase):
    """A file whose bytes the parent hands over."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size, self.at = name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        self.at = max(0, base + offset)
        return self.at

    def readinto(self, buffer: Any) -> int:
        print(json.dumps({"read": [self.name, self.at, len(buffer)]}), flush=True)
        count = int.from_bytes(sys.stdin.buffer.read(4), "big")
        buffer[:count] = sys.stdin.buffer.read(count)
        self.at += count
        return count


def received(values: dict[str, Any]) -> Request:
    """The request as the child sees it."""
    described = values.pop("inputs")
    inputs: Inputs = Folder(described["folder"]) if "folder" in described else Stored(_stored(*file) for file in described["files"])
    archives = described["archives"]
    return Request(inputs=Unpacked(inputs, archives) if archives else inputs, **values)


def _stored(name: str, size: int, mode: int | None, path: str | None) -> StoredFile:
    def opener() -> BinaryIO:
        if path is not None:
            return open(path, "rb")
        return cast(BinaryIO, io.BufferedReader(Asked(name, size), _BLOCK))

    return StoredFile(name, size, opener, mode, path)

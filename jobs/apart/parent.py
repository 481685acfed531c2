"""The worker's side: starts the child, asks, serves the bytes that it can't open itself, ends it when it goes too far.

Lines to the child: {"ask": "judge" or "follow", "values": {...}, "seconds": 20}. Lines from it: {"read": [name, offset,
size]}, answered with four bytes of length and the bytes; {"answer": ...}; {"error": "why"}.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parents[2]
BLOCK = 1 << 20
Opener = Callable[[str], BinaryIO]


class Exploded(Exception):
    """No answer; says why in a sentence for people."""


class Died(Exception):
    """The child is gone, through whatever cause."""


class Child:
    """One child process, started when it is first asked. Not for two threads at once: see Children."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.process: subprocess.Popen[bytes] | None = None
        self.answered = 0

    def ask(self, what: str, values: dict[str, Any], seconds: float, opener: Opener | None = None) -> Any:
        """The answer. Raises Exploded."""
        before = self.answered
        try:
            return self._asked(what, values, seconds, opener)
        except Died:
            self.end()
            if before == 0:  # it did not live long enough to be killed by chance
                raise Exploded("The process that read it died.") from None
        try:
            return self._asked(what, values, seconds, opener)
        except Died:
            self.end()
            raise Exploded("The process that read it died.") from None

    def end(self) -> None:
        process, self.process, self.answered = self.process, None, 0
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        process.wait()

    def _asked(self, what: str, values: dict[str, Any], seconds: float, opener: Opener | None) -> Any:
        process = self._running()
        talk = _Talk(process, opener, time.monotonic() + seconds)
        try:
            said = talk.run({"ask": what, "values": values, "seconds": seconds})
        except TimeoutError:
            self.end()
            raise Exploded(f"It took longer than {seconds:.0f} s.") from None
        finally:
            talk.close()
        self.answered += 1
        if "error" in said:
            self.end()
            raise Exploded(f"It needed more than {self.memory >> 20} MiB of memory." if said["error"] == "memory" else said["error"])
        return said["answer"]

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is not None and self.process.poll() is not None:
            self.end()
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jobs.apart", str(self.memory)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd=ROOT, env=_environment(), start_new_session=True,
            )  # fmt: skip
        return self.process


class Children:
    """A few children, each started when all others are busy; whoever asks waits for a free one."""

    def __init__(self, count: int, memory: int) -> None:
        self.free: queue.LifoQueue[Child] = queue.LifoQueue()
        self.all = [Child(memory) for _ in range(count)]
        for child in reversed(self.all):
            self.free.put(child)

    def ask(self, what: str, values: dict[str, Any], seconds: float, opener: Opener | None = None) -> Any:
        """The answer. Raises Exploded."""
        child = self.free.get()
        try:
            return child.ask(what, values, seconds, opener)
        except Exploded:
            raise
        except BaseException:
            child.end()  # what it was about to say must not be taken for the next answer
            raise
        finally:
            self.free.put(child)

    def end(self) -> None:
        for child in self.all:
            child.end()


class _Talk:
    """One question and what is said until its answer."""

    def __init__(self, process: subprocess.Popen[bytes], opener: Opener | None, end: float) -> None:
        assert process.stdin and process.stdout
        self.stdin, self.stdout = process.stdin, process.stdout
        self.opener, self.end = opener, end
        self.open: dict[str, BinaryIO] = {}

    def run(self, question: dict[str, Any]) -> dict[str, Any]:
        """Raises TimeoutError, or Died."""
        self._send(json.dumps(question).encode() + b"\n")
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.stdout, selectors.EVENT_READ)
            while (left := self.end - time.monotonic()) > 0 and selector.select(left):
                data = os.read(self.stdout.fileno(), BLOCK)
                if not data:
                    raise Died
                *lines, pending = (pending + data).split(b"\n")
                for said in map(json.loads, lines):
                    if "read" not in said:
                        return said  # type: ignore[no-any-return]
                    self._serve(*said["read"])
        raise TimeoutError

    def close(self) -> None:
        for stream in self.open.values():
            stream.close()

    def _serve(self, name: str, offset: int, size: int) -> None:
        data = b""
        with contextlib.suppress(OSError, ValueError, KeyError):
            if name not in self.open:
                assert self.opener is not None
                self.open[name] = self.opener(name)
            self.open[name].seek(offset)
            data = self.open[name].read(min(size, BLOCK))
        self._send(len(data).to_bytes(4, "big") + data)

    def _send(self, data: bytes) -> None:
        try:
            self.stdin.write(data)
            self.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise Died from None


def _environment() -> dict[str, str]:
    """Nothing of the portal's own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"} if not os.access(__file__, os.W_OK) else kept

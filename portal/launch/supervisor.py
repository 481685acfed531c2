"""Keeps the children alive until somebody asks for the end, then ends them in order.

One idea: one loop in one thread, woken by signals (a child's death, Ctrl-C) through a pipe. Nothing else touches the
children, so there is no lock and no race: who has died is buried, waits its pause and is started again.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from . import record
from .children import Child, rotate

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 8.0
"""Seconds that children get after SIGTERM before SIGKILL."""
LAST = 1.0
"""Seconds after the others in which the last one (the broker) may end."""
LOOK = 5.0
"""Seconds between two looks without a signal (growing logs)."""


class Supervisor:
    """`children` are started in their order and ended in the reverse one; `say` prints a line for people."""

    def __init__(self, children: Sequence[Child], folder: Path, say: Callable[[str], None]) -> None:
        self.children, self.folder, self.say = children, folder, say
        self.ending, self.begun = False, time.time()
        self._reader, self._writer = os.pipe()
        for end in (self._reader, self._writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in ENDING:
            signal.signal(number, self._asked)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self, ready: Callable[[float], bool]) -> None:
        """Until a signal asks for the end. `ready` is asked, with the seconds waited, until it says True."""
        waiting = True
        while not self.ending:
            self._start_due()
            if waiting and ready(time.time() - self.begun):
                waiting = False
            self._wait(0.1 if waiting else self._next_start())
            self._bury()
        self.stop()

    def start(self, child: Child) -> None:
        child.start()
        self._record()

    def stop(self) -> None:
        """End all of them: TERM, and KILL for what is still there after GRACE; the first one ends last."""
        deadline = time.monotonic() + GRACE
        first, others = self.children[:1], self.children[1:]
        for child in reversed(others):
            child.end()
        self._await(others, deadline)
        for child in first:
            child.end()
        self._await(first, time.monotonic() + LAST)
        record.remove(self.folder)

    def _start_due(self) -> None:
        for child in self.children:
            if child.process is None and child.next_start <= time.monotonic() and not self.ending:
                self.start(child)

    def _bury(self) -> None:
        for child in self.children:
            if how := child.buried():
                self._record()
                if not self.ending:
                    self._tell_death(child, how)
            rotate(child.log)

    def _tell_death(self, child: Child, how: str) -> None:
        pause, words = child.next_start - time.monotonic(), child.last_words() if "exit code" in how else ""
        self.say(f"{child.name} {how}; starting it again in {pause:.1f} s" + (f" (its last words: {words[:160]})" if words else ""))

    def _await(self, children: Sequence[Child], deadline: float) -> None:
        while any(child.pid for child in children) and time.monotonic() < deadline:
            self._wait(deadline - time.monotonic())
        for child in children:
            child.kill()
        for child in children:
            if child.process:
                child.process.wait()

    def _next_start(self) -> float:
        """Seconds until something may have to be started."""
        starts = [child.next_start for child in self.children if child.process is None]
        return max(0.0, min(starts, default=time.monotonic() + LOOK) - time.monotonic())

    def _wait(self, seconds: float) -> None:
        select.select([self._reader], [], [], max(0.0, min(seconds, LOOK)))
        try:
            os.read(self._reader, 4096)
        except BlockingIOError:
            return

    def _record(self) -> None:
        pids = [("up", os.getpid(), self.begun)] + [(child.name, child.pid, child.since) for child in self.children if child.pid]
        entries = [record.Entry(name, pid, since, record.start_time(pid) or 0) for name, pid, since in pids if pid]
        record.write(self.folder, entries)

    def _asked(self, number: int, frame: object) -> None:
        if not self.ending:
            self.say("Ending; running jobs go on")
        self.ending = True

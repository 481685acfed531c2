"""A child of `up`: one process that dies with it, writes to a log file of its own and can be ended.

One idea: the kernel ties the child to us (PR_SET_PDEATHSIG), so even `kill -9` of `up` leaves nothing behind. Agents are
no children of anybody: they detach themselves and live on. Each child has a session of its own, so that Ctrl-C in the
terminal reaches `up` alone, which ends the children in order.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOG_LIMIT = 8 << 20
"""Bytes after which a child's log moves to NAME.log.1."""
LONG_ENOUGH = 10.0
"""Seconds of life after which a death counts as the first one again."""
SHORTEST, LONGEST = 0.2, 5.0
"""Seconds between a death and the next start: doubled each time."""

libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Child:
    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    cwd: Path
    process: subprocess.Popen[bytes] | None = None
    since: float = 0.0
    """Wall clock of its start."""
    next_start: float = 0.0
    """Monotonic clock: not to be started before."""
    deaths: int = field(default=0)
    _born: float = 0.0

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process and self.process.poll() is None else None

    def start(self) -> None:
        """Start it; never called twice without `buried`. Must be called by the main thread: its life is the child's."""
        rotate(self.log)
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603
                self.command, env=dict(self.environment), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=tied_to(os.getpid()), cwd=self.cwd,
            )
        self.since, self._born = time.time(), time.monotonic()

    def buried(self) -> str:
        """"" while it lives; else how it ended, once, with the time of its next start set."""
        if self.process is None or self.process.poll() is None:
            return ""
        code, self.process = self.process.returncode, None
        self.deaths = 0 if time.monotonic() - self._born > LONG_ENOUGH else self.deaths
        self.next_start = time.monotonic() + self.pause
        self.deaths += 1
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    @property
    def pause(self) -> float:
        return min(SHORTEST * 2**self.deaths, LONGEST)

    def end(self) -> None:
        """Ask it to end."""
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        """End it and whatever it started in its own session; agents have left that."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """The last line that it printed."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
                lines = file.read().decode(errors="replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def tied_to(parent: int) -> Callable[[], None]:
    """What runs between fork and exec: die with the parent, also if it died before we could ask for that."""

    def tie() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return tie


def rotate(log: Path, limit: int = LOG_LIMIT) -> None:
    """Copy a grown log aside and empty it; children append, so they go on at its new end."""
    try:
        if log.stat().st_size < limit:
            return
        log.with_name(log.name + ".1").write_bytes(log.read_bytes())
        os.truncate(log, 0)
    except OSError:
        return

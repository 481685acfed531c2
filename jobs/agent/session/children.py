"""The programs of a session: started, waited for, ended in order.

The one idea: the session is the reaper of all that descends from it, so that at the end it can tell what still runs and
take the display away only when nothing needs it any more.
"""
import os
import select
import signal
import subprocess
import time
from typing import Any, Dict, Iterable, List, Optional

from .. import sandbox, tree


class Children:
    """`ending` becomes true once the session was asked to end."""

    def __init__(self) -> None:
        sandbox.become_subreaper()
        self.ending = False
        self._codes: Dict[int, int] = {}
        self._ours: List["subprocess.Popen[bytes]"] = []
        self._out, wake = os.pipe()
        for fd in (self._out, wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._asked)

    def start(self, words: List[str], **options: Any) -> int:
        """Starts a program in a session of its own; its pid. Raises OSError."""
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        self._ours.append(child)
        return child.pid

    def code(self, pid: int) -> Optional[int]:
        """The exit code (negative: a signal) of a child that ended, else None."""
        return self._codes.get(pid)

    def wait(self, seconds: float, watch: Iterable[int] = ()) -> None:
        """Until a child ended, a signal came or the time is over; or one of these descriptors has something to read."""
        ready, _, _ = select.select([self._out, *watch], [], [], seconds)
        if self._out in ready:
            os.read(self._out, 4096)
        self._reap()

    def end(self, seconds: float, without: Iterable[int] = ()) -> None:
        """Asks all that runs to end and waits; what is still there is left to the caller."""
        spared = set(without)
        until = time.monotonic() + seconds
        asked: Dict[int, int] = {}
        while True:
            self._reap()
            living = [one for one in tree.descendants(os.getpid(), spared) if one.alive]
            if not living or time.monotonic() >= until:
                return
            fresh = [one for one in living if asked.get(one.pid) != one.starttime]
            tree.signal_all(fresh, signal.SIGTERM)
            asked.update((one.pid, one.starttime) for one in fresh)
            self.wait(0.1)

    def stop(self, pid: int, seconds: float = 2.0) -> None:
        """Ends one child."""
        until = time.monotonic() + seconds
        number = signal.SIGTERM
        while self.code(pid) is None:
            if time.monotonic() >= until:
                number = signal.SIGKILL
            try:
                os.kill(pid, number)
            except OSError:
                return
            self.wait(0.1)

    def _asked(self, *_: Any) -> None:
        self.ending = True

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            for child in self._ours:
                if child.pid == pid:
                    child.returncode = code
                    self._codes[pid] = code

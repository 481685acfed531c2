"""The process that owns the command. It keeps a reporter alive and does as the reporter says; it knows no network.

The one idea: a single thread around one poll(): children that end, lines from the reporter, and time.
"""
import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import Any, Callable, Dict, Optional, Set

from . import marks, sandbox
from .config import Config
from .ending import OUTSIDE
from .run import REST, Run

_LONGEST_PAUSE = 5.0  # seconds before a reporter that fails again and again is started once more


class Holder:
    """Lives until the reporter says that the portal let us go.

    `report(channel)` is the reporter's whole life; it runs in a forked child, again each time the last one died.
    """

    def __init__(self, config: Config, report: Callable[[socket.socket], int], log: Callable[[str], None]) -> None:
        self._config, self._report, self._log = config, report, log
        self._run = Run(config, self._bystanders, log)
        self._channel: Optional[socket.socket] = None
        self._reporter = 0
        self._respawn_at, self._pause = 0.0, 0.05
        self._heard = b""
        self._released = False
        self._asked_to_end = False
        self._look_at = 0.0

    def live(self) -> None:
        """The holder's life; returns when nothing is left to do."""
        sandbox.become_subreaper()
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        self._catch_signals(theirs)
        while not self._released:
            self._keep_reporter()
            self._wait(ours)
            self._obey_signals()  # before the command's own end: the same signal may have reached it
            self._reap()
            if self._run.turn():
                self._tell("exit")
            self._notice_the_end()
        self._leave()

    def _catch_signals(self, wake: socket.socket) -> None:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end_asked)
        signal.set_wakeup_fd(wake.fileno())

    def _end_asked(self, *_: Any) -> None:
        self._asked_to_end = True

    def _notice_the_end(self) -> None:
        """A look at our folder every few seconds."""
        if time.monotonic() > self._look_at:
            self._look_at = time.monotonic() + REST
            self._released = self._released or marks.taken_away(self._config.folder)

    def _obey_signals(self) -> None:
        """The machine wants us to end: so does the command, its outputs are still saved as far as time allows."""
        if self._asked_to_end:
            self._asked_to_end = False
            if self._run.active:
                self._run.stop(OUTSIDE)
            elif not self._run.begun:
                self._released = True

    def _wait(self, wake: socket.socket) -> None:
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        if self._channel:
            poll.register(self._channel, select.POLLIN)
        seconds = self._run.until_next()
        if not self._reporter:
            seconds = min(seconds, max(0.0, self._respawn_at - time.monotonic()))
        happened = {fd for fd, _ in poll.poll(int(seconds * 1000) + 1)}
        if wake.fileno() in happened:
            wake.recv(4096)
        if self._channel and self._channel.fileno() in happened:
            self._listen(self._channel)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait3(os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._reporter:
                self._reporter_ended(status)
            else:
                self._run.reaped(pid, status, usage.ru_maxrss * 1024)

    def _keep_reporter(self) -> None:
        if self._reporter or time.monotonic() < self._respawn_at:
            return
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._become_reporter(theirs)
        theirs.close()
        ours.setblocking(False)
        self._reporter, self._channel, self._heard = pid, ours, b""

    def _become_reporter(self, channel: socket.socket) -> None:
        """Never returns."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os._exit(self._report(channel))
        except BaseException as error:
            self._log("reporter: %r" % error)
        finally:
            os._exit(1)

    def _reporter_ended(self, status: int) -> None:
        if self._channel:
            self._listen(self._channel)  # its last words
            self._channel.close()
        self._channel, self._reporter = None, 0
        if os.WIFEXITED(status) and not self._released:  # it failed by itself, and may fail again
            self._respawn_at = time.monotonic() + self._pause
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def _listen(self, channel: socket.socket) -> None:
        try:
            self._heard += channel.recv(1 << 16)
        except OSError:
            return
        while b"\n" in self._heard:
            line, self._heard = self._heard.split(b"\n", 1)
            self._obey(json.loads(line.decode("ascii")))

    def _obey(self, message: Dict[str, Any]) -> None:
        do = message.pop("do")
        if do == "start":
            self._start(message["hosts"])
        elif do == "stop":
            self._run.stop(message["why"], message["force"], message["grace"])
        elif do == "deadlines":
            self._run.deadlines(message["walltime"], message["paid"])
        elif do == "release":
            self._released = True

    def _start(self, hosts: Any) -> None:
        spec = marks.read(self._config.folder, "spec.json")
        if spec is None:
            self._log("no spec to start from")
            return
        self._run.start(spec, hosts)
        self._tell("started")

    def _tell(self, happened: str) -> None:
        """A hint; what happened stands in the marks."""
        if self._channel:
            with contextlib.suppress(OSError):
                self._channel.send(json.dumps({"happened": happened}).encode("ascii") + b"\n")

    def _leave(self) -> None:
        """Ends whatever is left of the command, waits for the reporter's own end."""
        while self._run.living():
            self._run.kill()
            self._reap()
            time.sleep(0.01)
        deadline = time.monotonic() + 2
        while self._reporter and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.01)

    def _bystanders(self) -> Set[int]:
        return {self._reporter} if self._reporter else set()

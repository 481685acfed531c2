"""The reporter's end of the socket to the holder, and what is to be done when the holder is gone.

The one idea: the end of the stream means that the holder died. Then nothing watches over the command any more, so it is
ended here and its exit is written down as lost.
"""
import contextlib
import json
import os
import socket
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import marks, tree
from .bell import Bell
from .config import Config
from .ending import LOST


class Link:
    """`news` rings whenever something happened; `holder` is the holder's pid."""

    def __init__(self, config: Config, channel: socket.socket, log: Callable[[str], None]) -> None:
        self.news = Bell()
        self.family: List[tree.Process] = []  # what was last seen of the command
        self.holder = os.getppid()
        self._config, self._channel, self._log = config, channel, log
        self._lock = threading.Lock()
        self._last: Dict[str, Any] = {}
        self._alone = False

    def listen(self) -> None:
        """Starts to watch the holder."""
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, hosts: List[str]) -> None:
        self._send({"do": "start", "hosts": hosts})

    def stop(self, force: bool, grace: float) -> None:
        self._send({"do": "stop", "why": "wish", "force": force, "grace": grace})

    def deadlines(self, walltime: Optional[float], paid: Optional[float]) -> None:
        """Monotonic times."""
        self._send({"do": "deadlines", "walltime": walltime, "paid": paid})

    def release(self) -> None:
        """Everything is over. Without a holder its part is done here."""
        self._send({"do": "release"})
        if self._alone and self._config.head:
            end_all(self._config, self.family)

    def _send(self, message: Dict[str, Any]) -> None:
        with self._lock:
            if self._last.get(message["do"]) == message:
                return
            self._last[message["do"]] = message
            with contextlib.suppress(OSError):
                self._channel.sendall(json.dumps(message).encode("ascii") + b"\n")

    def _listen(self) -> None:
        while True:
            try:
                if not self._channel.recv(4096):
                    break
            except OSError:
                break
            self.news.ring()
        self._alone = True
        self._log("the holder is gone")
        settle(self._config, self.family)
        self.news.ring()


def settle(config: Config, family: Sequence[tree.Process] = ()) -> None:
    """Without a holder: ends what is left of the command and writes down its exit, if that is not done already."""
    if not config.head:
        return  # the command is the head's
    begun = marks.exists(config.folder, marks.STARTED)
    ended = end_all(config, family)
    if marks.exists(config.folder, marks.EXIT):
        return
    own = marks.read(config.folder, marks.ENDED)  # it ended by itself, only its tree was not yet cleared
    marks.write(config.folder, marks.EXIT, dict(own or _lost(config, begun), leftovers=ended))


def end_all(config: Config, family: Sequence[tree.Process] = ()) -> int:
    """Kills every process of the command wherever it went; returns how many. The cluster's agents stay.

    `family`: processes that were seen to be the command's, whatever their environment says.
    """
    ours = tree.family(os.getpid())
    uid = config.run_as[0] if config.run_as and config.run_as[0] != os.getuid() else None

    def found() -> List[tree.Process]:
        listed = [tree.look(pid) for pid in tree.in_cgroups(config.cgroups)]
        known = [process for process in family if tree.same(process.pid, process.starttime)]
        roots = known + tree.marked(config.token, uid) + [process for process in listed if process]
        below = [child for root in roots for child in tree.descendants(root.pid)]
        return [process for process in roots + below if process.pid not in ours]

    return tree.kill_until_gone(found)


def _lost(config: Config, begun: bool) -> Dict[str, Any]:
    mark = marks.read(config.folder, marks.STARTED) or {}
    here = begun and mark.get("boot") == marks.boot_id()
    ran = time.monotonic() - float(mark["monotonic"]) if here else 0.0
    return {"code": None, "signal": None, "memory_killed": False, "why": LOST, "clock": time.time(), "ran": ran, "pipe": None}

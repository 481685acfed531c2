"""All log streams of the command, sent by one thread over one connection.

The one idea: whoever has bytes gets a chunk's turn, round and round; with nothing to send it looks every 10 ms while
somebody watches, else every 250 ms.
"""
import os
import time
from typing import Any, Callable, Dict, List, Optional

from . import marks
from .bell import Bell
from .config import Config
from .folder import Folder, Refused
from .orders import Orders
from .spool import STDOUT, limits
from .streams import Kept, Stream
from .wire import FIRST_PAUSE, Portal, Unreachable, longer, raw

WATCHED, UNWATCHED = 0.01, 0.25  # seconds between looks
LATE = 1 << 20  # bytes at the end of a long file that somebody begins to look at
_EAGER = 10.0  # seconds after the start in which first bytes are looked for at the watched pace
_NOTES = "streams.json"


class Logs:
    """Start it with run() in a thread; finish() tells it that no more bytes will come."""

    def __init__(self, config: Config, spec: Dict[str, Any], portal: Portal, orders: Orders) -> None:
        self._config, self._spec, self._portal, self._orders = config, spec, portal, orders
        self._notes = marks.read(config.folder, _NOTES) or {}
        self._noted = ""
        self._folder: Optional[Folder] = None
        self._streams: Dict[str, Stream] = {}
        self._final = False
        self._wake = Bell()
        self._began = time.monotonic()
        self.kept: List[Kept] = []

    def run(self) -> None:
        """Sends until finish() was called and all is sent. Raises Released."""
        pause = FIRST_PAUSE
        while True:
            final = self._final
            try:
                busy = self._round(final)
                pause = FIRST_PAUSE
            except Unreachable:
                self._portal.wait(pause)
                pause = longer(pause)
                continue
            if not busy and final:
                break
            if not busy:
                self._rest(self._interval())
        found = [stream for stream in self._streams.values() if stream.found or stream.name == STDOUT]
        self.kept = [kept for stream in found for kept in stream.ended + [stream.finish()]]

    def finish(self) -> None:
        """The command is over: what is in the files now is all."""
        self._final = True
        self._wake.ring()

    def wake(self) -> None:
        """Look now: orders changed."""
        self._wake.ring()

    def _round(self, final: bool) -> int:
        """A turn for every stream; how many got on. Raises Unreachable."""
        self._open_streams()
        busy = sum(stream.step(self._portal, final) for stream in self._streams.values())
        self._save_notes()
        return busy

    def _rest(self, seconds: float) -> None:
        self._portal.check()
        self._wake.wait(seconds)

    def _interval(self) -> float:
        waiting = any(stream.empty for stream in self._streams.values())
        if self._orders.watched or (waiting and time.monotonic() - self._began < _EAGER):
            return WATCHED
        return UNWATCHED

    def _open_streams(self) -> None:
        wanted = dict(self._spec.get("streams") or {STDOUT: None})
        wanted.update(("file:" + path, path) for path in self._orders.tails)
        for name in [name for name in self._streams if name not in wanted]:
            self._notes[name] = self._streams[name].note()
            self._streams.pop(name).close()
        for name, path in wanted.items():
            if name not in self._streams:
                self._streams[name] = self._stream(name, path)

    def _stream(self, name: str, path: Optional[str]) -> Stream:
        head, tail = limits(self._spec)
        late = LATE if name.startswith("file:") else None
        return Stream(name, self._opener(path), head, tail, self._notes.get(name, {}), late)

    def _opener(self, path: Optional[str]) -> Callable[[], Optional[int]]:
        def spool() -> Optional[int]:
            try:
                return os.open(self._config.path(STDOUT), os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return None

        def inside() -> Optional[int]:
            try:
                self._folder = self._folder or Folder(self._config.workdir, self._config.run_as)
                return self._folder.read(raw(path or ""))
            except (OSError, Refused, UnicodeEncodeError):
                return None

        return spool if path is None else inside

    def _save_notes(self) -> None:
        """At once when a generation changed; how far a file was seen may be a little old."""
        self._notes.update((name, stream.note()) for name, stream in self._streams.items())
        key = repr([(name, note["generation"], note["inode"], note["seen"] >> 20) for name, note in self._notes.items()])
        if key != self._noted:
            marks.try_save(self._config.folder, _NOTES, self._notes)
            self._noted = key

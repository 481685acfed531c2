"""Copies of the home on their way to the portal: asked for room, sent in parts, agreed on by checksum.

The one idea: a copy counts once the portal has hashed the same bytes; whatever goes wrong before that costs another copy
from the beginning, and never the last whole one.
"""
import hashlib
import queue
import secrets
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import marks
from .config import Config
from .home import Archive, Gone, Measure, measure
from .wire import Missing, Portal, patient

PART = 4 << 20  # bytes at the most; three parts are in memory
ROOM = "room.json"  # {"copy", "size"}: for which the portal keeps room since before the session's end
SAVED = "home.json"  # the last whole copy: {"copy", "mark", "final", "files", "bytes", "skipped"}


class Interrupted(Exception):
    """Something more important came up."""


class NoRoom(Exception):
    """The copy can't be kept; the message says why, in words for people."""


class Failed(Exception):
    """This copy came to nothing; another may be made."""


class Copies:
    """Makes copies. `limit`: bytes that a home may have, 0 for any."""

    def __init__(self, config: Config, portal: Portal, limit: int) -> None:
        self._config, self._portal, self._limit = config, portal, limit

    def room(self, why: str, check: Callable[[], None]) -> None:
        """Has the portal keep room for a copy, which the next make() fills. Raises NoRoom, Released or what check() raises."""
        copy = secrets.token_hex(8)
        measured = self._measured(check)
        self._ask(copy, why, measured, check)
        marks.try_save(self._config.folder, ROOM, {"copy": copy, "size": measured.size})

    def make(self, why: str, final: bool, check: Callable[[], None]) -> Dict[str, Any]:
        """Makes a whole copy. Raises NoRoom, Failed, Released or what check() raises."""
        room = marks.read(self._config.folder, ROOM) or {}
        copy = str(room.get("copy") or secrets.token_hex(8))
        marks.forget(self._config.folder, ROOM)  # what comes to nothing is begun anew under another name
        measured = self._measured(check)
        if measured.size > int(room.get("size") or 0):
            self._ask(copy, why, measured, check)
        archive = Archive(self._config, check)
        sent = self._sent(archive, copy, check)
        body = {"copy": copy, "size": sent.size, "sha256": sent.digest.hexdigest(), "files": archive.files, "why": why}
        body.update(skipped=archive.skipped, left_out=archive.left_out, unread=archive.unread, changed=archive.changed)
        answer = self._portal.ask("home/whole", body, check)
        if answer.code != 200:
            raise Failed("the portal did not get it whole (%d)" % answer.code)
        mark = "" if archive.unread else measured.mark  # what could not be read may be readable next time
        saved = {"copy": copy, "mark": mark, "final": final, "files": archive.files, "bytes": sent.size}
        saved["skipped"] = archive.left_out
        marks.try_save(self._config.folder, SAVED, saved)
        return saved

    def changed(self, check: Callable[[], None]) -> bool:
        """Whether the home is not as it was in the last whole copy."""
        return measure(self._config, check).mark != (self.last() or {}).get("mark")

    def last(self) -> Optional[Dict[str, Any]]:
        """The last whole copy."""
        return marks.read(self._config.folder, SAVED)

    def _measured(self, check: Callable[[], None]) -> Measure:
        try:
            measured = measure(self._config, check)
        except Gone as gone:
            raise NoRoom("the home is gone: %s" % gone) from gone
        if self._limit and measured.size > self._limit:
            raise NoRoom("the home has %s, %s can be saved" % (_words(measured.size), _words(self._limit)))
        return measured

    def _ask(self, copy: str, why: str, measured: Measure, check: Callable[[], None]) -> None:
        """For room. Raises NoRoom, Released or what check() raises."""
        body = {"copy": copy, "why": why, "size": measured.size, "files": measured.files}
        answer = self._portal.ask("home/room", body, check)
        if not answer.body.get("ok"):
            raise NoRoom(str(answer.body.get("message") or "there is no room for the home (%d)" % answer.code))

    def _sent(self, archive: Archive, copy: str, check: Callable[[], None]) -> "_Sending":
        sending = _Sending(self._portal, copy, check)
        try:
            for piece in archive.pieces():
                sending.add(piece)
            sending.finish()
        except Gone as gone:
            raise Failed("the home is gone: %s" % gone) from gone
        finally:
            sending.close()
        return sending


class _Sending:
    """The archive's bytes in parts: while one is on its way, the next is read and hashed."""

    def __init__(self, portal: Portal, copy: str, check: Callable[[], None]) -> None:
        self.size, self.digest = 0, hashlib.sha256()
        self._portal, self._copy, self._check = portal, copy, check
        self._pieces: List[bytes] = []
        self._filled = 0
        self._parts: "queue.Queue[Optional[List[bytes]]]" = queue.Queue(1)
        self._error: Optional[BaseException] = None
        self._closed = False
        self._thread = threading.Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def add(self, piece: bytes) -> None:
        """Raises whatever kept an earlier part from being sent."""
        if self._filled + len(piece) > PART:
            self._hand_over()
        self.digest.update(piece)
        self._pieces.append(piece)
        self._filled += len(piece)

    def finish(self) -> None:
        """Everything has arrived. Raises as add()."""
        self._hand_over()
        self._parts.put(None)
        self._thread.join()
        if self._error:
            raise self._error

    def close(self) -> None:
        """Gives up what is not sent yet."""
        self._closed = True
        if self._thread.is_alive():
            self._parts.put(None)
            self._thread.join()

    def _hand_over(self) -> None:
        if self._error:
            raise self._error
        self._parts.put(self._pieces)
        self._pieces, self._filled = [], 0

    def _send_all(self) -> None:
        """A thread's life. After an error the rest is taken and dropped, so that nobody waits for room in the queue."""
        for pieces in iter(self._parts.get, None):
            if self._error or not pieces:
                continue
            try:
                self._send(b"".join(pieces))
            except BaseException as error:
                self._error = error
        self._portal.drop()

    def _go_on(self) -> None:
        if self._closed:
            raise Interrupted()
        self._check()

    def _send(self, data: bytes) -> None:
        """A part, however often the connection breaks under it."""
        for rest in self._rests(data):
            offset = self.size + len(data) - len(rest)
            try:
                answer = patient(self._portal, self._go_on, "home/part", rest, copy=self._copy, offset=offset)
            except Missing as error:
                raise Failed("the portal keeps no room for this copy any more") from error
            if answer.code == 200:
                break
            if answer.code != 409:
                raise NoRoom(str(answer.body.get("message") or "the portal refused the copy (%d)" % answer.code))
            self._has = int(answer.body.get("size", -1))
        self.size += len(data)

    def _rests(self, data: bytes) -> Iterator[bytes]:
        """The part, then what the portal says that it lacks of it."""
        self._has = self.size
        for _ in range(5):
            if not self.size <= self._has <= self.size + len(data):
                break
            yield data[self._has - self.size:]
        raise Failed("the portal has lost the beginning of the copy")


def _words(size: int) -> str:
    return "%.1f GB" % (size / 1e9) if size >= 10 ** 9 else "%.1f MB" % (size / 1e6)

"""Copies of the home on their way to the portal: asked for room, sent in parts, agreed on by checksum.

The one idea: a copy counts once the portal has hashed the same bytes; whatever goes wrong before that costs another copy
from the beginning, and never the last whole one.
"""
import hashlib
import secrets
from typing import Any, Callable, Dict, Iterator, Optional

from . import marks
from .config import Config
from .home import Archive, Gone, Measure, measure
from .wire import Missing, Portal, patient

PART = 8 << 20  # bytes
ROOM = "room.json"  # {"copy"}: for which the portal keeps room since before the session's end
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
        self._ask(copy, why, check)
        marks.try_save(self._config.folder, ROOM, {"copy": copy})

    def make(self, why: str, final: bool, check: Callable[[], None]) -> Dict[str, Any]:
        """Makes a whole copy. Raises NoRoom, Failed, Released or what check() raises."""
        copy = str((marks.read(self._config.folder, ROOM) or {}).get("copy") or secrets.token_hex(8))
        marks.forget(self._config.folder, ROOM)  # what comes to nothing is begun anew under another name
        measured = self._ask(copy, why, check)
        archive = Archive(self._config, check)
        sent = _Sending(self._portal, copy, check)
        try:
            for piece in archive.pieces():
                sent.add(piece)
        except Gone as gone:
            raise Failed("the home is gone: %s" % gone) from gone
        sent.finish()
        body = {"copy": copy, "size": sent.size, "sha256": sent.digest.hexdigest(), "files": archive.files}
        body.update(skipped=archive.skipped, left_out=archive.left_out, changed=archive.changed, why=why)
        answer = self._portal.ask("home/whole", body, check)
        if answer.code != 200:
            raise Failed("the portal did not get it whole (%d)" % answer.code)
        saved = {"copy": copy, "mark": measured.mark, "final": final, "files": archive.files, "bytes": sent.size}
        saved["skipped"] = archive.left_out
        marks.try_save(self._config.folder, SAVED, saved)
        return saved

    def changed(self, check: Callable[[], None]) -> bool:
        """Whether the home is not as it was in the last whole copy."""
        return measure(self._config, check).mark != (self.last() or {}).get("mark")

    def last(self) -> Optional[Dict[str, Any]]:
        """The last whole copy."""
        return marks.read(self._config.folder, SAVED)

    def _ask(self, copy: str, why: str, check: Callable[[], None]) -> Measure:
        try:
            measured = measure(self._config, check)
        except Gone as gone:
            raise NoRoom("the home is gone: %s" % gone) from gone
        if self._limit and measured.size > self._limit:
            raise NoRoom("the home has %s, %s can be saved" % (_words(measured.size), _words(self._limit)))
        body = {"copy": copy, "why": why, "size": measured.size, "files": measured.files}
        answer = self._portal.ask("home/room", body, check)
        if not answer.body.get("ok"):
            raise NoRoom(str(answer.body.get("message") or "there is no room for the home (%d)" % answer.code))
        return measured


class _Sending:
    """The archive's bytes, in parts of one size."""

    def __init__(self, portal: Portal, copy: str, check: Callable[[], None]) -> None:
        self.size, self.digest = 0, hashlib.sha256()
        self._portal, self._copy, self._check = portal, copy, check
        self._part = bytearray()

    def add(self, piece: bytes) -> None:
        self.digest.update(piece)
        self._part += piece
        while len(self._part) >= PART:
            self._send(bytes(self._part[:PART]))
            del self._part[:PART]

    def finish(self) -> None:
        if self._part:
            self._send(bytes(self._part))

    def _send(self, data: bytes) -> None:
        """A part, however often the connection breaks under it."""
        for rest in self._rests(data):
            offset = self.size + len(data) - len(rest)
            try:
                answer = patient(self._portal, self._check, "home/part", rest, copy=self._copy, offset=offset)
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

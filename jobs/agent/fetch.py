"""Files on their way from the portal to this node: fetched with Range, checked by their sha256.

The one idea: what has arrived stays on disk and is hashed again, so any break, of the connection or of the reporter, costs
only what was not there yet.
"""
import hashlib
import os
from http.client import HTTPException
from typing import Any, Callable, Dict, Iterator

from .folder import Refused
from .wire import FIRST_PAUSE, Missing, Portal, Unreachable, longer

_PIECE = 1 << 20
_TRIES = 3  # downloads whose checksum may be wrong


class Failed(Exception):
    """A file can't be had or put in place: which one, and why, in words for people."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__(message)
        self.file, self.message = file, message


class Stopped(Exception):
    """The wish changed meanwhile."""


class Fetch:
    """`bytes`: all that has arrived so far, of all files."""

    def __init__(self, portal: Portal, stopping: Callable[[], bool]) -> None:
        self.bytes = 0
        self._portal, self._stopping = portal, stopping

    def file(self, wanted: Dict[str, Any], path: str) -> None:
        """The whole, checked file under this path. Raises Failed, Stopped, Released or OSError."""
        before = self.bytes
        for _ in range(_TRIES):
            self.bytes = before
            found = self._download(wanted, path)
            if found and found == (wanted.get("sha256") or found):
                return
            os.unlink(path)
        raise Failed(wanted["name"], "its checksum is wrong after %d downloads" % _TRIES)

    def _download(self, wanted: Dict[str, Any], path: str) -> str:
        """Fetches what is missing, however often the connection breaks; returns the sha256."""
        digest = hashlib.sha256()
        pause = FIRST_PAUSE
        with open(path, "ab+") as file:
            for piece in _pieces(file):
                self._count(digest, piece)
            while file.tell() < wanted["size"]:
                had = file.tell()
                if self._stopping():
                    raise Stopped()
                try:
                    self._more(wanted, file, digest)
                except Missing:
                    raise Failed(wanted["name"], "the portal does not have this file any more") from None
                except (Unreachable, HTTPException, ConnectionError, TimeoutError):
                    self._portal.drop()
                if file.tell() == had:
                    self._portal.wait(pause)
                    pause = longer(pause)
            return digest.hexdigest() if file.tell() == wanted["size"] else ""

    def _more(self, wanted: Dict[str, Any], file: Any, digest: Any) -> None:
        """One request's worth. May raise what sockets raise."""
        start = file.tell()
        response = self._portal.stream("input/%s" % plain(wanted["id"]), start)
        if start and response.status == 200:  # it does not know ranges
            _skip(response, start)
        while file.tell() < wanted["size"]:
            if self._stopping():
                self._portal.drop()
                raise Stopped()
            piece = response.read(min(_PIECE, wanted["size"] - file.tell()))
            if not piece:
                self._portal.drop()
                return
            file.write(piece)
            file.flush()
            self._count(digest, piece)
        response.read()

    def _count(self, digest: Any, piece: bytes) -> None:
        digest.update(piece)
        self.bytes += len(piece)


def plain(name: Any) -> str:
    """A file's id as part of a path: nothing but letters, digits, dash and underscore. Raises Refused."""
    found = "".join(char for char in str(name) if char.isalnum() or char in "-_")
    if not found or found != str(name):
        raise Refused("an input's id that is no id: %r" % (name,))
    return found


def _pieces(file: Any) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(_PIECE), b"")


def _skip(response: Any, count: int) -> None:
    while count:
        piece = response.read(min(_PIECE, count))
        if not piece:
            raise HTTPException("the answer ended early")
        count -= len(piece)

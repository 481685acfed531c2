"""Files that its user sends into the home of a workstation while the session lives.

The one idea: a file gets its name by a hard link, which fails where something is, and the agent's mark that it is there comes
before its first, hidden name (hidden.py) goes. So whatever dies in between, it is never half there and never there twice.
"""
import contextlib
import os
import stat
import threading
from typing import Any, Callable, Dict, Optional, Set

from . import apart, hidden, marks
from .bell import Bell
from .config import Config
from .fetch import Failed, Fetch, Stopped, plain
from .folder import Folder, Refused
from .hidden import Hidden
from .orders import FORCE, RUN, Orders
from .wire import Portal, raw, text

_PIECE = 1 << 20
_LONGEST = 255  # bytes of a name
_LONGEST_END = 64  # bytes after a name's last dot that are kept; more are no ending
_NAMES = 1000  # "name", "name (2)" and so on that are tried
_MARK = "brought-%s.json"  # {"name", "told"}: it is in the home under this name; the portal knows


class Bringing:
    """One thread's work, and `finish()` before the home is saved."""

    def __init__(self, config: Config, portal: Portal, orders: Orders, over: Callable[[], bool], log: Callable[[str], None]) -> None:
        self.news = Bell()
        self._config, self._portal, self._orders, self._over, self._log = config, portal, orders, over, log
        self._fetch = Fetch(portal, self._stopping)
        self._told: Set[str] = set()  # among the orders, but told to be there or impossible
        self._putting = threading.Lock()
        self._closed = False

    def run(self) -> None:
        """A thread's life. Raises Released."""
        while not self._closed and not self._over():
            wanted = self._next()
            if wanted:
                self._one(wanted, str(wanted["id"]))
            else:
                self.news.wait(5.0)
                self._portal.check()

    def finish(self) -> None:
        """Nothing is put into the home from now on, and what is in it is known to the portal. Raises Released."""
        self._closed = True
        with self._putting:
            for code in hidden.codes(self._config):
                self._settle(code)
            for name in os.listdir(self._config.folder):
                if name.startswith("brought-") and name.endswith(".json"):
                    self._tell_of(name[len("brought-"):-len(".json")])

    def _next(self) -> Optional[Dict[str, Any]]:
        orders = self._orders.bring
        self._told &= {str(file["id"]) for file in orders}
        if self._stopping():
            return None
        return next((file for file in orders if str(file["id"]) not in self._told), None)

    def _one(self, wanted: Dict[str, Any], code: str) -> None:
        """Fetched, put in place, told; or told why not."""
        part = self._config.path("brought-%s.part" % plain(code))
        try:
            if not marks.exists(self._config.folder, _MARK % code):
                self._fetch.file(dict(wanted, id="sent-%s" % code), part)
            with self._putting:
                if self._stopping():
                    return
                self._put(wanted, code, part)
                self._tell_of(code)
        except Stopped:
            return
        except (Failed, Refused, OSError, UnicodeEncodeError) as error:
            words = getattr(error, "strerror", None) or str(error)
            self._log("bringing %s: %s" % (code, words))
            self._portal.insist("brought", {"id": wanted["id"], "error": words}, give_up=self._given_up)
        self._told.add(code)
        with contextlib.suppress(OSError):
            os.unlink(part)

    def _put(self, wanted: Dict[str, Any], code: str, part: str) -> None:
        """In place and marked; its hidden name goes in any case. Raises Failed, Refused or OSError."""
        try:
            if not marks.exists(self._config.folder, _MARK % code):
                self._place(wanted, code, part)
        finally:
            self._free(code)

    def _place(self, wanted: Dict[str, Any], code: str, part: str) -> None:
        taken, mode = hidden.take(self._config, code, raw(wanted["name"])), int(wanted.get("mode") or 0o644)
        with open(part, "rb") as source:
            fd = source.fileno()
            answer = apart.done(self._config, lambda: {"name": text(_placed(self._config.workdir, fd, taken, mode))}, fd)
        if "error" in answer:
            raise Failed(wanted["name"], answer["error"])
        marks.write(self._config.folder, _MARK % code, {"name": answer["name"], "told": False})

    def _settle(self, code: str) -> None:
        """What somebody who died left: it is there if it had got its name already."""
        taken = hidden.of(self._config, code)
        if taken and not marks.exists(self._config.folder, _MARK % code):
            name = self._apart(lambda: {"name": text(_found(self._config.workdir, taken))}).get("name")
            if name:
                marks.try_save(self._config.folder, _MARK % code, {"name": name, "told": False})
        self._free(code)

    def _free(self, code: str) -> None:
        """Takes the hidden name away; the file has its own, or is none."""
        taken = hidden.of(self._config, code)
        if taken and "error" not in self._apart(lambda: _without(self._config.workdir, taken)):
            hidden.free(self._config, code)

    def _apart(self, work: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
        with open(os.devnull, "rb") as nothing:
            return apart.done(self._config, work, nothing.fileno())

    def _tell_of(self, code: str) -> None:
        """Says under which name it is there, unless that is known."""
        mark = marks.read(self._config.folder, _MARK % code)
        if mark is None or code in self._told or (mark["told"] and self._closed):
            return
        answer = self._portal.insist("brought", {"id": int(code), "name": mark["name"]}, give_up=self._given_up)
        if answer.code == 200:
            marks.try_save(self._config.folder, _MARK % code, dict(mark, told=True))

    def _stopping(self) -> bool:
        return self._closed or self._over() or self._orders.wish != RUN

    def _given_up(self) -> bool:
        return self._orders.wish == FORCE


# --- in the child -----------------------------------------------------------------------------------------------------
def _placed(home: str, source: int, taken: Hidden, mode: int) -> bytes:
    """Copies the open file to its place, or to the next one that is free; its path. Raises OSError or Refused."""
    with Folder(home).parent(taken.path, create=True) as (fd, name):
        found = _linked(fd, taken.name)
        if found is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(taken.name, dir_fd=fd)  # half of it
            _copy(source, fd, taken.name, mode)
            found = _named(fd, taken.name, name)
    return _beside(taken, found)


def _found(home: str, taken: Hidden) -> bytes:
    """The path that it got before somebody died, or none."""
    with Folder(home).parent(taken.path) as (fd, _):
        found = _linked(fd, taken.name)
    return _beside(taken, found) if found else b""


def _without(home: str, taken: Hidden) -> Dict[str, Any]:
    """Takes the hidden name away; it may be gone, or its folder."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), Folder(home).parent(taken.path) as (fd, _):
        os.unlink(taken.name, dir_fd=fd)
    return {}


def _beside(taken: Hidden, name: bytes) -> bytes:
    return taken.path[:len(taken.path) - len(taken.path.rsplit(b"/", 1)[-1])] + name


def _linked(fd: int, first: bytes) -> Optional[bytes]:
    """The name that it got before somebody died."""
    try:
        status = os.stat(first, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        for name in map(os.fsencode, os.listdir(fd)):
            if name != first and os.stat(name, dir_fd=fd, follow_symlinks=False).st_ino == status.st_ino:
                return name
    return None


def _copy(source: int, fd: int, first: bytes, mode: int) -> None:
    made = os.open(first, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=fd)
    try:
        with os.fdopen(os.dup(made), "wb") as target, os.fdopen(os.dup(source), "rb") as data:
            for piece in iter(lambda: data.read(_PIECE), b""):
                target.write(piece)
        os.fchmod(made, mode & 0o777)
        os.fsync(made)
    finally:
        os.close(made)


def _named(fd: int, first: bytes, name: bytes) -> bytes:
    for number in range(1, _NAMES + 1):
        with contextlib.suppress(FileExistsError):
            os.link(first, _numbered(name, number), src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
            return _numbered(name, number)
    raise Refused("there are %d files of this name already" % _NAMES)


def _numbered(name: bytes, number: int) -> bytes:
    """deck.inp, deck (2).inp, deck (3).inp: what it ends with says what it is. A long one is cut before the number."""
    if number == 1:
        return name
    start, end = os.path.splitext(name)
    if len(end) > _LONGEST_END:
        start, end = name, b""
    end = b" (%d)%s" % (number, end)
    return _cut(start, _LONGEST - len(end)) + end


def _cut(name: bytes, most: int) -> bytes:
    """At most so many bytes of it, and no part of a letter in UTF-8 at the end."""
    at = most
    while len(name) > most and at > most - 3 and name[at] & 0xC0 == 0x80:
        at -= 1
    return name[:at]

"""Files that its user sends into the home of a workstation while the session lives.

The one idea: a file gets its name by a hard link, which fails where something is, and the agent's mark that it is there comes
before its first, hidden name goes. So whatever dies in between, it is never half there and never there twice.
"""
import contextlib
import os
import stat
import threading
from typing import Any, Callable, Dict, Optional, Set

from . import apart, marks
from .bell import Bell
from .config import Config
from .fetch import Failed, Fetch, Stopped, plain
from .folder import Folder, Refused
from .orders import FORCE, RUN, Orders
from .wire import Portal, raw, text

_PIECE = 1 << 20
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
        """In place and marked. Raises Failed."""
        if marks.exists(self._config.folder, _MARK % code):
            return
        path, hidden = raw(wanted["name"]), b".bringing-" + code.encode("ascii")
        with open(part, "rb") as source:
            fd = source.fileno()
            mode = int(wanted.get("mode") or 0o644)
            answer = apart.done(self._config, lambda: {"name": text(_placed(self._config.workdir, fd, path, hidden, mode))}, fd)
            if "error" in answer:
                raise Failed(wanted["name"], answer["error"])
            marks.write(self._config.folder, _MARK % code, {"name": answer["name"], "told": False})
            apart.done(self._config, lambda: _without(self._config.workdir, path, hidden), fd)

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
def _placed(home: str, source: int, path: bytes, hidden: bytes, mode: int) -> bytes:
    """Copies the open file to its place, or to the next one that is free; its path. Raises OSError or Refused."""
    folder = Folder(home)
    with folder.parent(path, create=True) as (fd, name):
        found = _linked(fd, hidden)
        if found is None:
            _copy(source, fd, hidden, mode)
            found = _named(fd, hidden, name)
    return path[:len(path) - len(path.rsplit(b"/", 1)[-1])] + found


def _without(home: str, path: bytes, hidden: bytes) -> Dict[str, Any]:
    """Takes the hidden name away; the file has its own."""
    with Folder(home).parent(path) as (fd, _):
        os.unlink(hidden, dir_fd=fd)
    return {}


def _linked(fd: int, hidden: bytes) -> Optional[bytes]:
    """The name that it got before somebody died; what has none yet goes."""
    try:
        status = os.stat(hidden, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        for name in map(os.fsencode, os.listdir(fd)):
            if name != hidden and os.stat(name, dir_fd=fd, follow_symlinks=False).st_ino == status.st_ino:
                return name
    os.unlink(hidden, dir_fd=fd)
    return None


def _copy(source: int, fd: int, hidden: bytes, mode: int) -> None:
    made = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=fd)
    try:
        with os.fdopen(os.dup(made), "wb") as target, os.fdopen(os.dup(source), "rb") as data:
            for piece in iter(lambda: data.read(_PIECE), b""):
                target.write(piece)
        os.fchmod(made, mode & 0o777)
        os.fsync(made)
    except BaseException:
        os.unlink(hidden, dir_fd=fd)
        raise
    finally:
        os.close(made)


def _named(fd: int, hidden: bytes, name: bytes) -> bytes:
    for number in range(1, _NAMES + 1):
        with contextlib.suppress(FileExistsError):
            os.link(hidden, _numbered(name, number), src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
            return _numbered(name, number)
    os.unlink(hidden, dir_fd=fd)
    raise Refused("there are %d files of this name already" % _NAMES)


def _numbered(name: bytes, number: int) -> bytes:
    """deck.inp, deck (2).inp, deck (3).inp: what it ends with says what it is."""
    start, end = os.path.splitext(name)
    return name if number == 1 else b"%s (%d)%s" % (start, number, end)

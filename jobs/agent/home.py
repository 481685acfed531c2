"""The home of a workstation as a tar archive, written while it is read.

The one idea: POSIX pax headers made by hand (IEEE Std 1003.1, pax interchange format), because times to the nanosecond
and names of any bytes are to come back as they were; memory stays flat, however many files there are.
"""
import errno
import hashlib
import os
import stat
from typing import Callable, Dict, Generator, Iterator, List, NamedTuple, Optional, Tuple

from . import hidden
from .config import Config
from .folder import Folder, Refused, open_plain
from .walk import Entry, walk
from .wire import text

MOST_NAMED = 100  # skipped things that are named; all are counted
_PIECE = 1 << 20
_BLOCK = 512
_END = 20 * _BLOCK
_FILE, _LINK, _SYMLINK, _FOLDER, _PAX = b"0", b"1", b"2", b"5", b"x"
_WORDS = {"fifo": "a fifo", "socket": "a socket", "device": "a device"}
_OURS = (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ELOOP, errno.ENXIO)  # of the file's own making, not of its disk's
UNREAD = "HEADRACE.unread"  # of a pax header: the member before, of the same name, could not be read and is none


class Measure(NamedTuple):
    """`size`: bytes that the archive can't exceed unless files grow; `mark` changes when anything in the home does."""

    size: int
    files: int
    mark: str


class Gone(Exception):
    """There is no home."""


def measure(config: Config, check: Callable[[], None]) -> Measure:
    """Looks through the whole home without reading a file. Raises Gone, or what check() raises."""
    size, files, digest = _END, 0, hashlib.sha256()
    links: Dict[Tuple[int, int], int] = {}  # as Archive has them: a file's first name, here its length
    folder = _opened(config)
    try:
        for entry in _entries(config, folder):
            check()
            status = entry.status
            if status is None or entry.kind not in ("file", "dir", "symlink"):
                continue
            files += entry.kind == "file"
            content = status.st_size if entry.kind == "file" else 0
            first = links.get(_inode(status), 0) if entry.kind == "file" else 0
            if entry.kind == "file" and status.st_nlink > 1:
                links.setdefault(_inode(status), len(entry.path))
            size += 3 * _BLOCK + _rounded(2 * len(entry.path) + 4 * len(entry.detail) + first + 200)
            size += 0 if first else _rounded(content)
            digest.update(b"%s\0%d %d %d\0" % (entry.path, content, status.st_mtime_ns, status.st_mode))
            digest.update(entry.detail.encode("utf-8"))
    finally:
        folder.close()
    return Measure(size, files, digest.hexdigest())


class Archive:
    """One reading of the home. The figures are true once all pieces were taken; `unread`: files that the disk did not give."""

    def __init__(self, config: Config, check: Callable[[], None]) -> None:
        self.files, self.changed, self.left_out, self.unread = 0, 0, 0, 0
        self.skipped: List[Tuple[str, str]] = []
        self._config, self._check = config, check
        self._links: Dict[Tuple[int, int], bytes] = {}  # files of several names, by inode: their first name
        self._broken: Dict[Tuple[int, int], OSError] = {}  # files that the disk did not give, by inode: not tried by another name

    def pieces(self) -> Iterator[bytes]:
        """The archive's bytes. Raises Gone, or what check() raises."""
        folder = _opened(self._config)
        size = 0
        try:
            for entry in _entries(self._config, folder):
                self._check()
                for piece in self._entry(entry):
                    size += len(piece)
                    yield piece
        finally:
            folder.close()
        yield bytes(_END - size % _END if size % _END <= _END - 2 * _BLOCK else 2 * _END - size % _END)

    def _entry(self, entry: Entry) -> Iterator[bytes]:
        if entry.kind == "dir" and entry.status:
            yield header(entry.path, entry.status, _FOLDER)
        elif entry.kind == "symlink" and entry.status:
            yield from self._symlink(entry, entry.status)
        elif entry.kind == "file" and entry.status:
            yield from self._file(entry)
        elif entry.error:
            self._lack(entry.path, OSError(entry.error, entry.detail))
        else:
            self._skip(entry.path, _WORDS.get(entry.kind) or entry.detail or "unreadable")

    def _symlink(self, entry: Entry, status: os.stat_result) -> Iterator[bytes]:
        try:
            target = os.readlink(entry.path.rsplit(b"/", 1)[-1], dir_fd=entry.parent)
        except OSError as error:
            self._lack(entry.path, error)
            return
        yield header(entry.path, status, _SYMLINK, link=target)

    def _file(self, entry: Entry) -> Iterator[bytes]:
        try:
            fd = open_plain(entry.parent, entry.path.rsplit(b"/", 1)[-1], self._config.run_as)
        except Refused as error:
            self._skip(entry.path, str(error))
            return
        except OSError as error:
            self._lack(entry.path, error)
            return
        try:
            yield from self._content(entry.path, fd)
        finally:
            os.close(fd)

    def _content(self, path: bytes, fd: int) -> Iterator[bytes]:
        before = os.fstat(fd)
        inode = _inode(before)
        if inode in self._broken:
            self._lack(path, self._broken[inode])
            return
        if inode in self._links:
            self.files += 1
            yield header(path, before, _LINK, link=self._links[inode])
            return
        yield header(path, before, _FILE, before.st_size)
        error = yield from self._bytes(fd, before.st_size)
        if error:
            self._lack(path, error)
            self._broken[inode] = error
            yield header(path, before, _FILE, unread=True)
            return
        self.files += 1
        if before.st_nlink > 1:
            self._links[inode] = path
        after = os.fstat(fd)
        self.changed += (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns)

    def _bytes(self, fd: int, size: int) -> Generator[bytes, None, Optional[OSError]]:
        """Exactly so many, filled up with zeros: a file may shrink under our hands, or its disk fail, which is returned."""
        left, failed = size, None
        while left:
            self._check()
            try:
                data = os.read(fd, min(_PIECE, left))
            except OSError as error:
                failed = error
                break
            if not data:
                break
            left -= len(data)
            yield data
        missing = left + _rounded(size) - size
        while missing:
            step = min(missing, _PIECE)
            missing -= step
            yield bytes(step)
        return failed

    def _lack(self, path: bytes, error: OSError) -> None:
        """A file that can't be had: because of what it is, or because its disk fails; the latter are named before all others."""
        why = error.strerror or "unreadable"
        if error.errno in _OURS:
            self._skip(path, why)
            return
        self.left_out += 1
        self.skipped.insert(self.unread, (text(path), "could not be read: %s" % why))
        self.unread += 1
        del self.skipped[MOST_NAMED:]

    def _skip(self, path: bytes, why: str) -> None:
        self.left_out += 1
        if len(self.skipped) < MOST_NAMED:
            self.skipped.append((text(path), why))


def header(path: bytes, status: os.stat_result, kind: bytes, size: int = 0, link: bytes = b"", unread: bool = False) -> bytes:
    """A member's header blocks: what the old format can't say goes into a pax header before it."""
    second, part = divmod(status.st_mtime_ns, 10 ** 9)
    records = _record(UNREAD.encode(), b"1") if unread else b""
    records += b"" if part == 0 and 0 <= second < 1 << 33 else _record(b"mtime", b"%d.%09d" % (second, part))
    if not _old(path) or not _old(link):
        records = (b"" if _utf8(path) and _utf8(link) else _record(b"hdrcharset", b"BINARY")) + records
        records += _record(b"path", path) + (_record(b"linkpath", link) if link else b"")
    if size >= 1 << 33:
        records += _record(b"size", b"%d" % size)
    block = _block(path, stat.S_IMODE(status.st_mode), size, max(0, min(second, (1 << 33) - 1)), kind, link)
    if not records:
        return block
    return _block(b"./PaxHeaders/x", 0o644, len(records), 0, _PAX, b"") + records + bytes(_rounded(len(records)) - len(records)) + block


def _block(path: bytes, mode: int, size: int, mtime: int, kind: bytes, link: bytes) -> bytes:
    fields = [path[:100].ljust(100, b"\0"), b"%07o\0" % mode, b"%07o\0" % 0, b"%07o\0" % 0, b"%011o\0" % (size & ((1 << 33) - 1))]
    fields += [b"%011o\0" % mtime, b" " * 8, kind, link[:100].ljust(100, b"\0"), b"ustar\x0000", bytes(64), bytes(16), bytes(167)]
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _record(key: bytes, value: bytes) -> bytes:
    """`length key=value`, the length counting itself."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    if rest + len(str(length)) != length:
        length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _old(name: bytes) -> bool:
    return len(name) <= 100 and all(byte < 128 for byte in name)


def _utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


def _entries(config: Config, folder: Folder) -> Iterator[Entry]:
    """All of it but what is just being brought, which has no name of its own yet."""
    return (entry for entry in walk(folder.fd, folders=True) if not hidden.is_one(config, entry.path))


def _inode(status: os.stat_result) -> Tuple[int, int]:
    return status.st_dev, status.st_ino


def _rounded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _opened(config: Config) -> Folder:
    try:
        return Folder(config.workdir, config.run_as)
    except OSError as error:
        raise Gone(error.strerror or "there is no home") from error


def seconds(value: Optional[str], fallback: float) -> int:
    """Nanoseconds of a pax time, exactly."""
    if value is None:
        return int(fallback) * 10 ** 9
    whole, _, part = value.partition(".")
    return int(whole) * 10 ** 9 + int((part + "0" * 9)[:9])

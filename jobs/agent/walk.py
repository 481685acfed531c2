"""Looking through a job folder that may hold anything.

The one idea: folders are opened from their parent's descriptor and never as links; whatever is no plain file is named
with its kind and left alone. Neither Python's stack nor descriptors grow with the depth.
"""
import errno
import os
import stat
from typing import Iterator, List, NamedTuple, Optional

DEEPEST = 512  # levels; a path that may be sent (1024 letters) has fewer
LONGEST = 32 << 10  # bytes of a folder's path: an archive and a manifest tell it with everything in it
_HELD = 64  # levels above the walk whose descriptors are held; others are opened anew when it is their turn again
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {
    stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device", stat.S_IFBLK: "device",
}


class Entry(NamedTuple):
    """`kind`: file, dir (an empty one), symlink, fifo, socket, device or unreadable. `parent` is open while it is yielded.

    `error`: the number of what the system said of something unreadable.
    """

    path: bytes
    kind: str
    parent: int
    status: Optional[os.stat_result] = None
    detail: str = ""
    error: int = 0


def walk(fd: int, in_order: bool = True, folders: bool = False) -> Iterator[Entry]:
    """Everything below an open folder; in order it is the same each time, else memory does not grow with a folder's size.

    `folders`: every folder is named, before what it holds; else only empty ones are.
    """
    steps = _Steps(fd, in_order)
    try:
        try:
            steps.list(fd)
        except OSError as error:
            yield _unreadable(b"./", fd, error)
            return
        while steps.way:
            yield from _next(steps, folders)
    finally:
        steps.close()


class _Step:
    """A folder on the way from the top to where the walk is. `fd` is None while it is closed."""

    def __init__(self, name: bytes, path: bytes, status: Optional[os.stat_result], fd: Optional[int], names: Iterator[bytes]) -> None:
        self.name, self.path, self.status, self.fd, self.names = name, path, status, fd, names
        self.named = False  # itself or something in it


class _Steps:
    """The way, from the top on; the top's descriptor is somebody else's."""

    def __init__(self, top: int, in_order: bool) -> None:
        self.way: List[_Step] = []
        self.top, self._in_order = top, in_order

    def list(self, fd: int, name: bytes = b"", path: bytes = b"", status: Optional[os.stat_result] = None) -> None:
        """One step down, into an open folder. Raises OSError."""
        names = _names(fd)
        if self._in_order or len(self.way) > _HELD:  # else it holds a descriptor too
            names = iter(sorted(names))
        self.way.append(_Step(name, path, status, fd, names))
        if len(self.way) > _HELD + 1:
            self._shut(self.way[-_HELD - 1])

    def leave(self) -> None:
        """One step up."""
        self._shut(self.way.pop())

    def fd(self) -> int:
        """Of the folder where the walk is. Raises OSError if it can't be reached any more."""
        if self.way[-1].fd is None:
            self._again()
        return self.way[-1].fd or 0

    def close(self) -> None:
        while self.way:
            self.leave()

    def _again(self) -> None:
        """From the last that is held, name by name, never by a link: wherever that leads, it lies below the top."""
        held = max(at for at, step in enumerate(self.way) if step.fd is not None)
        for at in range(held + 1, len(self.way)):
            self.way[at].fd = os.open(self.way[at].name, _DIRECTORY, dir_fd=self.way[at - 1].fd)
            if held < at - 1 < len(self.way) - _HELD:
                self._shut(self.way[at - 1])

    def _shut(self, step: _Step) -> None:
        if step.fd is not None and step.fd != self.top:
            os.close(step.fd)
        step.fd = None


def _next(steps: _Steps, folders: bool) -> Iterator[Entry]:
    """What the next name is; or, if there is none, the folder itself and a step up."""
    step = steps.way[-1]
    try:
        name = next(step.names, None)
        if name is None:
            yield from _left(steps)
            return
        fd = steps.fd()
    except OSError as error:
        step.named, step.names = True, iter(())
        yield _unreadable(step.path or b"./", steps.top, error)
        return
    path = step.path + name
    try:
        status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.ENOENT:
            step.named = True
            yield _unreadable(path, fd, error)
        return
    step.named = True
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "device")
    if kind == "dir":
        yield from _below(steps, fd, name, path, status, folders)
    else:
        yield Entry(path, kind, fd, status, _target(fd, name) if kind == "symlink" else "")


def _below(steps: _Steps, fd: int, name: bytes, path: bytes, status: os.stat_result, folders: bool) -> Iterator[Entry]:
    """A step down, if it can be had."""
    if len(steps.way) > DEEPEST or len(path) > LONGEST:
        why = "more than %d folders deep" % DEEPEST if len(path) <= LONGEST else "a path of more than %d bytes" % LONGEST
        yield Entry(path, "unreadable", fd, None, why)
        return
    try:
        below = os.open(name, _DIRECTORY, dir_fd=fd)
    except OSError as error:
        yield _unreadable(path, fd, error)
        return
    if folders:
        yield Entry(path + b"/", "dir", fd, status)
    try:
        steps.list(below, name, path + b"/", status)
    except OSError as error:
        os.close(below)
        yield _unreadable(path + b"/", fd, error)
        return
    steps.way[-1].named = folders


def _left(steps: _Steps) -> Iterator[Entry]:
    """A step up; a folder of which nothing was named is empty."""
    step = steps.way[-1]
    if not step.named and step.status is not None:
        yield Entry(step.path, "dir", steps.fd(), step.status)
    steps.leave()


def _unreadable(path: bytes, fd: int, error: OSError) -> Entry:
    return Entry(path, "unreadable", fd, None, error.strerror or "", error.errno or 0)


def _names(fd: int) -> Iterator[bytes]:
    with os.scandir("/proc/self/fd/%d" % fd) as entries:  # scandir(fd) came with Python 3.7
        for entry in entries:
            yield os.fsencode(entry.name)


def _target(fd: int, name: bytes) -> str:
    try:
        return os.readlink(name, dir_fd=fd).decode("utf-8", "backslashreplace")
    except OSError:
        return ""

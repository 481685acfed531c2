"""Looking through a job folder that may hold anything.

The one idea: folders are opened from their parent's descriptor and never as links; whatever is no plain file is named
with its kind and left alone.
"""
import errno
import os
import stat
from typing import Iterator, NamedTuple, Optional

DEEPEST = 128  # levels; each holds a descriptor open
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


def walk(fd: int, in_order: bool = True, above: bytes = b"", level: int = 0, folders: bool = False) -> Iterator[Entry]:
    """Everything below an open folder; in order it is the same each time, else memory does not grow with a folder's size.

    `folders`: every folder is named, before what it holds; else only empty ones are.
    """
    try:
        names = sorted(_names(fd)) if in_order else _names(fd)
    except OSError as error:
        yield _unreadable(above or b"./", fd, error)
        return
    for name in names:
        path = above + name
        try:
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno != errno.ENOENT:
                yield _unreadable(path, fd, error)
            continue
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "device")
        if kind == "dir":
            yield from _below(fd, name, in_order, path, level, status, folders)
        else:
            yield Entry(path, kind, fd, status, _target(fd, name) if kind == "symlink" else "")


def _unreadable(path: bytes, fd: int, error: OSError) -> Entry:
    return Entry(path, "unreadable", fd, None, error.strerror or "", error.errno or 0)


def _names(fd: int) -> Iterator[bytes]:
    with os.scandir("/proc/self/fd/%d" % fd) as entries:  # scandir(fd) came with Python 3.7
        for entry in entries:
            yield os.fsencode(entry.name)


def _below(
    fd: int, name: bytes, in_order: bool, path: bytes, level: int, status: os.stat_result, folders: bool
) -> Iterator[Entry]:
    if level >= DEEPEST:
        yield Entry(path, "unreadable", fd, None, "more than %d folders deep" % DEEPEST)
        return
    try:
        below = os.open(name, _DIRECTORY, dir_fd=fd)
    except OSError as error:
        yield _unreadable(path, fd, error)
        return
    try:
        named = folders
        if folders:
            yield Entry(path + b"/", "dir", fd, status)
        for entry in walk(below, in_order, path + b"/", level + 1, folders):
            named = True
            yield entry
        if not named:
            yield Entry(path + b"/", "dir", fd, status)
    finally:
        os.close(below)


def _target(fd: int, name: bytes) -> str:
    try:
        return os.readlink(name, dir_fd=fd).decode("utf-8", "backslashreplace")
    except OSError:
        return ""

"""Files of the job folder, which a hostile command may have filled with links.

The one idea: no path is ever resolved by the kernel in one go. Each component is opened from its parent's descriptor
and never as a link, so what is reached lies inside. Names are bytes.
"""
import os
import stat
from contextlib import contextmanager, suppress
from typing import Iterator, List, Optional, Tuple

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Refused(Exception):
    """A path that may not be used, and why."""


def parts(path: bytes) -> List[bytes]:
    """The components of a relative path. Raises Refused for one that is empty, absolute or leads upwards."""
    if path.startswith(b"/") or b"\0" in path:
        raise Refused("an absolute path or a NUL in it")
    found = [part for part in path.split(b"/") if part not in (b"", b".")]
    if not found:
        raise Refused("an empty path")
    if b".." in found:
        raise Refused("a path with ..")
    return found


class Folder:
    """A folder held open. `owner` (uid, gid) gets what is created in it."""

    def __init__(self, path: str, owner: Optional[Tuple[int, int]] = None) -> None:
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.owner = owner

    def close(self) -> None:
        os.close(self.fd)

    @contextmanager
    def parent(self, path: bytes, create: bool = False) -> Iterator[Tuple[int, bytes]]:
        """Descriptor of the folder that holds the path, and the last name. Raises OSError or Refused."""
        names = parts(path)
        fd = os.dup(self.fd)
        try:
            for name in names[:-1]:
                below = self._step(fd, name, create)
                os.close(fd)
                fd = below
            yield fd, names[-1]
        finally:
            os.close(fd)

    def read(self, path: bytes) -> int:
        """A descriptor of a plain file, open for reading. Raises OSError or Refused."""
        with self.parent(path) as (fd, name):
            return open_plain(fd, name, self.owner)

    def create(self, path: bytes, mode: int = 0o644) -> int:
        """A descriptor of a new file in the place of whatever was there."""
        with self.parent(path, create=True) as (fd, name):
            remove(fd, name)
            made = os.open(name, _CREATE, 0o600, dir_fd=fd)
            self._give(made, mode)
            return made

    def make(self, path: bytes, mode: int = 0o755) -> None:
        """Makes a folder; one that is there stays."""
        with self.parent(path, create=True) as (fd, name):
            os.close(self._step(fd, name, True, mode))

    def adopt(self, source: str, path: bytes, mode: int) -> None:
        """Moves a file from outside to its place. Both must be on one file system (else OSError EXDEV)."""
        made = os.open(source, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._give(made, mode)
        finally:
            os.close(made)
        with self.parent(path, create=True) as (fd, name):
            if is_folder(fd, name):
                raise Refused("a folder is in its place")
            os.rename(source, name, dst_dir_fd=fd)

    def link(self, path: bytes, target: bytes) -> None:
        """Makes a symbolic link; the caller has judged its target."""
        with self.parent(path, create=True) as (fd, name):
            remove(fd, name)
            os.symlink(target, name, dir_fd=fd)
            if self.owner:
                os.chown(name, self.owner[0], self.owner[1], dir_fd=fd, follow_symlinks=False)

    def _step(self, fd: int, name: bytes, create: bool, mode: int = 0o755) -> int:
        try:
            return os.open(name, _DIRECTORY, dir_fd=fd)
        except FileNotFoundError:
            if not create:
                raise
        os.mkdir(name, 0o700, dir_fd=fd)
        below = os.open(name, _DIRECTORY, dir_fd=fd)
        self._give(below, mode)
        return below

    def _give(self, fd: int, mode: int) -> None:
        if self.owner:
            os.fchown(fd, *self.owner)
        os.fchmod(fd, mode & 0o777)


def open_plain(fd: int, name: bytes, owner: Optional[Tuple[int, int]] = None) -> int:
    """Opens a plain file of a folder. Raises Refused for anything else, and for a hard link to somebody else's file."""
    found = os.open(name, _READ, dir_fd=fd)
    status = os.fstat(found)
    if stat.S_ISREG(status.st_mode) and not foreign(status, owner):
        return found
    os.close(found)
    raise Refused("no plain file of the job")


def foreign(status: os.stat_result, owner: Optional[Tuple[int, int]]) -> bool:
    """Whether a file has another name elsewhere and belongs to somebody else."""
    return owner is not None and status.st_nlink > 1 and status.st_uid != owner[0]


def remove(fd: int, name: bytes) -> None:
    """Takes a file or link away. A folder stays (Refused)."""
    if is_folder(fd, name):
        raise Refused("a folder is in its place")
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=fd)


def is_folder(fd: int, name: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False

"""A home out of its archive, put in place by a child that has no more rights than the workstation's user.

The one idea: archives are made from homes that may hold anything, so they are unpacked as the user, step by step from
open folders; times and modes of folders come last, when nothing changes in them any more.
"""
import os
import secrets
import tarfile
from typing import Any, Dict, List, Tuple

from . import apart
from .config import Config
from .folder import Folder, Refused, is_folder
from .home import UNREAD, seconds

_PIECE = 1 << 20


class Broken(Exception):
    """The home could not be put in place; the message says why."""


def restore(config: Config, path: str) -> Dict[str, int]:
    """Empties the job folder and unpacks the archive into it; {"files"}. Raises Broken."""
    with open(path, "rb") as archive:
        answer = apart.done(config, lambda: {"files": Home(config.workdir).fill(archive)}, archive.fileno())
    if "error" in answer:
        raise Broken(answer["error"])
    return {"files": int(answer["files"])}


class Home:
    """The folder that is filled."""

    def __init__(self, path: str) -> None:
        self._folder = Folder(path)
        self._later: List[Tuple[bytes, int, int]] = []  # folders: path, mode, time
        self._files = 0

    def fill(self, archive: Any) -> int:
        """Unpacks everything; how many files. Raises OSError, Refused or tarfile.TarError."""
        _empty(self._folder.fd)
        with tarfile.open(fileobj=archive, mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
            for member in tar:
                self._member(archive.fileno(), member)
                tar.members = []  # type: ignore[attr-defined]  # else it keeps every member for ever
        for path, mode, when in reversed(self._later):
            with self._folder.parent(path) as (fd, name):
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
                os.utime(below, ns=(when, when))
                os.fchmod(below, mode)
                os.close(below)
        self._folder.close()
        return self._files

    def _member(self, archive: int, member: tarfile.TarInfo) -> None:
        path = _raw(member.name)
        if UNREAD in member.pax_headers:
            self._take_back(path)
            return
        when = seconds(member.pax_headers.get("mtime"), member.mtime)
        if member.isdir():
            self._folder.make(path, 0o700)
            self._later.append((path, member.mode, when))
        elif member.issym():
            self._folder.link(path, _raw(member.linkname))
            with self._folder.parent(path) as (fd, name):
                os.utime(name, ns=(when, when), dir_fd=fd, follow_symlinks=False)
        elif member.islnk():
            self._hard_link(_raw(member.linkname), path)
            self._files += 1
        elif member.isreg() and not member.issparse():
            self._file(archive, member, path, when)
            self._files += 1
        else:
            raise Refused("the archive holds what no home is saved with: %r" % member.name)

    def _file(self, archive: int, member: tarfile.TarInfo, path: bytes, when: int) -> None:
        """Read straight from the archive: by way of tarfile each byte would be copied three times."""
        fd = self._folder.create(path, 0o600)
        try:
            at, end = member.offset_data, member.offset_data + member.size
            while at < end:
                data = os.pread(archive, min(_PIECE, end - at), at)
                if not data:
                    raise Refused("the archive ends early")
                at += len(data)
                _write(fd, data)
            os.ftruncate(fd, member.size)
            os.fchmod(fd, member.mode)
            os.utime(fd, ns=(when, when))
        finally:
            os.close(fd)

    def _take_back(self, path: bytes) -> None:
        """The file that came just before was not read whole when the home was saved: it is left out, as it was named."""
        with self._folder.parent(path) as (fd, name):
            os.unlink(name, dir_fd=fd)
        self._files -= 1

    def _hard_link(self, source: bytes, path: bytes) -> None:
        with self._folder.parent(source) as (source_fd, source_name), self._folder.parent(path, create=True) as (fd, name):
            os.link(source_name, name, src_dir_fd=source_fd, dst_dir_fd=fd, follow_symlinks=False)


def _empty(fd: int) -> None:
    """Takes away what an unpacking that was cut short left behind; folders come up to the top first, however deep they lie."""
    waiting = [os.fsencode(name) for name in os.listdir(fd)]
    while waiting:
        name = waiting.pop()
        if not _folder(fd, name):
            os.unlink(name, dir_fd=fd)
            continue
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        try:
            for inner in map(os.fsencode, os.listdir(below)):
                if _folder(below, inner):
                    waiting.append(b".emptied-%s" % secrets.token_hex(16).encode("ascii"))
                    os.rename(inner, waiting[-1], src_dir_fd=below, dst_dir_fd=fd)
                else:
                    os.unlink(inner, dir_fd=below)
        finally:
            os.close(below)
        os.rmdir(name, dir_fd=fd)


def _folder(fd: int, name: bytes) -> bool:
    """Whether it is one; it may be changed from now on."""
    if not is_folder(fd, name):
        return False
    os.chmod(name, 0o700, dir_fd=fd)
    return True


def _write(fd: int, data: bytes) -> None:
    """Nothing but zeros is left a hole: a file that was sparse takes no more of the disk than before."""
    if not data.strip(b"\0"):
        os.lseek(fd, len(data), os.SEEK_CUR)
        return
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")

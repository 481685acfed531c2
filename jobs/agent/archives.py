"""Unpacking archives of unknown origin into the job folder.

The one idea: the archive's words are only asked what is to be made; each thing is made by folder.py, inside the job
folder, as a plain file, a folder, or a link that leads nowhere else. Anything else ends the whole.
"""
import errno
import hashlib
import lzma
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, Any, Iterator, Tuple

from .folder import Folder, Refused, parts

MOST_MEMBERS = 1000000
SPARE = 64 << 20  # bytes of the disk that an archive may not take
_PIECE = 1 << 20
_ZSTD = b"\x28\xb5\x2f\xfd"
_IN_THE_WAY = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EEXIST, errno.EISDIR)
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, RuntimeError, NotImplementedError, ValueError)


class Bad(Refused):
    """The archive is broken or wants something that it may not have."""


def unpack(path: str, folder: Folder, base: bytes) -> Iterator[Tuple[bytes, str]]:
    """Unpacks below `base` ("" or "some/where/"); yields (name, sha256) of each file. Raises Bad or OSError."""
    count = 0
    try:
        for name, sha256 in _zip(path, folder, base) if zipfile.is_zipfile(path) else _tar(path, folder, base):
            count += 1
            if count > MOST_MEMBERS:
                raise Bad("the archive has more than %d members" % MOST_MEMBERS)
            if sha256:
                yield b"/".join(parts(name)), sha256
    except _BROKEN as error:
        raise Bad("the archive can't be read: %s" % (error or type(error).__name__)) from error


def _tar(path: str, folder: Folder, base: bytes) -> Iterator[Tuple[bytes, str]]:
    with _plain(path) as file, tarfile.open(fileobj=file, mode="r|*", encoding="utf-8", errors="surrogateescape") as archive:
        for member in archive:
            name = base + member.name.encode("utf-8", "surrogateescape")
            with _said(member.name):
                yield name, _tar_member(archive, member, name, folder, base)
            archive.members = []  # type: ignore[attr-defined]  # else it keeps every member for ever


@contextmanager
def _plain(path: str) -> Iterator[IO[bytes]]:
    """The archive's file; zstd, which older Pythons can't read, goes through the machine's own program."""
    with open(path, "rb", buffering=0) as file:  # unbuffered, so that seek() is true for another process too
        packed = file.read(4) == _ZSTD
        file.seek(0)
        if not packed or hasattr(tarfile.TarFile, "zstopen"):
            yield file
            return
        program = shutil.which("zstd")
        if program is None:
            raise Bad("the archive is packed by zstd, which this node can't read")
        process = subprocess.Popen([program, "-dcq"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.stdout.close()
            if process.wait() not in (0, -13) and sys.exc_info()[0] is None:
                raise Bad("the archive can't be read: zstd says it is damaged")


def _tar_member(archive: tarfile.TarFile, member: tarfile.TarInfo, name: bytes, folder: Folder, base: bytes) -> str:
    """Makes one member; the file's sha256 or ""."""
    if member.isdir():
        _folder(folder, name, base, member.mode)
    elif member.isreg():
        source = archive.extractfile(member)
        assert source is not None
        return _file(folder, name, source, member.size, member.mode, member.mtime)
    elif member.issym():
        folder.link(name, _judged(member.linkname.encode("utf-8", "surrogateescape"), name))
    elif member.islnk():
        return _hard_link(folder, base + member.linkname.encode("utf-8", "surrogateescape"), name)
    else:
        raise Refused("it is a device or a fifo")
    return ""


def _zip(path: str, folder: Folder, base: bytes) -> Iterator[Tuple[bytes, str]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = base + _zip_name(member)
            with _said(member.filename):
                yield name, _zip_member(archive, member, name, folder, base)


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: bytes, folder: Folder, base: bytes) -> str:
    kind = stat.S_IFMT(member.external_attr >> 16)
    mode = (member.external_attr >> 16) & 0o777
    if name.endswith(b"/"):
        _folder(folder, name, base, mode or 0o755)
    elif kind == stat.S_IFLNK:
        folder.link(name, _judged(archive.read(member)[:4096], name))
    elif kind in (0, stat.S_IFREG):
        with archive.open(member) as source:
            return _file(folder, name, source, member.file_size, mode or 0o644, None)
    else:
        raise Refused("it is a device or a fifo")
    return ""


def _zip_name(member: zipfile.ZipInfo) -> bytes:
    """The bytes of the name: many packers write UTF-8 without saying so."""
    if member.flag_bits & 0x800:
        return member.filename.encode("utf-8", "surrogateescape")
    try:
        written = member.filename.encode("cp437")
        written.decode("utf-8")
        return written
    except UnicodeError:
        return member.filename.encode("utf-8", "surrogateescape")


def _folder(folder: Folder, name: bytes, base: bytes, mode: int) -> None:
    if name[len(base):].strip(b"./") or b".." in name:
        folder.make(name, mode | 0o700)


def _file(folder: Folder, name: bytes, source: IO[bytes], size: int, mode: int, mtime: Any) -> str:
    """Writes a member and returns its sha256."""
    _room(folder, size)
    digest = hashlib.sha256()
    written = 0
    with os.fdopen(folder.create(name, mode | 0o600), "wb") as target:
        for piece in iter(lambda: source.read(_PIECE), b""):
            written += len(piece)
            if written > size:
                raise Bad("it is longer than the archive says")
            digest.update(piece)
            target.write(piece)
        if mtime is not None:
            target.flush()
            os.utime(target.fileno(), (mtime, mtime))
    if written != size:
        raise Bad("it is shorter than the archive says")
    return digest.hexdigest()


def _hard_link(folder: Folder, source: bytes, name: bytes) -> str:
    """A second name for a file that came before; its sha256."""
    digest = hashlib.sha256()
    with os.fdopen(folder.read(source), "rb") as file:  # raises for what is no plain file
        for piece in iter(lambda: file.read(_PIECE), b""):
            digest.update(piece)
    with folder.parent(source) as (source_fd, source_name), folder.parent(name, create=True) as (fd, last):
        os.link(source_name, last, src_dir_fd=source_fd, dst_dir_fd=fd, follow_symlinks=False)
    return digest.hexdigest()


def _judged(target: bytes, name: bytes) -> bytes:
    """A link's target, if it leads to somewhere below the job folder: upwards only at its beginning, and not too far."""
    if target.startswith(b"/") or not target or b"\0" in target:
        raise Refused("it is a link to an absolute path")
    steps = [part for part in target.split(b"/") if part not in (b"", b".")]
    climbs = 0
    while climbs < len(steps) and steps[climbs] == b"..":
        climbs += 1
    if b".." in steps[climbs:] or climbs > len(parts(name)) - 1:
        raise Refused("it is a link that leads out of the job folder")
    return target


def _room(folder: Folder, size: int) -> None:
    """The announced size must fit before the first byte is written: a bomb is refused, not endured."""
    disk = os.fstatvfs(folder.fd)
    if size > disk.f_bavail * disk.f_frsize - SPARE:
        raise Bad("it is larger than what is free on the node's disk (%d bytes)" % size)


class _said:
    """Puts the member's name before what is wrong with it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, Refused) or getattr(error, "errno", None) in _IN_THE_WAY:
            why = getattr(error, "strerror", None) or error
            raise Bad("%s in the archive: %s" % (self._name.encode("utf-8", "backslashreplace").decode(), why))

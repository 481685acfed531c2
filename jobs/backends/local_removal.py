"""Removal of a folder that users filled, in bounded time, however hostile its contents.

The one idea: everything goes through descriptors of folders and no link is ever followed. Folders inside are moved up
to the top before they are emptied, so that neither depth nor length of a path matters and a later call goes on where
this one stopped.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path


def remove(parent: Path, name: str, deadline: float) -> bool:
    """Remove parent/name, a tree or a single thing. False if time.monotonic() reached the deadline or something stays.

    The parent must be a folder that nobody else can rename.
    """
    try:
        with _Opened(os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as outer:
            return _remove_in(outer, name, deadline)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _remove_in(outer: int, name: str, deadline: float) -> bool:
    try:
        os.unlink(name, dir_fd=outer)
        return True
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):
            raise
    with _Opened(_enter(outer, name)) as top:
        while _empty(top, deadline):
            try:
                os.rmdir(name, dir_fd=outer)
                return True
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
    return False


def _empty(top: int, deadline: float) -> bool:
    """One pass over what is there now. False if out of time or without any progress."""
    progress, fresh = False, _names()
    with os.scandir(top) as entries:
        for entry in entries:
            if time.monotonic() >= deadline:
                return False
            if entry.is_dir(follow_symlinks=False):
                progress |= _flatten(top, entry.name, fresh, deadline)
            else:
                progress |= _unlink(top, entry.name)
    return progress or not os.listdir(top)


def _flatten(top: int, name: str, fresh: Iterator[str], deadline: float) -> bool:
    """Take away what is in top/name, folders by moving them up to the top, and then itself."""
    progress = False
    try:
        with _Opened(_enter(top, name)) as folder, os.scandir(folder) as entries:
            for entry in entries:
                if time.monotonic() >= deadline:
                    return progress
                if entry.is_dir(follow_symlinks=False):
                    progress |= _move(folder, entry.name, top, next(fresh))
                else:
                    progress |= _unlink(folder, entry.name)
        os.rmdir(name, dir_fd=top)
        return True
    except OSError:
        return progress


def _move(folder: int, name: str, top: int, new: str) -> bool:
    try:
        os.close(_enter(folder, name))  # makes it writable, without which it can't change its parent
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
        return True
    except OSError:
        return False


def _unlink(folder: int, name: str) -> bool:
    try:
        os.unlink(name, dir_fd=folder)
        return True
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _enter(folder: int, name: str) -> int:
    """A descriptor to read a folder by, which was made readable and writable first; never through a link."""
    path = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with _Opened(path):
        if os.fstat(path).st_mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{path}", 0o700)
        return os.open(f"/proc/self/fd/{path}/.", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _names() -> Iterator[str]:
    prefix = secrets.token_hex(8)
    count = 0
    while True:
        yield f".{prefix}-{count}"
        count += 1


class _Opened:
    """Closes a descriptor at the end of a block."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> int:
        return self.descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

"""The way from the agent into a session: its unix sockets, in a folder that its user may have filled with anything.

The one idea: an agent may be root, so no socket is reached by its path. It is looked up without following links, must
belong to the session's user, and the very thing that was looked at is connected to.
"""
import os
import socket
import stat
from typing import Optional

from .config import Config
from .folder import Folder, Refused

SERVICES = ("desktop", "terminal", "app")
FOLDER = b"session"  # below the cluster's tmp


def connect(config: Config, service: str) -> socket.socket:
    """A connection to a service, not blocking. Raises OSError or Refused."""
    if service not in SERVICES:
        raise Refused("there is no service called %r" % service)
    folder = Folder(config.tmp, config.run_as)
    try:
        with folder.parent(FOLDER + b"/" + service.encode("ascii") + b".sock") as (fd, name):
            door = os.open(name, getattr(os, "O_PATH", 0o10000000) | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    finally:
        folder.close()
    try:
        _check(os.fstat(door), config)
        return _through("/proc/self/fd/%d" % door)
    finally:
        os.close(door)


def answers(config: Config, service: str) -> bool:
    """Whether somebody listens there; a desktop must say its first word too."""
    try:
        connection = connect(config, service)
    except (OSError, Refused):
        return False
    with connection:
        if service != "desktop":
            return True
        connection.settimeout(2.0)
        try:
            return connection.recv(4) == b"RFB "
        except OSError:
            return False


def _check(status: os.stat_result, config: Config) -> None:
    owner: Optional[int] = config.run_as[0] if config.run_as else os.getuid()
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != owner:
        raise Refused("no socket of the session's own")


def _through(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.setblocking(False)
        connection.connect(path)
    except BaseException:
        connection.close()
        raise
    return connection

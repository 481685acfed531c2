"""From the command line to the two processes: one agent a folder, detached, started again without harm.

The one idea: holder and reporter share one lock on the folder, so a second start does nothing while either lives.
"""
import contextlib
import fcntl
import os
import secrets
import socket
import sys
import time
from typing import Callable, List, Optional

from . import link, marks, sandbox
from .config import Broken, Config, load
from .holder import Holder
from .reporter import Reporter
from .wire import Portal, Released


def main(argv: List[str]) -> int:
    """The exit code: 0 running (or already running, or nothing left to do), 1 it can't, 2 wrong use."""
    if len(argv) != 2:
        print("usage: headrace-agent.pyz CONFIG.json", file=sys.stderr)
        return 2
    try:
        config = load(argv[1])
    except Broken as error:
        return _broken(str(error))
    try:
        lock = _prepare(config)
    except OSError as error:
        _tell_failed(config, str(error))
        return _broken(str(error))
    if lock is None or marks.exists(config.folder, marks.RELEASED):
        return 0
    if not config.foreground:
        return _detached(config, lock)
    _live(config, lock, _logger(config))
    return 0


def _broken(message: str) -> int:
    print("headrace-agent: %s" % message, file=sys.stderr)
    return 1


def _tell_failed(config: Config, message: str) -> None:
    """The portal hears of it if it can; the exit code says it anyway."""
    portal = Portal(config, lambda orders: None, lambda line: None)
    tries = iter(range(3))
    with contextlib.suppress(Released):
        portal.insist("failed", {"message": message}, give_up=lambda: next(tries) == 2)


def _prepare(config: Config) -> Optional[int]:
    """Makes the folders and takes the lock: its descriptor, or None if another agent has it."""
    os.makedirs(config.folder, mode=0o700, exist_ok=True)
    lock = os.open(config.path(marks.LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    for path, mode in ((config.workdir, 0o755), (config.tmp, 0o700)):
        _make(path, mode, config)
    if not os.path.exists(config.path("nonce")):
        _make_nonce(config)
    marks.reserve(config.folder)
    return lock


def _make(path: str, mode: int, config: Config) -> None:
    """A folder of the command's own; one that is there stays as it is."""
    try:
        os.makedirs(path, mode=mode)
    except FileExistsError:
        return
    if config.run_as:
        os.chown(path, *config.run_as)


def _make_nonce(config: Config) -> None:
    fd = os.open(config.path("nonce.new"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, secrets.token_hex(16).encode("ascii"))
    os.fsync(fd)
    os.close(fd)
    os.replace(config.path("nonce.new"), config.path("nonce"))


def _detached(config: Config, lock: int) -> int:
    """Leaves the agent running by itself; returns when it is up."""
    up, ready = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _daemon(config, lock, ready)
        os._exit(0)
    os.wait()
    os.close(ready)
    return 0 if os.read(up, 1) == b"1" else 1


def _daemon(config: Config, lock: int, ready: int) -> None:
    """Never returns."""
    log = _logger(config)
    try:
        os.chdir("/")
        os.umask(0o077)
        nothing = os.open("/dev/null", os.O_RDWR)
        errors = os.open(config.path("agent.log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for target, source in ((0, nothing), (1, errors), (2, errors)):
            os.dup2(source, target)
        sandbox.close_others((lock, ready))
        _live(config, lock, log, ready)
    except BaseException as error:
        log("holder: %r" % error)
        os._exit(1)
    os._exit(0)


def _live(config: Config, lock: int, log: Callable[[str], None], ready: Optional[int] = None) -> None:
    """The holder's life, after what an earlier one left was brought to its end."""
    _write_pid(config, "holder.pid")
    if ready is not None:
        os.write(ready, b"1")
        os.close(ready)
    if marks.exists(config.folder, marks.STARTED):
        link.settle(config)

    def report(channel: socket.socket) -> int:
        sandbox.close_others((lock, channel.fileno()))
        with contextlib.suppress(OSError):  # a full disk must not keep the results from being sent
            _write_pid(config, "reporter.pid")
        return Reporter(config, channel, log).run()

    Holder(config, report, log).live()


def _write_pid(config: Config, name: str) -> None:
    from .tree import look

    process = look(os.getpid())
    with open(config.path(name + ".new"), "w") as file:
        file.write("%d %d\n" % (os.getpid(), process.starttime if process else 0))
    os.replace(config.path(name + ".new"), config.path(name))


def _logger(config: Config) -> Callable[[str], None]:
    """Lines into agent.log, until it is long enough."""

    def log(line: str) -> None:
        try:
            with open(config.path("agent.log"), "a", errors="backslashreplace") as file:
                if file.tell() < 4 << 20:
                    file.write("%s %d %s\n" % (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), os.getpid(), line))
        except OSError:
            pass

    return log

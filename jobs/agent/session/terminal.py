"""A shell behind a pseudo terminal; whoever connects sees its last output and then goes on with it.

The one idea: the shell lives as long as the session, viewers come and go. A viewer that lags is waited for as long as
all lag; one that lags behind the others is let go and gets the screen anew when it comes back.

Towards the shell a viewer sends frames `kind u8 | length u32 | payload`: kind 0 is what was typed, kind 1 a window's size
(columns u16, rows u16). Back come the terminal's bytes as they are.
"""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import termios
import time
from typing import Any, Dict, List

from .. import sandbox, tree
from .main import BASH, Settings, shell

SOCKET = "terminal.sock"
SCREEN = 256 << 10  # bytes of output that a new viewer gets
TYPED, RESIZE = 0, 1
SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "fish", "csh", "tcsh")
_ALONE = 0.1  # seconds that only shells are left: one of them may be at work on its own end
_QUEUE, _LAG = 256 << 10, 4 << 20  # bytes for a viewer: at which all wait, at which it is let go
_LINE = 4096  # bytes in which a line's beginning is looked for
_LONGEST = 1 << 20  # bytes of one frame
_QUESTIONS = re.compile(rb"\x1b\[[?>=]?[0-9;]*[cn]|\x1b\][0-9]+;\?(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*\$p|\x05")  # a screen must not ask again


def run(settings: Settings) -> int:
    """The exit code, once the session was asked to end."""
    os.chdir(settings.folder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(SOCKET)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    listener.bind(SOCKET)
    os.umask(before)
    listener.listen(16)
    os.chdir(settings.home)
    words = ["bash", "-c", settings.start] if settings.start else shell(settings.folder)
    return Terminal(listener, words, settings.grace).live()


class Viewer:
    """One connection: what it sent and was not yet understood, what it is still to get."""

    def __init__(self, connection: socket.socket, screen: bytes) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.heard = b""
        self.waiting = bytearray(screen)

    def send(self) -> None:
        """As much as goes now. Raises OSError."""
        with contextlib.suppress(BlockingIOError):
            while self.waiting:
                del self.waiting[: self.connection.send(self.waiting[: 1 << 16])]

    def frames(self) -> "List[tuple[int, bytes]]":
        """The whole frames that came. Raises OSError for an end or nonsense."""
        data = self.connection.recv(1 << 16)
        if not data:
            raise ConnectionError("the viewer is gone")
        self.heard += data
        found = []
        while len(self.heard) >= 5:
            kind, length = struct.unpack(">BI", self.heard[:5])
            if length > _LONGEST:
                raise ConnectionError("a frame that is too long")
            if len(self.heard) < 5 + length:
                break
            found.append((kind, self.heard[5:5 + length]))
            self.heard = self.heard[5 + length :]
        return found


class Terminal:
    """The shell and its viewers."""

    def __init__(self, listener: socket.socket, words: List[str], grace: float) -> None:
        self._listener, self._words, self._grace = listener, words, grace
        self._viewers: Dict[int, Viewer] = {}
        self._screen = bytearray()
        self._typed = bytearray()
        self._size = (80, 24)
        self._ending = False
        self._pid, self._master = 0, -1
        self._began = 0.0

    def live(self) -> int:
        """Until asked to end; a shell that ends is followed by another."""
        out, wake = os.pipe()
        for fd in (out, wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._asked)
        sandbox.become_subreaper()  # so that at the end it can tell what still runs
        self._start()
        while not self._ending:
            self._turn(out)
        return self._end()

    def _asked(self, *_: Any) -> None:
        self._ending = True

    def _start(self) -> None:
        self._began = time.monotonic()
        self._pid, self._master = pty.fork()
        if self._pid == 0:
            self._become_shell()
        os.set_blocking(self._master, False)
        self._resize(*self._size)

    def _become_shell(self) -> None:
        """Never returns."""
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.closerange(3, 256)
            env = dict(os.environ, TERM="xterm-256color", COLORTERM="truecolor", SHELL=BASH if os.path.exists(BASH) else "/bin/sh")
            os.execvpe(self._words[0], self._words, env)
        except BaseException as error:
            os.write(2, ("the shell could not be started: %s\r\n" % error).encode("utf-8", "replace"))
        finally:
            os._exit(126)

    def _turn(self, out: int) -> None:
        poll = select.poll()
        poll.register(out, select.POLLIN)
        poll.register(self._listener, select.POLLIN)
        poll.register(self._master, (0 if self._all_lag() else select.POLLIN) | (select.POLLOUT if self._typed else 0))
        for viewer in self._viewers.values():
            events = select.POLLIN if len(self._typed) < _LONGEST else 0
            poll.register(viewer.connection, events | (select.POLLOUT if viewer.waiting else 0))
        for fd, event in poll.poll(10000):
            if fd == out:
                os.read(out, 4096)
                _bury()
            elif fd == self._listener.fileno():
                self._welcome()
            elif fd == self._master:
                self._shell_moves(event)
            elif fd in self._viewers:
                self._viewer_moves(fd, event)

    def _all_lag(self) -> bool:
        return bool(self._viewers) and min(len(viewer.waiting) for viewer in self._viewers.values()) > _QUEUE

    def _welcome(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            if not _is_the_agents(connection):
                connection.close()
                return
            self._viewers[connection.fileno()] = Viewer(connection, screen(bytes(self._screen)))
            self._repaint()

    def _repaint(self) -> None:
        """Programs that fill the screen draw it anew."""
        with contextlib.suppress(OSError):
            group = os.tcgetpgrp(self._master)
            if group > 0 and group != self._pid:
                os.killpg(group, signal.SIGWINCH)

    def _shell_moves(self, event: int) -> None:
        if event & select.POLLOUT and self._typed:
            with contextlib.suppress(BlockingIOError, OSError):
                del self._typed[: os.write(self._master, self._typed[:4096])]
        if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
            data, ended = self._read()
            if data:
                self._show(data)
            if ended:
                self._shell_ended()

    def _read(self) -> "tuple[bytes, bool]":
        """What the shell wrote, and whether that was its last; the kernel hands it out by 4 KB."""
        pieces: List[bytes] = []
        while len(pieces) < 16:
            try:
                data = os.read(self._master, 1 << 16)
            except BlockingIOError:
                break
            except OSError:  # EIO: nobody has the terminal open any more
                return b"".join(pieces), True
            if not data:
                return b"".join(pieces), True
            pieces.append(data)
        return b"".join(pieces), False

    def _shell_ended(self) -> None:
        os.close(self._master)
        self._typed.clear()
        _bury()
        if time.monotonic() - self._began < 1.0:
            time.sleep(1.0)  # one that ends at once
        if not self._ending:
            self._show(b"\r\n[the shell ended; this is a new one]\r\n")
            self._start()

    def _show(self, data: bytes) -> None:
        self._screen += data
        if len(self._screen) > 2 * SCREEN:
            del self._screen[:-SCREEN]
        for fd, viewer in list(self._viewers.items()):
            viewer.waiting += data
            if len(viewer.waiting) > _LAG + SCREEN:
                self._let_go(fd)
            else:
                self._guarded(fd, viewer.send)

    def _viewer_moves(self, fd: int, event: int) -> None:
        viewer = self._viewers[fd]
        if event & select.POLLOUT:
            self._guarded(fd, viewer.send)
        if event & (select.POLLIN | select.POLLHUP | select.POLLERR) and fd in self._viewers:
            for kind, payload in self._guarded(fd, viewer.frames) or ():
                if kind == TYPED:
                    self._typed += payload
                elif kind == RESIZE and len(payload) == 4:
                    self._resize(*struct.unpack(">HH", payload))

    def _guarded(self, fd: int, act: Any) -> Any:
        """What goes wrong with a viewer ends that viewer."""
        try:
            return act()
        except BlockingIOError:
            return None
        except OSError:
            self._let_go(fd)
            return None

    def _let_go(self, fd: int) -> None:
        self._viewers.pop(fd).connection.close()

    def _resize(self, columns: int, rows: int) -> None:
        self._size = (max(2, min(columns, 1000)), max(2, min(rows, 1000)))
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", self._size[1], self._size[0], 0, 0))

    def _end(self) -> int:
        """Programs were asked already. Shells heed no SIGTERM, but the end of their terminal, which comes once only they are left."""
        until = time.monotonic() + max(1.0, self._grace - 3.0)
        alone_since = time.monotonic()
        while time.monotonic() < until and time.monotonic() - alone_since < _ALONE:
            if any(tree.name(one.pid) not in SHELLS for one in _living()):
                alone_since = time.monotonic()
            time.sleep(0.02)
        with contextlib.suppress(OSError):
            os.killpg(os.tcgetpgrp(self._master), signal.SIGHUP)
        with contextlib.suppress(OSError):
            os.close(self._master)
        while _living() and time.monotonic() < until:
            time.sleep(0.02)
        return 0


def _is_the_agents(connection: socket.socket) -> bool:
    """Where sessions share the agent's user (Landlock) a socket's mode keeps nobody out: the other end must be the reporter, a
    child of our holder as we are. A process outside of a namespace of our own has no number here: its wall is another one."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    if pid == 0 or uid != os.getuid():
        return True
    peer = tree.look(pid)
    return peer is not None and peer.parent == os.getppid()


def _living() -> List[tree.Process]:
    """All that descends from here."""
    _bury()
    return [one for one in tree.descendants(os.getpid()) if one.alive]


def _bury() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def screen(output: bytes) -> bytes:
    """The last output as a new viewer gets it: from the beginning of a line if one is near, without questions to the terminal."""
    last = output[-SCREEN:]
    if len(output) > SCREEN:
        last = last[last.find(b"\n", 0, _LINE) + 1:]
    return _QUESTIONS.sub(b"", last)

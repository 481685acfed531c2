"""A desktop: TigerVNC's X server, a light window manager, a terminal.

The one idea: nobody chooses a number. The X server takes the first display whose abstract socket is free, which the
kernel gives to one server only (without that socket, servers that start together steal each other's display); pictures
go out by a unix socket in the session's folder; and no program gets to the display without the session's own cookie.
"""
import os
import shlex
import shutil
import stat
import struct
import time
from typing import Any, Dict, Iterable, List, Optional

from .children import Children
from .main import BASH, MISSING, Settings, say, shell

SOCKET = "desktop.sock"
SERVERS = ("Xtigervnc", "Xvnc")
WINDOW_MANAGERS = ("openbox", "xfwm4", "icewm", "fluxbox", "jwm", "matchbox-window-manager", "fvwm", "mwm", "twm")
TERMINALS = {"xterm": ["-geometry", "80x24+20+20", "-fa", "Monospace", "-fs", "11"], "urxvt": [], "st": []}
_X_SOCKETS = "/tmp/.X11-unix"
_RESTARTS = 5  # of the window manager
_MANAGED, _UNTOLD = 5.0, 0.5  # seconds for the window manager: if it says that it is there, and if it does not
_UP = 30.0  # seconds for the X server to be up
_FAMILY_WILD = 0xFFFF  # X11/Xauth.h: an entry for every address


def run(settings: Settings) -> int:
    """The exit code, once the desktop has ended."""
    return Desktop(settings).live()


class Desktop:
    """One desktop from its start to its end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._children = Children()
        self._server, self._manager = 0, 0
        self._restarts = 0
        self._env: Dict[str, str] = dict(os.environ, SHELL=BASH if os.path.exists(BASH) else "/bin/sh")
        self._log = os.path.join(settings.folder, "display.log")

    def live(self) -> int:
        """Starts everything, keeps it, ends it; the exit code."""
        program = _first(SERVERS)
        if program is None:
            say("Xtigervnc is not installed on this node: apt-get install tigervnc-standalone-server openbox xterm")
            return MISSING
        self._env["XAUTHORITY"] = self._write_cookie()
        if not self._serve(program):
            return 1
        self._furnish()
        while not self._children.ending and self._children.code(self._server) is None:
            self._children.wait(5.0)
            self._keep_manager()
        return self._end()

    def _serve(self, program: str) -> bool:
        """Starts the X server and waits until it has a display."""
        display, theirs = os.pipe()
        log = self._log
        with open(log, "wb") as output:
            words = [program, "-displayfd", str(theirs), *self._options()]
            self._server = self._children.start(
                words, env=self._env, cwd=self._settings.folder, pass_fds=(theirs,), stdout=output, stderr=output
            )
        os.close(theirs)
        number = self._read_number(display)
        if not number:
            say("the X server did not come up: %s" % _tail(log))
            if not _writable("/tmp"):
                say("it needs a /tmp in which the session may write, which this node's sandbox does not give")
            return False
        self._env["DISPLAY"] = ":" + number
        return True

    def _options(self) -> List[str]:
        """No TCP anywhere; the socket's folder and mode are the walls, so VNC asks for no password of its own."""
        words = ["-rfbport", "-1", "-rfbunixpath", SOCKET, "-rfbunixmode", "0600", "-SecurityTypes", "None", "-nolisten", "tcp"]
        words += ["-auth", self._env["XAUTHORITY"], "-noreset", "-AlwaysShared", "-AcceptSetDesktopSize=1", "-desktop", "Headrace"]
        words += ["-geometry", self._settings.geometry, "-depth", "24", "-dpi", "96"]
        return words if _usable(_X_SOCKETS) else words + ["-nolisten", "unix"]

    def _read_number(self, display: int) -> str:
        """The display's number; "" if the server ended or took too long."""
        heard = b""
        until = time.monotonic() + _UP
        while not heard.endswith(b"\n") and time.monotonic() < until and self._children.code(self._server) is None:
            self._children.wait(0.5, [display])
            heard += _read_now(display)
        os.close(display)
        return heard.strip().decode("ascii") if heard.endswith(b"\n") else ""

    def _write_cookie(self) -> str:
        """A file as xauth makes it (format: Xau's README), with a secret that only this session knows."""
        path = os.path.join(self._settings.folder, "xauthority")
        name, secret = b"MIT-MAGIC-COOKIE-1", os.urandom(16)
        fields = b"".join(struct.pack(">H", len(field)) + field for field in (b"", b"", name, secret))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(fd, struct.pack(">H", _FAMILY_WILD) + fields)
        os.close(fd)
        return path

    def _furnish(self) -> None:
        self._start_manager()
        if shutil.which("vncconfig"):
            self._program(["vncconfig", "-nowin"])  # clipboard of servers before TigerVNC 1.10
        if self._settings.start:
            self._program(["bash", "-c", self._settings.start])
            return
        terminal = _first(TERMINALS)
        if terminal:
            self._program([terminal, *TERMINALS[terminal], "-e", *shell(self._settings.folder)])
        else:
            say("no terminal for the desktop is installed on this node: apt-get install xterm")

    def _start_manager(self) -> None:
        manager = _first(WINDOW_MANAGERS)
        if manager is None:
            say("no window manager is installed on this node, windows can't be moved: apt-get install openbox")
            self._restarts = _RESTARTS
            return
        ready = os.path.join(self._settings.folder, "managed")
        words = [manager, "--startup", "touch %s" % shlex.quote(ready)] if manager == "openbox" else [manager]
        with open(self._log, "ab") as output:
            self._manager = self._program(words, stdout=output, stderr=output)
        self._await_manager(ready if len(words) > 1 else "")

    def _await_manager(self, ready: str) -> None:
        """A window that is there before it would not get the keyboard."""
        until = time.monotonic() + (_MANAGED if ready else _UNTOLD)
        while time.monotonic() < until and not (ready and os.path.exists(ready)) and self._children.code(self._manager) is None:
            self._children.wait(0.02)

    def _keep_manager(self) -> None:
        if self._manager and self._children.code(self._manager) is not None and self._restarts < _RESTARTS:
            self._restarts += 1
            self._start_manager()

    def _program(self, words: List[str], **options: Any) -> int:
        return self._children.start(words, env=self._env, cwd=self._settings.home, **options)

    def _end(self) -> int:
        """Programs first, the display last: what wants to save may need it."""
        code = self._children.code(self._server)
        if code is not None and not self._children.ending:
            say("the X server ended by itself (%d): %s" % (code, _tail(self._log)))
            return 1
        self._children.end(max(1.0, self._settings.grace - 3.0), [self._server])
        self._children.stop(self._server)
        return 0


def _first(names: Iterable[str]) -> Optional[str]:
    """The first of these programs that is installed."""
    return next((name for name in names if shutil.which(name)), None)


def _usable(folder: str) -> bool:
    """Whether X sockets can lie there without anybody else's being able to take them away."""
    try:
        os.mkdir(folder, 0o1777)
        os.chmod(folder, 0o1777)
    except FileExistsError:
        pass
    except OSError:
        return False
    status = os.stat(folder)
    return bool(status.st_mode & stat.S_ISVTX) and status.st_uid in (0, os.getuid()) and _writable(folder)


def _writable(folder: str) -> bool:
    """Tried, since a fence around the process shows in no mode."""
    path = os.path.join(folder, "headrace-%d" % os.getpid())
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(path)
    except OSError:
        return False
    return True


def _read_now(fd: int) -> bytes:
    os.set_blocking(fd, False)
    try:
        return os.read(fd, 100)
    except BlockingIOError:
        return b""


def _tail(path: str) -> str:
    """The last lines of a log, in one."""
    try:
        with open(path, "rb") as file:
            lines = file.read()[-2000:].decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return " / ".join(line.strip() for line in lines[-6:] if line.strip())

"""The one run of the command: begun behind a durable mark, ended whole, its exit written down.

The one idea: the run is over when nothing of its tree is alive, not when its first process is gone.
"""
import os
import signal
import time
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from . import command, marks, sessions, tree
from .config import Config
from .ending import Ending
from .memory import Watch
from .spool import STDOUT, Spool, limits

SETTLE, POLITE = 0.3, 2.0  # seconds that leftovers of an ended command get: to end by themselves, to heed SIGTERM
AGAIN = 1.0  # seconds until our own shell is signalled once more: bash may miss a signal that meets it between fork and wait
_FULL = 1 << 20  # bytes free of a disk that is as good as full
TRAPS = ("trap", "eval", "source")  # words of a command that may give its shell a handler of its own
LOOK, IDLE, REST = 0.02, 0.25, 2.0  # seconds between looks: at a tree that ends, at a spool, at nothing


class Run:
    """`bystanders()` are children of this process that are no part of the command."""

    def __init__(self, config: Config, bystanders: Callable[[], Set[int]], log: Callable[[str], None]) -> None:
        self.begun = marks.exists(config.folder, marks.STARTED)
        self.over = marks.exists(config.folder, marks.EXIT)
        self._config, self._bystanders, self._log = config, bystanders, log
        self._spec: Dict[str, Any] = {}
        self._hosts: List[str] = []
        self._ending = Ending(60.0)
        self._main, self._hook = 0, 0
        self._shell, self._again_at = "", 0.0  # the last word of the shell's command line; when to signal it again
        self._by_hook = False  # the command was asked by its own stop command, its tree got no signal
        self._begun_at, self._ended_at = 0.0, 0.0
        self._ended: Optional[Dict[str, Any]] = None
        self._leftovers: Set[Tuple[int, int]] = set()
        self._watch: Optional[Watch] = None
        self._spool: Optional[Spool] = None

    def start(self, spec: Dict[str, Any], hosts: List[str]) -> None:
        """Starts the command; a second call does nothing, whatever happened since the first."""
        if self.begun:
            return
        config = self._config
        self._spec, self._hosts, self.begun = spec, hosts, True
        self._ending.grace = float(spec.get("grace") or 60)
        self._watch = Watch(config)
        self._spool = Spool(config.path(STDOUT), *limits(spec), log=self._log)
        child = self._spawn(command.script(spec, config))
        self._main, self._begun_at = child.pid, time.monotonic()
        marks.write(config.folder, marks.STARTED, dict(marks.now(), pid=child.pid, starttime=child.starttime))
        os.write(child.gate, b"g")
        os.close(child.gate)

    def stop(self, why: Optional[str], force: bool = False, grace: Optional[float] = None) -> None:
        """Begins the end; `force` kills at once."""
        if grace is not None and self._ending.began is None:
            self._ending.grace = float(grace)
        self._ending.stop(time.monotonic(), None if self._ended else why, force)

    def deadlines(self, walltime: Optional[float], paid: Optional[float]) -> None:
        """Times of the monotonic clock at which the run ends by itself."""
        self._ending.deadlines(walltime, paid)

    def reaped(self, pid: int, status: int, peak: int) -> None:
        """A child of this process ended; `peak`: its largest resident size in bytes."""
        if pid == self._hook:
            self._hook_ended(status)
        if pid == self._main:
            self._main_ended(status, peak)

    def turn(self) -> bool:
        """Does what is due; True when the run became over just now."""
        if not self.active:
            return False
        now = time.monotonic()
        if self._spool:
            self._spool.trim()
        if not self._ended:
            self._ending.check(now)
        if self._ending.ask_now():
            self._ask()
        if self._again_at and now >= self._again_at:
            self._ask_shell_again()
        if self._ended or self._ending.kill_due(now):
            self._clear_up(now)
        return self.over

    @property
    def active(self) -> bool:
        """Begun here, and not over."""
        return bool(self._main) and not self.over

    def until_next(self) -> float:
        """Seconds until turn() is worth calling again."""
        if not self.active:
            return REST
        if self._ended or self._ending.kill_due(time.monotonic()) or (self._spool and self._spool.full):
            return LOOK
        return max(0.0, min([IDLE] + [moment - time.monotonic() for moment in self._ending.next()]))

    def living(self) -> List[tree.Process]:
        """What is alive of the command."""
        found = tree.descendants(os.getpid(), self._bystanders())
        return [process for process in found if process.alive]

    def _spawn(self, text: str) -> command.Child:
        env = command.environment(self._spec, self._config, self._hosts)
        assert self._spool is not None
        words = command.argv(self._spec, text, self._config)
        self._shell = self._shell or words[-1]
        return command.spawn(words, env, self._spool.fd, self._config)

    def _ask(self) -> None:
        """The software's own stop command, else SIGTERM to all of the tree."""
        text = self._spec.get("stop_command")
        if not text or self._ended:
            self._terminate(self.living())
            return
        child = self._spawn(text)
        self._hook, self._by_hook = child.pid, True
        os.write(child.gate, b"g")
        os.close(child.gate)

    def _hook_ended(self, status: int) -> None:
        self._hook = 0
        if self._ended or (status == 0 and not self._spec.get("session")):
            return
        if status != 0:
            self._log("the stop command failed (status %d): SIGTERM instead" % status)
        self._terminate(self.living())  # a session's hook only asks programs to save

    def _ask_shell_again(self) -> None:
        """Only our shell: what it started has either heeded the signal or is at work on its own end."""
        self._again_at = 0.0
        if not self._ended:
            tree.signal_all([one for one in self.living() if tree.last_word(one.pid) == self._shell], signal.SIGTERM)

    def _terminate(self, processes: List[tree.Process]) -> None:
        if self._spec.get("session"):
            processes = [one for one in processes if tree.name(one.pid) not in sessions.MACHINERY]
        tree.signal_all(processes, signal.SIGTERM)
        tree.signal_all(processes, signal.SIGCONT)  # what was stopped could not heed it
        if not any(word in line for word in TRAPS for line in self._spec.get("commands", ())):
            self._again_at = time.monotonic() + AGAIN

    def _main_ended(self, status: int, peak: int) -> None:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        self._ended_at = time.monotonic()
        self._ended = {
            "code": code, "signal": number, "why": self._ending.why, "clock": time.time(),
            "memory_killed": bool(self._watch and self._watch.killed(code, number, peak)),
            "ran": self._ended_at - self._begun_at,
            "pipe": command.pipe_codes(self._spec, self._config, code),
            "disk_full": _is_full(self._config.workdir),
        }
        marks.write(self._config.folder, marks.ENDED, self._ended)

    def _clear_up(self, now: float) -> None:
        """Waits for the tree to empty, asks it to, makes it; then the run is over."""
        living = self.living()
        if self._ended:
            if not living:
                self._conclude()
                return
            if now - self._ended_at > SETTLE and (self._ending.began is None or self._by_hook):
                self._by_hook = False
                self._ending.again(now, POLITE)
            if self._ending.began is not None:
                self._leftovers.update((process.pid, process.starttime) for process in living if process.pid != self._hook)
        if self._ending.kill_due(now):
            self.kill(living)

    def kill(self, living: Optional[List[tree.Process]] = None) -> None:
        """One round of SIGKILL; SIGSTOP first, so that none forks on while the others are killed."""
        living = self.living() if living is None else living
        tree.signal_all(living, signal.SIGSTOP)
        tree.signal_all(living, signal.SIGKILL)

    def _conclude(self) -> None:
        assert self._ended is not None
        assert self._spool is not None
        self._spool.close()
        marks.write(self._config.folder, marks.EXIT, dict(self._ended, leftovers=len(self._leftovers)))
        self.over = True


def _is_full(folder: str) -> bool:
    """Whether the job's disk has no room: what the command wrote last may be nowhere, and its exit code need not tell."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < _FULL

"""Calling Slurm's commands: each with a deadline of its own, an environment without secrets, and an end that is sure.

The one idea: a command that hangs is ended with all that it started, and what it did meanwhile is not known; so is what a
command did whose answer got lost on the way. Both are TryAgain, and whoever called looks before it repeats anything.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from .base import NoCapacity, Refused, TryAgain
from .slurm_accounts import behind_sudo, sudo_trouble

T = TypeVar("T")

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

BUSY = (
    "unable to contact slurm controller", "timed out", "connection refused", "connect failure", "zero bytes were transmitted",
    "temporarily unable", "resource temporarily unavailable", "munge", "authentication", "communication connection failure",
    "incompatible versions", "try again", "could not establish a configuration source", "failed to fetch config",
)  # fmt: skip
"""What Slurm's commands say (in lower case) when they could not ask, or do not know what became of it."""

FULL = ("maxsubmit", "submit job limit", "job submit limit", "maximum number of jobs", "job limit")
"""What they say when the queue takes no more jobs of ours for now."""

NEVER = (
    "invalid", "not available", "not permitted", "more processors requested", "unrecognized", "violates", "access/permission denied",
    "user's group", "time limit", "unsupported", "illegal", "cannot be satisfied", "unable to parse",
)  # fmt: skip
"""What they say of a job that will never be taken."""


class Commands:
    """Slurm's commands of this machine. `folder` holds them where PATH does not, `config` is the path of slurm.conf."""

    def __init__(self, folder: str = "", config: str = "") -> None:
        # of the system first: the job inherits it, and its python3 shall not be that of the portal
        places = [folder, PATH, os.environ.get("PATH", "")]
        self._environment = {"PATH": ":".join(place for place in places if place), "LANG": "C.UTF-8", "TZ": "UTC"}
        self._environment["SLURM_TIME_FORMAT"] = "%s"  # times as seconds since 1970
        kept = {name: os.environ.get(name, "") for name in ("HOME", "USER", "LOGNAME", "SLURM_CONF")}
        self._environment |= {name: value for name, value in kept.items() if value}
        self._config = config
        if config:
            self._environment["SLURM_CONF"] = config

    def run(self, words: Sequence[str], timeout: float, text: str | None = None, account: str = "") -> str:
        """What it prints, run as `account` if one is given. TryAgain, NoCapacity or Refused with Slurm's own words when it fails;
        `timeout` in seconds."""
        name, words = words[0], self._as(account, words)
        nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
        try:
            process = subprocess.Popen(
                words, env=self._environment, cwd="/", start_new_session=True, text=True, errors="replace",
                stdin=nothing if text is None else pipe, stdout=pipe, stderr=pipe,
            )  # fmt: skip
        except FileNotFoundError:
            raise Refused(_missing(words[0])) from None
        except OSError as error:
            raise TryAgain(f"{name} could not be started: {error.strerror or error}") from error
        try:
            said, complaint = process.communicate(text, timeout)
        except subprocess.TimeoutExpired:
            raise TryAgain(f"{name} did not answer within {timeout:.0f} s") from None
        finally:
            _end(process)
        if process.returncode and account and (trouble := sudo_trouble(complaint, account)):
            raise Refused(trouble)
        if process.returncode:
            raise error_of(name, complaint or said, process.returncode)
        return said

    def _as(self, account: str, words: Sequence[str]) -> Sequence[str]:
        if not account:
            return words
        program = shutil.which(words[0], path=self._environment["PATH"])
        if program is None:
            raise Refused(_missing(words[0]))
        return behind_sudo(account, program, words[1:], self._config)


def error_of(command: str, complaint: str, code: int) -> Exception:
    """What a failed command means. What nobody knows is asked again."""
    lines = [line.strip().removeprefix(f"{command}: ").removeprefix("error: ") for line in complaint.splitlines()]
    words = "; ".join(line for line in lines if line)[:500] or f"exit code {code}"
    low = words.lower()
    if any(sign in low for sign in BUSY):
        return TryAgain(f"Slurm does not answer: {words}")
    if any(sign in low.replace(" ", "") or sign in low for sign in FULL) and "time limit" not in low.replace("size and/or time limits", ""):
        return NoCapacity(f"Slurm takes no more jobs for now: {words}")
    if any(sign in low for sign in NEVER):
        return Refused(f"Slurm refuses: {words}")
    return TryAgain(f"{command} failed: {words}")


def _missing(program: str) -> str:
    what = "its rule lets jobs run as their owner" if program == "sudo" else "Slurm's commands are needed here"
    return f"there is no {program} on this machine: {what}"


class Shared(Generic[T]):
    """Callers that ask at the same time share one answer, of a question that was put after each of them had asked."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._change = threading.Condition()
        self._begun = self._done = 0
        self._busy = False
        self._answer: T | TryAgain | Refused

    def fresh(self) -> T:
        """An answer not older than this call. Raises what the question raised."""
        with self._change:
            wanted = self._begun + 1
            self._change.wait_for(lambda: self._done >= wanted or not self._busy)
            if self._done < wanted:
                self._busy = True
                self._begun += 1
        if self._done < wanted:
            self._put()
        answer = self._answer
        if isinstance(answer, TryAgain | Refused):
            raise answer
        return answer

    def _put(self) -> None:
        try:
            answer: T | TryAgain | Refused = self._ask()
        except (TryAgain, Refused) as error:
            answer = error
        except BaseException:
            answer = TryAgain("the question was broken off")
            raise
        finally:
            with self._change:
                self._answer, self._done, self._busy = answer, self._begun, False
                self._change.notify_all()


def _end(process: subprocess.Popen[str]) -> None:
    """The whole group: sbatch may run plugins and filters of the site."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # sudo belongs to root, who alone may kill it; its end is not waited for
            process.wait(2)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()

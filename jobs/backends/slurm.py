"""Clusters on a Slurm cluster: one Slurm job each, with our agent on each of its nodes.

The one idea: Slurm's queue is the memory. A job's name is the token, so whatever became of a call, one squeue for all says
what there is; what is submitted, looked at or cancelled is found by it. Slurm's states in our words: slurm_words.py.

    slurm_call.py    calling Slurm's commands          slurm_queue.py   reading what they say
    slurm_script.py  what is handed to sbatch          slurm_node.py    what runs on each node
    slurm_words.py   its states and reasons in ours    slurm_kinds.py   what nodes there are
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import slurm_kinds
from .base import Backend, Capacity, Described, Refused, Spec, State, TryAgain
from .local_folders import locked, make
from .local_removal import remove
from .slurm_call import Commands
from .slurm_kinds import Kind
from .slurm_queue import NAME, Job, Queue, name_of
from .slurm_script import Options, Place, command, script
from .slurm_words import describe, is_over

PATIENCE = 2.5  # seconds of one call of destroy
WORD = re.compile(r"/?[\w.+/-]+", re.ASCII)  # a path or the name of a program

_ABSENT = Described(State.ABSENT)
_RELEASED = "released"  # folder of marks in `notes`
_MARKS_KEPT = 7 * 86400.0


class Slurm(Backend):
    """Options: `folder` (on the nodes; a folder per cluster is made there), `shared` (it is one file system of all nodes, and
    perhaps of this machine), `python` (of the nodes), `environment` (added to the commands' own), `defaults` (options of
    coretypes that name none: see slurm_script.Options), `margin` (seconds asked for beside the walltime, for staging and
    saving), `limit` (clusters that may wait in Slurm's queue), `path` (of Slurm's commands), `config` (slurm.conf), `timeout`
    (seconds of a call), `notes` (a folder of ours on this machine).
    """

    create_timeout = 90.0
    sandbox = "own machines"

    def __init__(
        self,
        name: str = "slurm",
        *,
        notes: str | Path,
        folder: str = "",
        shared: bool = False,
        python: str = "python3",
        environment: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        margin: int = 900,
        limit: int | None = 1000,
        path: str = "",
        config: str = "",
        timeout: float = 15.0,
        silent_limit: float = 900.0,
        **unknown: Any,
    ) -> None:
        super().__init__(name, **unknown)
        folder = folder or f"/tmp/headrace-{os.geteuid()}"
        if not folder.startswith("/") or not WORD.fullmatch(python):
            raise Refused(f"backend {name}: folder must be an absolute path, python a path or the name of a program")
        self._place = Place(folder, bool(shared), python, dict(environment or {}))
        self._defaults = dict(defaults or {})
        Options.of(self._defaults)
        self._margin, self._limit, self._timeout = int(margin), limit, min(float(timeout), 20.0)
        self._notes = Path(notes).absolute()
        self.silent_limit = silent_limit
        self._commands = Commands(path, config)
        self._queue = Queue(self._commands, self._timeout)

    # The contract

    def capacity(self) -> Mapping[str, Capacity]:
        """CPUs of the whole cluster, whoever has them. Slurm queues by itself, so nothing waits here for them."""
        try:
            busy, idle, other, total = self._commands.run(["sinfo", "--noheader", "--format=%C"], self._timeout).split()[0].split("/")
            return {"": Capacity(int(total) - int(other), int(idle), True, self._limit)}
        except (TryAgain, Refused, ValueError, IndexError):
            return {"": Capacity(None, None, True, self._limit)}

    def create(self, token: str, spec: Spec) -> None:
        words = self._checked(token, spec)
        try:
            make(self._notes / "locks", 0o700)
            with locked(self._notes / "locks" / token, self._timeout) as lock:
                self._mark(token).unlink(missing_ok=True)
                try:
                    if not self._queue.jobs().get(token):
                        self._submit(token, spec, words)
                finally:
                    lock.unlink(missing_ok=True)
        except OSError as error:
            raise TryAgain(f"could not ask for the cluster: {error.strerror or error}") from error

    def describe(self, tokens: Sequence[str]) -> Mapping[str, Described]:
        if not tokens:
            return {}
        try:
            jobs = self._queue.jobs()
        except (TryAgain, Refused) as error:
            return dict.fromkeys(tokens, Described(State.UNKNOWN, str(error)))
        answer = {token: self._of(token, jobs.get(token, ())) for token in tokens}
        vague = [token for token, told in answer.items() if told is None or _wants_a_name(jobs.get(token, ()))]
        return {**{token: told or _ABSENT for token, told in answer.items()}, **self._accounted(vague)}

    def destroy(self, token: str) -> bool:
        if not NAME.fullmatch(token):
            return True
        deadline, pause, cancelled = time.monotonic() + PATIENCE, 0.05, set[str]()
        while True:
            jobs = self._queue.jobs().get(token, ())
            living = [job.number for job in jobs if not is_over(job)]
            if not living:
                self._clear(token, bool(jobs))
                return True
            new = [number for number in living if number not in cancelled]
            if new:
                self._commands.run(["scancel", "--quiet", *new], self._timeout)
                cancelled.update(new)
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.6, 0.5)

    def tokens(self) -> Iterable[str]:
        try:
            return sorted(token for token, jobs in self._queue.jobs().items() if any(not is_over(job) for job in jobs))
        except Refused as error:
            raise TryAgain(str(error)) from error

    def about(self) -> str:
        where = "shared by the nodes" if self._place.shared else "on each node"
        return f"{self.name}: a Slurm cluster; jobs run there as {name_of(str(os.geteuid()))}, folders in {self._place.folder}, {where}"

    # For admins

    def kinds(self) -> Sequence[Kind]:
        """What nodes there are. TryAgain, Refused."""
        return slurm_kinds.parse(self._commands.run(slurm_kinds.WORDS, self._timeout))

    # Create

    def _checked(self, token: str, spec: Spec) -> list[str]:
        if not NAME.fullmatch(token):
            raise Refused(f"{token!r} cannot name a cluster")
        if min(spec.nodes, spec.cores, spec.memory) < 1:
            raise Refused("a cluster has at least one node with a core and memory")
        return command(token, spec, Options.of(self._defaults, spec.options), self._margin)

    def _submit(self, token: str, spec: Spec, words: list[str]) -> None:
        """Whatever sbatch's silence means: what Slurm took is in its queue."""
        try:
            self._commands.run(words, self._timeout, script(token, spec, self._place))
        except Refused as error:
            raise Refused(f"{spec.nodes * spec.cores} cores asked for: {error}") from error
        except TryAgain:
            if not self._queue.jobs().get(token):
                raise

    # Describe

    def _of(self, token: str, jobs: Sequence[Job]) -> Described | None:
        """What lives counts more than what is over; None if Slurm knows nothing of it (any more)."""
        if not jobs:
            return None
        if len(jobs) == 1 and not is_over(jobs[0]):  # nearly all
            return describe(jobs[0])
        if all(is_over(job) for job in jobs) and self._mark(token).exists():
            return _ABSENT
        return describe(min(jobs, key=lambda job: (is_over(job), job.state == "PENDING", int(job.number) if job.number.isdigit() else 0)))

    def _accounted(self, tokens: Sequence[str]) -> dict[str, Described]:
        """For what squeue has forgotten, and for who cancelled. UNKNOWN where accounting exists and does not answer."""
        wanted = [token for token in tokens if not self._mark(token).exists()]
        try:
            found = self._queue.accounted(wanted)
        except (TryAgain, Refused) as error:
            return dict.fromkeys(wanted, Described(State.UNKNOWN, f"Slurm's accounting does not answer: {error}"))
        return {token: _past(job) for token, job in found.items()}

    # Destroy

    def _clear(self, token: str, known: bool) -> None:
        """What a killed agent could not clear away, where this machine sees it; and a mark that we wanted the end."""
        with suppress(OSError):
            if self._place.shared:
                remove(Path(self._place.folder), token, time.monotonic() + PATIENCE)
            if known:
                make(self._notes / _RELEASED, 0o700)
                self._mark(token).touch()
                self._forget_old_marks()

    def _mark(self, token: str) -> Path:
        return self._notes / _RELEASED / token

    def _forget_old_marks(self) -> None:
        """Slurm itself forgets earlier; once an hour."""
        folder = self._notes / _RELEASED
        swept = folder / ".swept"
        if swept.exists() and time.time() - swept.stat().st_mtime < 3600:
            return
        swept.touch()
        for entry in os.scandir(folder):
            if time.time() - entry.stat().st_mtime > _MARKS_KEPT:
                os.unlink(entry.path)


def _wants_a_name(jobs: Sequence[Job]) -> bool:
    """Cancelled by somebody: squeue does not say by whom, accounting does."""
    return any(job.state == "CANCELLED" for job in jobs) and all(is_over(job) for job in jobs)


def _past(job: Job) -> Described:
    """What accounting says of a job that squeue does not show: it cannot be alive, so a living state is a late one."""
    told = describe(job)
    if told.state in (State.UP, State.PENDING):
        return Described(State.UNKNOWN, f"Slurm does not show the job any more, its accounting still says {job.state}")
    return told

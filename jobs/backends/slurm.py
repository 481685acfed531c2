"""Clusters on a Slurm cluster: one Slurm job each, with our agent on each of its nodes.

The one idea: Slurm's queue is the memory. A job's name is the token, so whatever became of a call, one squeue for all says
what there is; what is submitted, looked at or cancelled is found by it. Slurm's states in our words: slurm_words.py.

    slurm_call.py    calling Slurm's commands          slurm_queue.py     reading what they say
    slurm_script.py  what is handed to sbatch          slurm_node.py      what runs on each node
    slurm_words.py   its states and reasons in ours    slurm_kinds.py     what nodes there are
    slurm_marks.py   what this portal did to clusters  slurm_accounts.py  whose account a job runs under
    slurm_look.py    what an admin wants to know       slurm_trial.py     a job that only tries whether jobs would run
    slurm_ask.py     which software a node has
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from . import slurm_ask, slurm_look, slurm_trial
from .base import Backend, Capacity, Described, Refused, Spec, State, TryAgain, cores_of
from .local_folders import locked, make
from .local_removal import remove
from .slurm_accounts import Accounts
from .slurm_call import Commands
from .slurm_kinds import Kind
from .slurm_marks import Marks
from .slurm_queue import NAME, Job, Queue, name_of
from .slurm_script import Options, Place, command, script
from .slurm_words import describe, is_over

PATIENCE = 2.5  # seconds of one call of destroy
OWN_ENDS = ("COMPLETED", "FAILED")
"""States of a job whose agents went by themselves."""
WORD = re.compile(r"/?[\w.+/-]+", re.ASCII)  # a path or the name of a program

_ABSENT = Described(State.ABSENT)


class Slurm(Backend):
    """Options: `folder` (on the nodes; a folder per cluster is made there), `shared` (it is one file system of all nodes, and
    perhaps of this machine), `python` (of the nodes), `environment` (added to the commands' own), `defaults` (options of
    coretypes that name none: see slurm_script.Options), `margin` (seconds asked for beside the walltime, for staging and
    saving), `limit` (clusters that may wait in Slurm's queue), `path` (of Slurm's commands), `config` (slurm.conf), `timeout`
    (seconds of a call), `notes` (a folder of ours on this machine), `operator` (Slurm lets our user change time limits and end
    anybody's jobs), `accounts`, `key` and `lowest_uid` (see slurm_accounts).
    """

    create_timeout = 90.0
    no_longer = "Slurm lets only its operators give a running job more time, and this portal is none (option operator)."
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
        operator: bool = False,
        accounts: str = "",
        key: str = "",
        lowest_uid: int = 1000,
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
        self._released, self._cancelled, self._owned = (Marks(self._notes / name) for name in ("released", "cancelled", "owned"))
        self.silent_limit = silent_limit
        self.can_extend = bool(operator)
        self._accounts = Accounts(accounts, key, lowest_uid)
        self._commands = Commands(path, config)
        self._queue = Queue(self._commands, self._timeout, self._accounts, self._owned)

    # The contract

    def capacity(self) -> Mapping[str, Capacity]:
        """CPUs of the whole cluster, whoever has them. Slurm queues by itself, so nothing waits here for them."""
        try:
            busy, idle, other, total = self._commands.run(["sinfo", "--noheader", "--format=%C"], self._timeout).split()[0].split("/")
            return {"": Capacity(int(total) - int(other), int(idle), True, self._limit)}
        except (TryAgain, Refused, ValueError, IndexError):
            return {"": Capacity(None, None, True, self._limit)}

    def create(self, token: str, spec: Spec) -> None:
        account = self._accounts.of(spec.account)
        self._create(token, spec, self._checked(token, spec, account), script(token, spec, self._place.of(account)), account)

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
                self._cancel(token, [job for job in jobs if job.number in new])
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

    def why_over(self, token: str) -> Described | None:
        """Ends that were not ours: a scancel, a time limit, preemption, a node."""
        if self._cancelled.has(token):
            return None
        try:
            jobs = self._queue.jobs().get(token, ()) or [job for job in self._queue.accounted([token]).values()]
            job = max(jobs, key=lambda job: int(job.number) if job.number.isdigit() else 0, default=None)
            if job is None or job.state in OWN_ENDS or not is_over(job):
                return None
            named = self._queue.accounted([token]).get(token) if job.state == "CANCELLED" and not job.detail else None
        except (TryAgain, Refused):
            return None
        return replace(describe(named or job), eta=job.end)

    def extend(self, token: str, until: datetime) -> None:
        living = [job for job in self._queue.jobs().get(token, ()) if not is_over(job)]
        if not self.can_extend or not living:
            raise Refused(self.no_longer if living else "it does not run on the cluster any more")
        for job in living:
            if job.start is None or job.end is None:
                raise TryAgain("Slurm does not say yet when it started")
            wanted = until + timedelta(seconds=self._margin)
            if wanted > job.end:
                minutes = math.ceil((wanted - job.start).total_seconds() / 60)
                self._commands.run(["scontrol", "update", f"JobId={job.number}", f"TimeLimit={minutes}"], self._timeout)

    def about(self) -> str:
        where = "shared by the nodes" if self._place.shared else "on each node"
        mine = name_of(str(os.geteuid()))
        whose = {"": mine, "mapped": f"their owner's account, else as {mine}", "only": "their owner's account"}[self._accounts.mode]
        return f"{self.name}: a Slurm cluster; jobs run there as {whose}, folders in {self._place.folder}, {where}"

    # For admins

    option_names = tuple(field.name for field in fields(Options))

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refused says what is wrong with options of a coretype."""
        Options.of(self._defaults, options)

    def kinds(self) -> Sequence[Kind]:
        """What nodes there are. TryAgain, Refused."""
        return slurm_look.kinds(self._commands, self._timeout)

    def survey(self) -> dict[str, Any]:
        """What an admin wants to know of the cluster before jobs go there: see slurm_look. Raises nothing."""
        return slurm_look.survey(self._commands, self._timeout, self._place.folder, self._place.shared, self._accounts.mode)

    def trial(self, token: str, spec: Spec) -> None:
        """`create` for a job that tries whether jobs would run, and ends; `tried` tells how it stands, `destroy` ends it."""
        account = self._accounts.of(spec.account)
        text = slurm_trial.script(token, spec, self._place.of(account))
        self._create(token, replace(spec, nodes=1), self._checked(token, replace(spec, nodes=1), account), text, account)

    def tried(self, token: str) -> slurm_trial.Tried:
        """How a trial stands. TryAgain, Refused."""
        jobs = self._queue.jobs().get(token) or list(self._queue.accounted([token]).values())
        return slurm_trial.tried(jobs[-1] if jobs else None)

    def says(self, scripts: Sequence[str], seconds: float, options: Mapping[str, Any]) -> Sequence[str]:
        return slurm_ask.says(self._commands, scripts, seconds, self._place, Options.of(self._defaults, options))

    # Create

    def _create(self, token: str, spec: Spec, words: list[str], text: str, account: str) -> None:
        try:
            make(self._notes / "locks", 0o700)
            with locked(self._notes / "locks" / token, self._timeout) as lock:
                self._released.drop(token)
                self._cancelled.drop(token)
                try:
                    if not self._queue.jobs().get(token):
                        self._submit(token, spec, words, text, account)
                finally:
                    lock.unlink(missing_ok=True)
        except OSError as error:
            raise TryAgain(f"could not ask for the cluster: {error.strerror or error}") from error

    def _checked(self, token: str, spec: Spec, account: str) -> list[str]:
        if not NAME.fullmatch(token):
            raise Refused(f"{token!r} cannot name a cluster")
        if min(spec.nodes, spec.cores, spec.memory) < 1:
            raise Refused("a cluster has at least one node with a core and memory")
        options = Options.of(self._defaults, spec.options)
        return command(token, spec, options, self._margin, self._accounts.comment(token, account))

    def _submit(self, token: str, spec: Spec, words: list[str], text: str, account: str) -> None:
        """Whatever sbatch's silence means: what Slurm took is in its queue."""
        if account:
            self._owned.add(self._accounts.named(token, account))
        try:
            self._commands.run(words, self._timeout, text, account)
        except Refused as error:
            raise Refused(f"{cores_of(spec)} asked for: {error}") from error
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
        if all(is_over(job) for job in jobs) and self._released.has(token):
            return _ABSENT
        return describe(min(jobs, key=lambda job: (is_over(job), job.state == "PENDING", int(job.number) if job.number.isdigit() else 0)))

    def _accounted(self, tokens: Sequence[str]) -> dict[str, Described]:
        """For what squeue has forgotten, and for who cancelled. UNKNOWN where accounting exists and does not answer."""
        wanted = [token for token in tokens if not self._released.has(token)]
        try:
            found = self._queue.accounted(wanted)
        except (TryAgain, Refused) as error:
            return dict.fromkeys(wanted, Described(State.UNKNOWN, f"Slurm's accounting does not answer: {error}"))
        return {token: _past(job) for token, job in found.items()}

    # Destroy

    def _cancel(self, token: str, jobs: Sequence[Job]) -> None:
        """As whom Slurm lets end them. What is ending already was ended by somebody else: it gets no mark of ours."""
        with suppress(OSError):
            if any(job.state != "COMPLETING" for job in jobs):
                self._cancelled.add(token)
        mine = str(os.geteuid())
        for uid in dict.fromkeys(job.uid for job in jobs):
            account = "" if self.can_extend or uid == mine else name_of(uid)
            words = ["scancel", "--quiet", *(job.number for job in jobs if job.uid == uid)]
            self._commands.run(words, self._timeout, account=account)

    def _clear(self, token: str, known: bool) -> None:
        """What a killed agent could not clear away, where this machine sees it; and a mark that we wanted the end."""
        with suppress(OSError):
            if self._place.shared and "{account}" not in self._place.folder:
                remove(Path(self._place.folder), token, time.monotonic() + PATIENCE)
            if known:
                self._released.add(token)


def _wants_a_name(jobs: Sequence[Job]) -> bool:
    """Cancelled by somebody: squeue does not say by whom, accounting does."""
    return any(job.state == "CANCELLED" for job in jobs) and all(is_over(job) for job in jobs)


def _past(job: Job) -> Described:
    """What accounting says of a job that squeue does not show: it cannot be alive, so a living state is a late one."""
    told = describe(job)
    if told.state in (State.UP, State.PENDING):
        return Described(State.UNKNOWN, f"Slurm does not show the job any more, its accounting still says {job.state}")
    return told

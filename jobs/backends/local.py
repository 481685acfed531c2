"""Clusters on the portal's own machine: a folder each, and our agent started in it once for every node.

The one idea: the folder is the cluster. It is there, with our mark, before anything is started, and everything that is
started can be found again without it: by the token in its environment, by its uid, by its cgroup. So create, describe
and destroy need no memory of their own and may die anywhere.

    FOLDER/TOKEN/cluster.json   what was asked for           (names and phases: local_folders.py)
                /work, /tmp     the job's, shared by nodes   (owned by the cluster's uid: local_sandbox.py)
                /node-0, ...    each agent's own folder, its start file CONFIG.json with the secret
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from . import local_agents as agents
from . import local_look
from . import local_processes as processes
from .base import Backend, Capacity, Described, NoCapacity, Refused, Spec, State, TryAgain, cores_of
from .local_folders import ADDRESS, CREATED, MARK, TOKEN, Folders, make, write
from .local_limits import Limits
from .local_removal import remove
from .local_sandbox import KINDS, Sandbox, choose
from .local_uids import Uids

ELSEWHERE = Path("/var/lib/headrace")
UIDS = range(60706, 61184)  # used neither by accounts nor by systemd (systemd.io/UIDS-GIDS)
PATIENCE = 2.0  # seconds of one call of destroy

_ABSENT = Described(State.ABSENT)


class Local(Backend):
    """Options: `folder` (a folder per cluster is made there), `cores` (of the machine, if not all), `pids` (processes
    and threads of a node), `readable` (paths that commands may read without a uid of their own), `uids` (first, last),
    `uid_folder` (who has which; one for all portals of the machine), `sandboxes` (kinds to try), `cgroups` (False: do
    without), `python` (that runs the agents), `portal` (its address: agents that can't reach it find it there).
    """

    create_timeout = 30.0
    can_extend = True

    def __init__(
        self,
        name: str = "local",
        *,
        folder: str | Path,
        cores: int | None = None,
        pids: int = 20_000,
        readable: Sequence[str] = (),
        uids: tuple[int, int] = (UIDS[0], UIDS[-1]),
        uid_folder: str | Path = ELSEWHERE / "uids",
        sandboxes: Sequence[str] = KINDS,
        cgroups: bool = True,
        python: str | None = None,
        silent_limit: float = 900.0,
        portal: str = "",
    ) -> None:
        super().__init__(name)
        self._portal = portal
        self._asked_folder = Path(folder).absolute()
        self._pool = hashlib.sha256(os.fsencode(self._asked_folder)).hexdigest()[:10]
        self.cores = cores or len(os.sched_getaffinity(0))
        self.silent_limit = silent_limit
        self._readable, self._kinds = readable, sandboxes
        self._uids = Uids(*uids, Path(uid_folder))
        self._limits = Limits(self._pool, pids, cgroups)
        self._python = python or os.path.realpath(sys.executable)
        self._started: deque[subprocess.Popen[bytes]] = deque()

    # The contract

    def capacity(self) -> Mapping[str, Capacity]:
        try:
            return {"": Capacity(self.cores, max(0, self.cores - self._used()))}
        except OSError:
            return {"": Capacity(None, None)}

    def create(self, token: str, spec: Spec) -> None:
        self._check(token, spec)
        self._reap()
        try:
            self._folders.prepare()
            with self._folders.lock(token, self.create_timeout / 2) as lock:
                try:
                    self._create(token, spec)
                finally:
                    if not self._folders.has(token):  # nothing was made, so nobody would ever remove the lock
                        lock.unlink(missing_ok=True)
        except OSError as error:
            raise TryAgain(f"could not make the cluster: {error.strerror or error}") from error

    def describe(self, tokens: Sequence[str]) -> Mapping[str, Described]:
        self._reap()
        if tokens:
            self._tell_address()
        return {token: self._describe(token) for token in tokens}

    def destroy(self, token: str) -> bool:
        if not TOKEN.fullmatch(token):
            return True
        deadline = time.monotonic() + PATIENCE
        try:
            self._folders.prepare()
            with self._folders.lock(token, PATIENCE / 2) as lock:
                gone = self._destroy(token, deadline)
                if gone:
                    lock.unlink(missing_ok=True)
        except TryAgain:  # a create or another destroy is at it
            return False
        except OSError as error:
            raise TryAgain(f"could not remove the cluster: {error.strerror or error}") from error
        self._reap()
        return gone

    def tokens(self) -> Iterable[str]:
        try:
            found = self._folders.tokens()
        except OSError as error:
            raise TryAgain(f"could not read {self._folders.home}: {error.strerror or error}") from error
        return sorted(found | self._limits.tokens() | self._uids.clusters(self._folders.home))

    def extend(self, token: str, until: datetime) -> None:
        """Nothing here ends a cluster by time: the agent does, when the portal says so."""

    def about(self) -> str:
        elsewhere = "" if self._folders.home == self._asked_folder else f", folders in {self._folders.home}"
        return f"{self.name}: {self.cores} cores, sandbox: {self._sandbox.about}, {self._limits.about()}{elsewhere}"

    def says(self, scripts: Sequence[str], seconds: float, options: Mapping[str, Any]) -> Sequence[str]:
        return [local_look.look(script, seconds) for script in scripts]

    def _tell_address(self) -> None:
        """The portal may have come back on another port, and only a file reaches agents that can't reach it."""
        file = self._folders.home / ADDRESS
        with suppress(OSError):
            if self._portal and (not file.exists() or json.loads(file.read_bytes()) != self._portal):
                write(file, self._portal)

    # What this machine offers, tried once a process

    @property
    def sandbox(self) -> str:  # type: ignore[override]
        """One of "uid", "bwrap", "landlock", "none"."""
        return self._sandbox.name

    @cached_property
    def _sandbox(self) -> Sandbox:
        with suppress(OSError):  # a create says so, to somebody who waits for an answer
            make(self._asked_folder, 0o711)
        return choose(self._uids, self._asked_folder, self._readable, self._kinds)

    @cached_property
    def _folders(self) -> Folders:
        """Where asked for, or else where users of clusters get to: not below a home folder that is closed to them."""
        home = self._asked_folder
        if self._sandbox.name == "uid" and not _passable(home):
            home = ELSEWHERE / "clusters" / self._pool
        return Folders(home)

    # Create

    def _check(self, token: str, spec: Spec) -> None:
        if not TOKEN.fullmatch(token):
            raise Refused(f"{token!r} cannot name a cluster")
        if min(spec.nodes, spec.cores, spec.memory) < 1:
            raise Refused("a cluster has at least one node with a core and memory")
        if spec.nodes * spec.cores > self.cores:
            raise Refused(f"{cores_of(spec)} asked for, this machine has {self.cores}")

    def _create(self, token: str, spec: Spec) -> None:
        folder = self._folders.path(token)
        if self._folders.gone(token).exists():
            raise TryAgain("the cluster of this name is still being removed")
        if not folder.exists():
            self._place(token, spec)
        if (folder / CREATED).exists():
            return
        walls = self._sandbox.prepare(token, folder)
        for node in range(spec.nodes):
            config = self._config(token, spec, node, walls)
            agent = agents.start([self._python, "-I", "-S", spec.agent], token, folder / f"node-{node}", config)
            if agent:
                self._started.append(agent)
        write(folder / CREATED, {"time": time.time()})

    def _place(self, token: str, spec: Spec) -> None:
        """The folder with our mark, at once and only if there is room: two creates can't take the same cores."""
        with self._folders.lock(".all", self.create_timeout / 4):
            free = self.cores - self._used()
            if spec.nodes * spec.cores > free:
                raise NoCapacity(f"{cores_of(spec)} asked for, {max(0, free)} free")
            new = self._folders.new(token)
            make(new, 0o711)
            write(new / MARK, {"token": token, "time": time.time(), "nodes": spec.nodes, "cores": spec.cores})
            os.rename(new, self._folders.path(token))

    def _config(self, token: str, spec: Spec, node: int, walls: Mapping[str, Any]) -> dict[str, Any]:
        cluster = self._folders.path(token)
        return {
            "portal": spec.portal, "portal_file": str(self._folders.home / ADDRESS), "ca": spec.ca, "token": token, "secret": spec.secret,
            "node": node, "nodes": spec.nodes, "hostname": socket.gethostname(), "foreground": False,
            "folder": str(cluster / f"node-{node}"), "workdir": str(cluster / "work"), "tmp": str(cluster / "tmp"),
            "run_as": None, "wrap": None, "landlock": None, **walls, "sandbox": self.sandbox,
            "cgroups": self._limits.make(token, node, spec.cores, spec.memory),
            "cores": spec.cores, "memory": spec.memory, "rlimits": self._limits.rlimits(spec.memory),
        }  # fmt: skip

    def _reap(self) -> None:
        """Agents put themselves into the background; what they leave behind in front is ours to bury."""
        for _ in range(len(self._started)):
            with suppress(IndexError):  # another thread took the last one
                process = self._started.popleft()
                if process.poll() is None:
                    self._started.append(process)

    def _used(self) -> int:
        return sum(mark.get("nodes", 0) * mark.get("cores", 0) for mark in self._folders.live())

    # Describe

    def _describe(self, token: str) -> Described:
        """In the order of the phases, or a cluster that goes on to the next one meanwhile would seem absent."""
        try:
            folder = self._folders.path(token)
            if self._folders.new(token).exists():
                return Described(State.PENDING, "being made")
            if (folder / MARK).exists():
                return agents.look(folder)
            return Described(State.FAILED, "being removed") if self._folders.gone(token).exists() else _ABSENT
        except OSError as error:
            return Described(State.UNKNOWN, f"could not look: {error.strerror or error}")

    # Destroy

    def _destroy(self, token: str, deadline: float) -> bool:
        """Processes first, so that nothing fills what is being removed; the uid last, so that nobody gets it early."""
        folder, gone = self._folders.path(token), self._folders.gone(token)
        uid = self._uids.of(folder)
        if not self._end_processes(token, folder, uid, deadline) or not self._limits.remove(token, deadline):
            return False
        if folder.exists():
            os.rename(folder, gone)
        for leftover in (gone, self._folders.new(token)):
            if not remove(leftover.parent, leftover.name, deadline):
                return False
        if uid is not None:
            if not self._uids.clear(uid, deadline):
                return False
            self._uids.give_back(uid)
        self._limits.clear()
        return True

    def _end_processes(self, token: str, folder: Path, uid: int | None, deadline: float) -> bool:
        """By every sign there is; without a user of its own a command could shed its environment."""
        self._limits.end(token)
        signs = [processes.carries(token)]
        if uid is not None:
            signs.append(self._uids.end(uid))
        else:
            signs += [processes.in_cgroup(self._limits.path(token)), processes.works_in(folder)]
        return processes.end(lambda pid: any(sign(pid) for sign in signs), deadline)


def _passable(folder: Path) -> bool:
    """Whether any user of the machine may pass through all that lies above."""
    return all(parent.stat().st_mode & 0o001 for parent in folder.parents)

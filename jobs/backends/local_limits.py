"""Limits for the commands of clusters on this machine, by whichever cgroups it has.

The one idea: a controller counts only after it was tried: a cgroup was made in it and took a limit. Version 2 is used
where it has the controller, else version 1; what neither has is left to rlimits, and `about` says so.

Cgroups are named HIERARCHY/headrace-POOL/TOKEN/NODE. POOL keeps two portals on one machine apart.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

WANTED = ("memory", "cpu", "pids")
_PERIOD = 100_000  # microseconds


@dataclass(frozen=True)
class Hierarchy:
    """A mounted tree of cgroups and those of the wanted controllers that it has; version 2 may serve without any, to
    end all processes of a cluster in one write."""

    root: Path
    version: int
    controllers: tuple[str, ...]


class Limits:
    """Cgroups of one pool. `pids` is how many processes and threads a node may have."""

    def __init__(self, pool: str, pids: int, use_cgroups: bool = True) -> None:
        self._pool, self._pids, self._use = f"headrace-{pool}", pids, use_cgroups

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """Those that work here and now."""
        found = _mounted() if self._use else []
        return tuple(h for h in found if _works(h, self._pool))

    def make(self, token: str, node: int, cores: int, memory: int) -> list[str]:
        """The cgroups for a node's command, made and limited; may be repeated. OSError if one can't be made."""
        made = []
        for hierarchy in self.hierarchies:
            folder = _make(hierarchy, [self._pool, token, str(node)])
            _limit(hierarchy, folder, cores, memory, self._pids)
            made.append(str(folder))
        return made

    def clear(self) -> None:
        """Take the pool away if it is empty."""
        for hierarchy in self.hierarchies:
            _try_remove(hierarchy.root / self._pool)

    def rlimits(self, memory: int) -> dict[str, int]:
        """What the cgroups can't do: memory by process (address space), where nothing better is there."""
        return {"core": 0} if self._has("memory") else {"core": 0, "as": memory}

    def end(self, token: str) -> None:
        """No new process in the cluster's cgroups, and those there get SIGKILL."""
        for hierarchy in self.hierarchies:
            top = hierarchy.root / self._pool / token
            if "pids" in hierarchy.controllers:
                _try_write(top / "pids.max", "0")
            if hierarchy.version == 2:
                _try_write(top / "cgroup.kill", "1")

    def path(self, token: str) -> str:
        """Where the cluster's cgroups are, below the root of each hierarchy."""
        return f"/{self._pool}/{token}/"

    def remove(self, token: str, deadline: float) -> bool:
        """Take the cluster's cgroups away; False if some are still busy at the deadline (of time.monotonic())."""
        left = [h.root / self._pool / token for h in self.hierarchies]
        while left := [top for top in left if not _remove(top)]:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.005)
        return True

    def tokens(self) -> set[str]:
        return {
            entry.name
            for hierarchy in self.hierarchies
            for entry in _scan(hierarchy.root / self._pool)
            if entry.is_dir(follow_symlinks=False)
        }

    def about(self) -> str:
        """Such as "memory, cores and processes limited by cgroup v1"."""
        by: dict[str, list[str]] = {}
        for thing, controller in (("memory", "memory"), ("cores", "cpu"), ("processes", "pids")):
            by.setdefault(self._how(controller), []).append(thing)
        return ", ".join(f"{_listed(things)} {how}" for how, things in by.items())

    def _has(self, controller: str) -> bool:
        return any(controller in h.controllers for h in self.hierarchies)

    def _how(self, controller: str) -> str:
        for hierarchy in self.hierarchies:
            if controller in hierarchy.controllers:
                return f"limited by cgroup v{hierarchy.version}"
        return "limited for each process alone (rlimit)" if controller == "memory" else "not limited"


def _mounted() -> list[Hierarchy]:
    """Version 2 first; version 1 for the controllers that it lacks."""
    mounts = [line.split()[1:4] for line in _read(Path("/proc/mounts")).splitlines()]
    found = [
        Hierarchy(Path(at), 2, _of_version_2(Path(at))) for at, kind, _ in mounts if kind == "cgroup2"
    ][:1]  # fmt: skip
    missing = [c for c in WANTED if not any(c in h.controllers for h in found)]
    for at, kind, options in mounts:
        has = tuple(c for c in missing if kind == "cgroup" and c in options.split(","))
        if has:
            found.append(Hierarchy(Path(at), 1, has))
            missing = [c for c in missing if c not in has]
    return found


def _of_version_2(root: Path) -> tuple[str, ...]:
    there = _read(root / "cgroup.controllers").split()
    return tuple(c for c in WANTED if c in there)


def _works(hierarchy: Hierarchy, pool: str) -> bool:
    """Make one, limit it, take it away."""
    probe = f"probe-{os.getpid()}-{time.monotonic_ns()}"
    try:
        folder = _make(hierarchy, [pool, probe, "0"])
        _limit(hierarchy, folder, cores=1, memory=64 << 20, pids=100)
        return True
    except OSError:
        return False
    finally:
        _remove(hierarchy.root / pool / probe)
        _try_remove(hierarchy.root / pool)


def _make(hierarchy: Hierarchy, names: list[str]) -> Path:
    try:
        return _make_path(hierarchy, names)
    except FileNotFoundError:  # somebody took the empty pool away meanwhile
        return _make_path(hierarchy, names)


def _make_path(hierarchy: Hierarchy, names: list[str]) -> Path:
    folder = hierarchy.root
    for name in names:
        if hierarchy.version == 2 and hierarchy.controllers:
            _write(folder / "cgroup.subtree_control", " ".join(f"+{c}" for c in hierarchy.controllers))
        folder = folder / name
        folder.mkdir(exist_ok=True)
    return folder


def _limit(hierarchy: Hierarchy, folder: Path, cores: int, memory: int, pids: int) -> None:
    for controller in hierarchy.controllers:
        for name, value in _settings(hierarchy.version, controller, cores, memory, pids).items():
            if not name.startswith(("memory.memsw", "memory.swap")):
                _write(folder / name, value)
            else:  # kernels without accounting of swap have no such file
                _try_write(folder / name, value)


def _settings(version: int, controller: str, cores: int, memory: int, pids: int) -> Mapping[str, str]:
    if controller == "pids":
        return {"pids.max": str(pids)}
    if controller == "memory" and version == 2:
        return {"memory.max": str(memory), "memory.swap.max": "0"}
    if controller == "memory":
        return {"memory.limit_in_bytes": str(memory), "memory.memsw.limit_in_bytes": str(memory)}
    if version == 2:
        return {"cpu.max": f"{cores * _PERIOD} {_PERIOD}"}
    return {"cpu.cfs_period_us": str(_PERIOD), "cpu.cfs_quota_us": str(cores * _PERIOD)}


def _remove(top: Path) -> bool:
    """Folders only, from the bottom up: the files in them are the kernel's."""
    return all(_try_remove(Path(folder)) for folder, _, _ in os.walk(top, topdown=False))


def _try_remove(folder: Path) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _write(path: Path, value: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # never makes a file
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def _try_write(path: Path, value: str) -> None:
    with contextlib.suppress(OSError):
        _write(path, value)


def _listed(things: list[str]) -> str:
    *most, last = things
    return f"{', '.join(most)} and {last}" if most else last

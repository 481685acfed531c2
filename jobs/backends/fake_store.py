"""Where the fake cloud keeps its clusters and faults: in memory, or in a folder that several processes share.

The one idea: a store is entered (`with store`) for the length of a call and is then this caller's alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from .base import Spec


@dataclass(frozen=True)
class Faults:
    """What the fake cloud does wrong.

    create: "try again", "refused" or "no capacity" raised by the next `times` creates (-1: all); accepted: the cluster
    is made all the same (a timeout after acceptance). boot: seconds until up, `why` its pending reason. fails: the
    reason with which every boot ends. unknown: that many describes answer unknown. lag: describes show the world as it
    was that many seconds ago. destroys: that many destroys of each cluster answer False. down: nothing answers.
    free, queues_itself, limit: capacity as told; unsized: unknown.
    """

    create: str = ""
    times: int = -1
    accepted: bool = False
    boot: float = 0.0
    why: str = "booting"
    fails: str = ""
    unknown: int = 0
    lag: float = 0.0
    destroys: int = 0
    down: bool = False
    free: int | None = None
    queues_itself: bool = False
    limit: int | None = None
    unsized: bool = False


@dataclass(frozen=True)
class Cluster:
    """A cluster of the fake cloud; times in seconds of its clock. `told`: its on_up was called."""

    token: str
    spec: Spec
    asked: float
    ready: float
    failed: str = ""
    destroys: int = 0
    told: bool = False

    @property
    def cores(self) -> int:
        return self.spec.nodes * self.spec.cores


class Memory:
    """Clusters of this process alone; thousands of calls a millisecond apart must not notice it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._clusters: dict[str, Cluster] = {}
        self._cores: Counter[str] = Counter()
        self.faults = Faults()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __contains__(self, token: str) -> bool:
        return token in self._clusters

    def __getitem__(self, token: str) -> Cluster:
        return self._clusters[token]

    def get(self, token: str) -> Cluster | None:
        return self._clusters.get(token)

    def tokens(self) -> list[str]:
        return list(self._clusters)

    def used(self, pool: str) -> int:
        """Cores taken; counted as clusters come and go, since a burst asks thousands of times."""
        return self._cores[pool]

    def put(self, cluster: Cluster) -> None:
        if cluster.token not in self._clusters:
            self._count(cluster, 1)
        self._clusters[cluster.token] = cluster

    def remove(self, token: str) -> None:
        cluster = self._clusters.pop(token, None)
        if cluster:
            self._count(cluster, -1)

    def _count(self, cluster: Cluster, sign: int) -> None:
        for pool in {"", cluster.spec.coretype}:
            self._cores[pool] += sign * cluster.cores


class Folder:
    """Clusters in a folder: a file each, replaced whole, so that a process that dies leaves no half of one."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        (self._folder / "clusters").mkdir(parents=True, exist_ok=True, mode=0o700)
        self._thread = threading.RLock()
        self._depth, self._file = 0, -1

    def __enter__(self) -> Self:
        self._thread.acquire()
        self._depth += 1
        if self._depth == 1:
            self._file = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.close(self._file)
        self._thread.release()

    @property
    def faults(self) -> Faults:
        found = _read(self._folder / "faults.json")
        return Faults(**found) if found else Faults()

    @faults.setter
    def faults(self, faults: Faults) -> None:
        _write(self._folder / "faults.json", asdict(faults))

    def __contains__(self, token: str) -> bool:
        return self._path(token).exists()

    def __getitem__(self, token: str) -> Cluster:
        found = self.get(token)
        if found is None:
            raise KeyError(token)
        return found

    def get(self, token: str) -> Cluster | None:
        found = _read(self._path(token))
        return Cluster(**{**found, "spec": Spec(**found["spec"])}) if found else None

    def all(self) -> list[Cluster]:
        return [cluster for cluster in map(self.get, self.tokens()) if cluster]

    def tokens(self) -> list[str]:
        return list(self._names())

    def used(self, pool: str) -> int:
        return sum(cluster.cores for cluster in self.all() if pool in ("", cluster.spec.coretype))

    def put(self, cluster: Cluster) -> None:
        spec = {name: getattr(cluster.spec, name) for name in Spec.__dataclass_fields__}
        values = {name: getattr(cluster, name) for name in Cluster.__dataclass_fields__}
        _write(self._path(cluster.token), {**values, "spec": {**spec, "options": dict(cluster.spec.options)}})

    def remove(self, token: str) -> None:
        self._path(token).unlink(missing_ok=True)

    def _path(self, token: str) -> Path:
        return self._folder / "clusters" / f"{token}.json"

    def _names(self) -> Iterator[str]:
        for entry in os.scandir(self._folder / "clusters"):
            if entry.name.endswith(".json"):
                yield entry.name.removesuffix(".json")


Store = Memory | Folder


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found
    except FileNotFoundError:
        return None


def _write(path: Path, values: dict[str, Any]) -> None:
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(values, file)
    os.replace(new, path)

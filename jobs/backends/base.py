"""What every backend promises: the values, the errors, the abstract class, and `get` to find one by name.

The one idea: a backend only finds machines and gives them back. Whatever it makes carries our token, which was saved
before the first call, so every call may be repeated after a crash and whatever exists can be found and removed. The
docstrings of `Backend` are the contract; tests/jobs/backends holds every backend to them.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Spec:
    """All that a backend may know of a cluster. `cores` and `memory` (bytes) are per node, `walltime` is in seconds.

    `portal` is the address that agents call, `secret` the cluster's own secret for it (never shown, never logged),
    `agent` the path of the zipapp, `ca` a file of certificates that agents trust, `account` the Unix account that an admin
    mapped its owner to ("" if none), `options` the coretype's own.
    """

    coretype: str
    nodes: int
    cores: int
    memory: int
    walltime: int
    portal: str
    secret: str = field(repr=False)
    agent: str
    ca: str | None = None
    account: str = ""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Capacity:
    """Cores of a pool, None where unknown.

    `queues_itself`: the other side has a queue of its own, so a cluster may be asked for when nothing is free, up to
    `limit` clusters waiting there (None: no limit).
    """

    total: int | None
    free: int | None
    queues_itself: bool = False
    limit: int | None = None


WAITS = "Waits"
"""First word of `Described.why` of a cluster that waits in a queue of the other side: no limit of ours counts meanwhile."""
CANCELLED = "Cancelled on the cluster"
NO_MEMORY = "Out of memory"
NO_TIME = "Out of time"
NO_NODE = "A node failed"
PREEMPTED = "Preempted"
CAUSES = {
    CANCELLED: "cancelled-outside",
    PREEMPTED: "cancelled-outside",
    NO_MEMORY: "out-of-memory",
    NO_TIME: "walltime",
    NO_NODE: "node-lost",
}
"""First words of `Described.why` of a failed cluster whose end has a reason of its own (see the endings in lifecycle)."""


class State(StrEnum):
    """Where a cluster stands. UNKNOWN means "I could not ask" and is never read as "it is over"."""

    ABSENT = "absent"
    PENDING = "pending"
    UP = "up"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Described:
    """One cluster as the other side tells it. `why` is a sentence for people, `eta` when it is expected to start, or did
    (aware, UTC)."""

    state: State
    why: str = ""
    eta: datetime | None = None


class TryAgain(Exception):
    """Not now: the other side is busy, away or too slow. The call may have worked; it may be repeated as it is."""


class NoCapacity(TryAgain):
    """Not now for want of free hardware. Nothing was made. Not counted as a failed attempt."""


class Refused(Exception):
    """Never: the same call will not work later either (too big, not allowed, misconfigured). Nothing was made."""


class Backend(ABC):
    """Something that has machines.

    Every method may be called from any thread and any process, also for the same token at the same time, and may be
    repeated after a crash at any point. Calls keep a timeout of their own. They raise TryAgain or Refused; anything
    else is a bug. A backend is made from settings alone: what must outlive the process is kept on the other side.
    """

    can_extend: bool = False
    no_longer: str = "This hardware can't give a running job more time."
    """Why `extend` can't, for people; of no account where it can."""
    sandbox: str = "own machines"
    """What keeps a command from the portal's machine: "own machines", "uid", "bwrap", "landlock" or "none"."""

    create_timeout: float = 60.0
    """Seconds after which a call of `create` is certainly over and nothing new can appear because of it."""

    silent_limit: float = 900.0
    """Seconds without a word from a node after which it is lost."""

    def __init__(self, name: str, **options: Any) -> None:
        """Must not call the other side: a portal starts while its cloud is away. Unknown options are Refused."""
        self.name = name
        for option in options:
            raise Refused(f"backend {name}: there is no option {option!r}")

    @abstractmethod
    def capacity(self) -> Mapping[str, Capacity]:
        """Cores free and in all, by coretype code; "" is one pool shared by all coretypes of this backend.

        Never raises for a side that does not answer: the figures are None then.
        """

    @abstractmethod
    def create(self, token: str, spec: Spec) -> None:
        """Ask for a cluster that carries the token; returns at once, long before it is up.

        Nothing happens if there is something with this token already, whatever condition it is in.
        NoCapacity: nothing free now. TryAgain: perhaps made, ask again. Refused: never, and nothing was made.
        """

    @abstractmethod
    def describe(self, tokens: Sequence[str]) -> Mapping[str, Described]:
        """Where these clusters stand, in one call for all; every token asked for is in the answer.

        May lag behind, never lies. Never raises for a side that does not answer: the state is UNKNOWN then.
        """

    @abstractmethod
    def destroy(self, token: str) -> bool:
        """Take away everything that carries the token; True once nothing is left, also when there never was anything.

        May be repeated, and is until True; does not wait longer than a few seconds. TryAgain: could not ask. A destroy
        counts only when it was called after `create` returned or after `create_timeout`.
        """

    @abstractmethod
    def tokens(self) -> Iterable[str]:
        """Every token that something over there carries, also of half made and half removed clusters.

        TryAgain where it could not be asked: an incomplete answer would be a lie.
        """

    def why_over(self, token: str) -> Described | None:
        """Why the other side ended it, asked once `destroy` is through: `eta` is when. None: it did not, or nobody knows."""
        return None

    def extend(self, token: str, until: datetime) -> None:
        """Let the cluster live until then (aware). Only where `can_extend`; Refused says why not."""
        raise Refused("this hardware cannot be kept longer than it was asked for")

    def says(self, scripts: Sequence[str], seconds: float, options: Mapping[str, Any]) -> Sequence[str]:
        """What scripts of the catalogue print, each within `seconds`, on a machine of the coretype with these options; optional.
        Refused where nobody can ask so, TryAgain where nobody can now.
        """
        raise Refused("which software this hardware has can't be asked")

    def about(self) -> str:
        """One line for the hardware page: what this is and how well it keeps users apart. Calls nobody."""
        return self.name


def cores_of(spec: Spec) -> str:
    """All of them: 1 core, 8 cores."""
    cores = spec.nodes * spec.cores
    return f"{cores} core{'' if cores == 1 else 's'}"


def reason_of(why: str) -> str:
    """The reason (a code of the lifecycle's endings) that a failed cluster's `why` names; "" if it is none of its own."""
    return next((reason for words, reason in CAUSES.items() if why.startswith(words)), "")


def get(name: str) -> Backend:
    """The backend of that name in settings.BACKENDS, made once a process. Refused if there is none."""
    entry = _configured().get(name)
    if entry is None:
        raise Refused(f"there is no backend {name!r} in the settings")
    with _lock:
        known = _made.get(name)
        if known is None or known[0] != entry:  # settings change in tests only
            known = _made[name] = (dict(entry), _make(name, entry))
        return known[1]


def names() -> list[str]:
    """The names of all backends in the settings."""
    return list(_configured())


_made: dict[str, tuple[Mapping[str, Any], Backend]] = {}
_lock = threading.Lock()


def _configured() -> Mapping[str, Mapping[str, Any]]:
    from django.conf import settings  # only here: the backends themselves need no Django

    configured: Mapping[str, Mapping[str, Any]] = settings.BACKENDS
    return configured


def _make(name: str, entry: Mapping[str, Any]) -> Backend:
    path, _, attribute = entry["BACKEND"].rpartition(".")
    try:
        made: Backend = getattr(import_module(path), attribute)(name, **entry.get("OPTIONS", {}))
    except (ImportError, AttributeError, TypeError) as error:
        raise Refused(f"backend {name}: {error}") from error
    return made

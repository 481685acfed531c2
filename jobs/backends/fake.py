"""A cloud that exists in memory, for development, tests and benchmarks, with every misbehaviour of a real one.

The one idea: it keeps the contract of base.py exactly, and `misbehave` makes it break what real clouds break. With the
option `folder` several processes see the same cloud. Nothing runs on its clusters: `on_up` lets a test play the agent.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from .base import Backend, Capacity, Described, NoCapacity, Refused, Spec, State, TryAgain, cores_of
from .fake_store import Cluster, Faults, Folder, Memory, Store

ERRORS = {"try again": TryAgain, "refused": Refused, "no capacity": NoCapacity}

_ENDLESS = 1_000_000_000  # cores
_ABSENT = Described(State.ABSENT)
_UP = Described(State.UP)
_UNKNOWN = Described(State.UNKNOWN, "the cloud does not answer")


class Fake(Backend):
    """Options: `cores` (the pool's size, None: endless), `pools` (cores by coretype instead of one pool), `boot`
    (seconds until up), `clock`, `folder` (shared by processes), `on_up`, and every fault of `misbehave`.

    `calls` holds what was called, oldest first, as (method, argument); of a shared cloud, by this process.
    """

    sandbox = "own machines"
    can_extend = True

    def __init__(
        self,
        name: str = "fake",
        *,
        cores: int | None = None,
        pools: Mapping[str, int] | None = None,
        folder: str | None = None,
        clock: Callable[[], float] = time.time,
        on_up: Callable[[str, Spec], None] | None = None,
        create_timeout: float = 5.0,
        silent_limit: float = 900.0,
        **faults: Any,
    ) -> None:
        super().__init__(name)
        self.pools: Mapping[str, int | None] = pools if pools is not None else {"": cores}
        self.clock, self.on_up = clock, on_up
        self.create_timeout, self.silent_limit = create_timeout, silent_limit
        self.calls: deque[tuple[str, Any]] = deque(maxlen=100_000)
        self._store: Store = Folder(folder) if folder else Memory()
        if faults:
            self.misbehave(**faults)

    # The contract

    def capacity(self) -> Mapping[str, Capacity]:
        self.calls.append(("capacity", None))
        with self._store as store:
            faults = store.faults
            if faults.down:
                return {pool: Capacity(None, None) for pool in self.pools}
            return {pool: self._free(pool, size, faults) for pool, size in self.pools.items()}

    def create(self, token: str, spec: Spec) -> None:
        self.calls.append(("create", token))
        with self._store as store:
            faults = store.faults
            self._must_answer(faults)
            error = self._error_of_create(token, spec)
            new = token not in store and (error is None or faults.accepted)
            if new:
                store.put(Cluster(token, spec, asked=self.clock(), ready=self.clock() + faults.boot))
        if new and error is None and faults.boot <= 0:
            self._tell([token])
        if error is not None:
            raise error

    def describe(self, tokens: Sequence[str]) -> Mapping[str, Described]:
        self.calls.append(("describe", tuple(tokens)))
        with self._store as store:
            faults = store.faults
            if faults.down or faults.unknown:
                store.faults = replace(faults, unknown=max(0, faults.unknown - 1))
                return dict.fromkeys(tokens, _UNKNOWN)
            now = self.clock() - faults.lag
            clusters = {token: store.get(token) for token in tokens}
            answer = {token: _describe(cluster, now, faults) for token, cluster in clusters.items()}
            booted = [t for t, c in clusters.items() if c and not c.told and answer[t].state is State.UP]
        self._tell(booted)
        return answer

    def destroy(self, token: str) -> bool:
        self.calls.append(("destroy", token))
        with self._store as store:
            self._must_answer(store.faults)
            cluster = store.get(token)
            if cluster is None:
                return True
            if cluster.destroys >= store.faults.destroys:
                store.remove(token)
                return True
            store.put(replace(cluster, destroys=cluster.destroys + 1))
            return False

    def tokens(self) -> Iterable[str]:
        self.calls.append(("tokens", None))
        with self._store as store:
            self._must_answer(store.faults)
            return store.tokens()

    def extend(self, token: str, until: datetime) -> None:
        self.calls.append(("extend", (token, until)))
        with self._store as store:
            self._must_answer(store.faults)
            if token not in store:
                raise Refused(f"there is no cluster {token}")

    def about(self) -> str:
        size = sum(size or 0 for size in self.pools.values())
        return f"{self.name}: {size or 'endless'} cores that do not exist, for tests"

    # What tests do to it

    def misbehave(self, **faults: Any) -> None:
        """Set faults (fields of `Faults`), leaving the others as they are; without any, behave again."""
        with self._store as store:
            store.faults = replace(store.faults, **faults) if faults else Faults()

    def vanish(self, token: str) -> None:
        """The cluster is gone and nobody was told."""
        with self._store as store:
            store.remove(token)

    def fail(self, token: str, why: str = "hardware error") -> None:
        """The cluster is broken, and says so."""
        with self._store as store:
            store.put(replace(store[token], failed=why))

    def plant(self, token: str, spec: Spec) -> None:
        """A cluster that nobody here asked for, as an unknown one after a restore from backup."""
        with self._store as store:
            store.put(Cluster(token, spec, asked=self.clock(), ready=self.clock(), told=True))

    def spec(self, token: str) -> Spec:
        """What was asked for, for a test that plays the agent."""
        with self._store as store:
            return store[token].spec

    # Private

    def _must_answer(self, faults: Faults) -> None:
        if faults.down:
            raise TryAgain("the cloud does not answer")

    def _free(self, pool: str, size: int | None, faults: Faults) -> Capacity:
        if faults.unsized:
            return Capacity(None, None, faults.queues_itself, faults.limit)
        total = _ENDLESS if size is None else size
        free = max(0, total - self._store.used(pool)) if faults.free is None else faults.free
        return Capacity(total, free, faults.queues_itself, faults.limit)

    def _error_of_create(self, token: str, spec: Spec) -> Exception | None:
        faults = self._store.faults
        if faults.create and faults.times != 0:
            self._store.faults = replace(faults, times=faults.times - 1)
            return ERRORS[faults.create](f"{faults.create}, as told to")
        pool = "" if "" in self.pools else spec.coretype
        if pool not in self.pools:
            return Refused(f"there is no hardware {spec.coretype!r} here")
        size, need = self.pools[pool], spec.nodes * spec.cores
        if size is None or token in self._store:
            return None
        if need > size:
            return Refused(f"{cores_of(spec)} asked for, {size} exist")
        free = self._free(pool, size, faults)
        if free.free is not None and need > free.free and not free.queues_itself:
            return NoCapacity(f"{cores_of(spec)} asked for, {free.free} free")
        return None

    def _tell(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            with self._store as store:
                cluster = store.get(token)
                if cluster is None or cluster.told:
                    continue
                store.put(replace(cluster, told=True))
            if self.on_up:
                self.on_up(token, cluster.spec)


def _describe(cluster: Cluster | None, now: float, faults: Faults) -> Described:
    if cluster is None or cluster.asked > now:  # a lagging list does not show it yet
        return _ABSENT
    if cluster.failed:
        return Described(State.FAILED, cluster.failed)
    if cluster.ready > now:
        return Described(State.PENDING, faults.why, datetime.fromtimestamp(cluster.ready, UTC))
    return Described(State.FAILED, faults.fails) if faults.fails else _UP

"""Kills a worker at a chosen point: before any write of the engine, before and after any act of a backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from jobs import backends

ACTS = ("create", "destroy")
BOOKKEEPING = ("jobs_turn", "jobs_poolstate", "jobs_installation")
"""Tables that say whose turn it is and what was seen: a death before such a write is one before a turn, or after it."""


class Death(BaseException):
    """Not an Exception, so that nothing in the engine can catch it: as SIGKILL would."""


class Reaper:
    """Counts the points and kills at one of them."""

    def __init__(self, at: int = -1) -> None:
        self.at, self.count, self.names = at, 0, []

    def points(self, start: int = 0) -> tuple[list[int], list[int]]:
        """From the `start`th on: those of writes that matter and of outside acts, and those of bookkeeping."""
        found: tuple[list[int], list[int]] = [], []
        for at in range(start, self.count):
            found[any(table in self.names[at] for table in BOOKKEEPING)].append(at)
        return found

    def point(self, name: str) -> None:
        self.names.append(name)
        self.count += 1
        if self.count - 1 == self.at:
            raise Death(name)

    def on_write(self, execute, sql, params, many, context):
        verb = sql.split(" ", 1)[0]
        if verb in {"INSERT", "UPDATE", "DELETE"}:
            self.point(" ".join(sql.split(" ")[:3]))
        return execute(sql, params, many, context)


@contextmanager
def reaping(reaper: Reaper, monkeypatch) -> Iterator[None]:
    fake = backends.get("fake")
    with monkeypatch.context() as patch, connection.execute_wrapper(reaper.on_write):
        for name in ACTS:
            patch.setattr(fake, name, _around(reaper, name, getattr(fake, name)))
        yield


def _around(reaper: Reaper, name: str, call):
    def wrapped(*args):
        reaper.point(f"before {name}")
        answer = call(*args)
        reaper.point(f"after {name}")
        return answer

    return wrapped


def tried(points: int, every: int = 1):
    """Which points a run dies at: `every` so many; on PostgreSQL a sixth of them, since SQLite has tried them all."""
    return range(0, points, every * (6 if connection.vendor == "postgresql" else 1))

"""Real processes for tests of races and deaths: children that begin together, and one that is killed between two writes.

One idea: the connections are closed before the fork, so that each child opens its own and none shares a socket or a file.
The database must be committed to: use them in tests with `transaction=True`.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable
from typing import Any

from django.db import connection, connections

FORK = multiprocessing.get_context("fork")
LONGEST = 120
"""Seconds after which a child is no longer waited for."""
WRITES = {"INSERT", "UPDATE", "DELETE"}


def together(count: int, call: Callable[[int], Any]) -> list[Any]:
    """`call(index)` in `count` processes that start together; what each returned, or its error."""
    gate, pipes = FORK.Barrier(count), [FORK.Pipe(duplex=False) for _ in range(count)]
    children = [_fork(_one, gate, call, index, pipes[index][1]) for index in range(count)]
    results = [pickle.loads(receiver.recv_bytes()) if receiver.poll(LONGEST) else TimeoutError(index) for index, (receiver, _) in enumerate(pipes)]  # noqa: S301
    for child in children:
        child.join(LONGEST)
    return results


def killed_at_write(number: int, call: Callable[[], Any]) -> bool:
    """`call()` in a process that kills itself before its write of this number, from 0. False if it made no so many writes."""
    child = _fork(_dying, number, call)
    child.join(LONGEST)
    assert child.exitcode in (0, -signal.SIGKILL), child.exitcode
    return child.exitcode == -signal.SIGKILL


def _fork(target: Callable[..., None], *given: Any) -> Any:
    connections.close_all()
    child = FORK.Process(target=target, args=given)
    child.start()
    return child


def _one(gate: Any, call: Callable[[int], Any], index: int, sender: Any) -> None:
    gate.wait(LONGEST)
    try:
        answer = call(index)
    except Exception as error:
        answer = error
    try:
        told = pickle.dumps(answer)
    except Exception:
        told = pickle.dumps(RuntimeError(repr(answer)))
    connections.close_all()
    sender.send_bytes(told)


def _dying(number: int, call: Callable[[], Any]) -> None:
    writes = 0

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal writes
        if sql.split(" ", 1)[0] in WRITES:
            if writes == number:
                os.kill(os.getpid(), signal.SIGKILL)
            writes += 1
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        call()

"""Performs the acts of a batch outside any transaction, with the lease kept alive meanwhile.

An act gets all facts of the batch that want it and answers with a step for each, so that it can ask the database once for
all; what goes to the outside world goes through `side_by_side`, whose threads never touch the database.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import connections
from django.utils import timezone

from .models import Workload
from .stages.base import Act, Facts, Step, flag

log = logging.getLogger(__name__)

LEASE = 45.0
"""Seconds that a turn owns its rows; renewed while it acts."""
RENEW = 10.0
AT_ONCE = 8
"""Threads that speak with the outside world for one batch."""
T = TypeVar("T")


def perform(steps: Sequence[Step], now: datetime, lease: str) -> list[Step]:
    """The steps with every act done and replaced by its answer, until none wants an act any more."""
    if not any(step.act for step in steps):
        return list(steps)
    done = [step for step in steps if step.act is None]
    with kept_alive(lease):
        wanting = [step for step in steps if step.act is not None]
        while wanting:
            answers = [answer for act, facts in _grouped(wanting) for answer in _guarded(act, facts, now)]
            done += [step for step in answers if step.act is None]
            wanting = [step for step in answers if step.act is not None]
    return done


def _grouped(steps: Sequence[Step]) -> list[tuple[Act, list[Facts]]]:
    groups: dict[Act, list[Facts]] = {}
    for step in steps:
        groups.setdefault(step.act, []).append(step.facts)  # type: ignore[arg-type]
    return list(groups.items())


def _guarded(act: Act, facts: list[Facts], now: datetime) -> list[Step]:
    """A bug in one row must not stop the others: the batch is redone row by row, the bad one is flagged."""
    try:
        return act(facts, now)
    except Exception as error:
        log.exception("%s failed for %s", act.__qualname__, [one.work.public_id for one in facts][:5])
        if len(facts) == 1:
            return [flag(facts[0], error)]
        return [step for one in facts for step in _guarded(act, [one], now)]


def side_by_side(call: Callable[[T], Any], items: Sequence[T]) -> list[Any]:
    """`call` of every item, several at once; what it raises takes the place of its answer."""
    answers: list[Any] = [None] * len(items)
    left = iter(range(len(items)))  # shared: each thread takes the next one, so that quick calls cost no handing over

    def go_on() -> None:
        for at in left:
            try:
                answers[at] = call(items[at])
            except Exception as error:
                answers[at] = error

    threads = min(AT_ONCE, len(items))
    if threads <= 1:
        go_on()
        return answers
    with ThreadPoolExecutor(threads, thread_name_prefix="act") as pool:
        for done in [pool.submit(go_on) for _ in range(threads)]:
            done.result()
    return answers


@contextmanager
def kept_alive(lease: str) -> Iterator[None]:
    """Renew the lease every RENEW seconds until the block ends; a quick block costs no query."""
    over = threading.Event()
    thread = threading.Thread(target=_renew, args=(lease, over), daemon=True, name="lease")
    thread.start()
    try:
        yield
    finally:
        over.set()


def _renew(lease: str, over: threading.Event) -> None:
    try:
        while not over.wait(RENEW):
            Workload.objects.filter(lease=lease).update(leased_until=timezone.now() + timedelta(seconds=LEASE))
    finally:
        connections.close_all()

"""Performs the acts of a batch: outside any transaction, several at once, with the lease kept alive meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import close_old_connections, connections
from django.utils import timezone

from .models import Workload
from .stages.base import Step, wait

log = logging.getLogger(__name__)

RENEW = 10.0
PAUSE_AFTER_BUG = 60.0


def perform(steps: Sequence[Step], now: datetime, lease: str) -> list[Step]:
    """The steps with every act done and replaced by its answer. An act that fails is a bug: pushed ahead and flagged."""
    if not any(step.act for step in steps):
        return list(steps)
    acting = sum(step.act is not None for step in steps)
    threads = min(getattr(settings, "HEADRACE_ACTS_AT_ONCE", 8), acting)
    with _kept_alive(lease):
        if threads <= 1:
            return [_do(step, now) for step in steps]
        with ThreadPoolExecutor(threads, thread_name_prefix="act", initializer=close_old_connections) as pool:
            return list(pool.map(lambda step: _do_in_thread(step, now), steps))


def _do(step: Step, now: datetime) -> Step:
    while step.act is not None:
        try:
            step = step.act(step.facts, now)
        except Exception as error:
            log.exception("acting for %s failed", step.work.public_id)
            failed = wait(step.facts, PAUSE_AFTER_BUG)
            failed.fields = {"flagged": f"{type(error).__name__}: {error}"[:2000]}
            return failed
    return step


def _do_in_thread(step: Step, now: datetime) -> Step:
    if step.act is None:
        return step
    try:
        return _do(step, now)
    finally:
        connections.close_all()


@contextmanager
def _kept_alive(lease: str) -> Iterator[None]:
    """Renew the lease every RENEW seconds until the block ends; a quick block costs no query."""
    over = threading.Event()
    thread = threading.Thread(target=_renew, args=(lease, over), daemon=True, name="lease")
    thread.start()
    try:
        yield
    finally:
        over.set()


def _renew(lease: str, over: threading.Event) -> None:
    from .engine import LEASE

    try:
        while not over.wait(RENEW):
            until = timezone.now() + timedelta(seconds=LEASE)
            Workload.objects.filter(lease=lease).update(leased_until=until)
    finally:
        connections.close_all()

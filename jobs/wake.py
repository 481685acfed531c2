"""Wakes the workers: a receiver of `changed` that sends an expiring hint. The only importer of tasks.

One idea: a lost hint costs one sweep and a doubled one a query, so a dead broker is no reason to fail or to slow a
click. After a failure the breaker keeps everybody in this process away from the broker for a few seconds.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from django.conf import settings
from django.dispatch import receiver

from . import lifecycle
from .signals import changed

log = logging.getLogger(__name__)

LOOKED_AT = {*lifecycle.ACTIVE_CODES, lifecycle.SUSPENDED}
"""Statuses that the engine looks after, each a queue of its own; the others need no hint."""
KINDS = tuple(f"{kind}:" for kind in lifecycle.TABLES)
EXPIRES = 30.0
"""Seconds after which a hint is worthless: the sweep has been there."""
AWAY = 5.0
"""Seconds without a try after a failure."""
ONCE_MORE = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
"""A connection that died while it lay in the pool shows only when it is used; the second try opens a new one."""


class Breaker:
    """Open for `AWAY` seconds after a failure."""

    def __init__(self) -> None:
        self._until = 0.0

    def is_open(self) -> bool:
        return time.monotonic() < self._until

    def trip(self) -> None:
        self._until = time.monotonic() + AWAY

    def reset(self) -> None:
        self._until = 0.0


breaker = Breaker()


@receiver(changed, dispatch_uid="jobs.wake")
def wake(topic: str, facts: dict[str, Any], **kwargs: Any) -> None:
    """Hint at the queue of the workload that has changed, if the engine should look at it now."""
    queue = str(facts.get("status", ""))
    if queue in LOOKED_AT and facts.get("due") and topic.startswith(KINDS):
        hint(queue)


def hint(queue: str) -> bool:
    """Tell the workers to take a turn of `queue`; False if nothing was sent (one is on its way, or no broker)."""
    if not settings.REDIS_URL or breaker.is_open():
        return False
    try:
        return _send(queue)
    except Exception as error:  # noqa: BLE001  (whatever a broker may raise)
        breaker.trip()
        log.warning("no hint for %s, the sweep will find it: %s", queue, error)
        return False


def _send(queue: str) -> bool:
    from . import hints, tasks

    if not hints.reserve(queue):
        return False
    tasks.turn.apply_async((queue,), expires=EXPIRES, ignore_result=True, retry=True, retry_policy=ONCE_MORE)
    return True

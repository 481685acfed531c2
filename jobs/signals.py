"""The one thing the domain announces: `changed`, after commit.

Receivers (the hub of the web processes, the wake-up of workers) must never raise and never block: a dead broker or a dead
channel layer must not fail a click. `announce` enforces the first half by sending robustly.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction
from django.dispatch import Signal

log = logging.getLogger(__name__)

changed = Signal()
"""Sent with `topic` ("job:aBcDeF", "log:aBcDeF", "orders:TOKEN", "hardware", "budget:3") and `facts`: positions, never data."""


def announce(topic: str, **facts: object) -> None:
    """Tell everybody, once the running transaction is committed, that `topic` has moved on."""
    announce_all([(topic, facts)])


def announce_all(news: Iterable[tuple[str, dict[str, object]]]) -> None:
    """As `announce`, of many at once."""
    told = list(news)
    transaction.on_commit(lambda: [_send(topic, facts) for topic, facts in told], robust=True)


def _send(topic: str, facts: dict[str, object]) -> None:
    for receiver, answer in changed.send_robust(sender=None, topic=topic, facts=facts):
        if isinstance(answer, Exception):
            log.warning("a receiver of %s failed: %r in %r", topic, answer, receiver)

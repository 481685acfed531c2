"""At most one hint a queue is on its way: a key in Redis, set by who sends, deleted by who takes a turn.

One idea: the key goes before the turn reads the database. So whoever changes a row later finds no key and sends again,
and whoever changed it earlier is seen by the turn. A hint that gets lost blocks the next ones for LOST_AFTER only.
"""

from __future__ import annotations

from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

LOST_AFTER = 1.0
"""Seconds after which a hint that nobody took counts as lost."""
PATIENCE = 0.5
"""Seconds that each of two tries may lose to a Redis that does not answer."""


def reserve(queue: str) -> bool:
    """True if no hint for `queue` is on its way; the caller then sends one. Raises redis.RedisError."""
    return bool(_client().set(_key(queue), 1, nx=True, px=int(LOST_AFTER * 1000)))


def taken(queue: str) -> None:
    """A turn of `queue` begins. Raises redis.RedisError."""
    _client().delete(_key(queue))


def _key(queue: str) -> str:
    return f"headrace:hint:{queue}"


@cache
def _client() -> redis.Redis:
    once_more = Retry(NoBackoff(), 1)  # a connection that died in the pool shows when it is used
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=once_more)

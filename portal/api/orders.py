"""What an agent is told with every answer: its orders, and who watches what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.utils import timezone

from jobs import gateway, logs
from jobs.gateway import Caller

from .threads import in_database


async def with_orders(caller: Caller) -> dict[str, Any]:
    return {"orders": await in_database(orders_of, caller)}


def orders_of(caller: Caller) -> dict[str, Any]:
    """The gateway's orders, with who watches; the version grows with either."""
    orders = gateway.orders(caller, timezone.now())
    directory = directory_of(caller)
    watched = logs.watched(directory)
    orders["version"] = (orders["version"] << 32) + logs.watch_mark(directory)
    orders["watched"] = bool(watched)
    orders["tails"] = [name.removeprefix("file:") for name in watched if name.startswith("file:")]
    return orders


def directory_of(caller: Caller) -> Path:
    """Where the logs of its attempt lie."""
    return logs.attempt_dir(caller.public_id, caller.attempt)

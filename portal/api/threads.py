"""Where reports of agents wait: threads for the database and for files, so that the event loop never does. And how one is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections, connections

_database = ThreadPoolExecutor(8, thread_name_prefix="nodes-db")
_bytes = ThreadPoolExecutor(4, thread_name_prefix="nodes-bytes")


class Refuse(Exception):
    """Answer with this status and body."""

    def __init__(self, status: int, body: Mapping[str, Any] | None = None) -> None:
        super().__init__(status)
        self.status, self.body = status, dict(body or {})


async def in_database(call: Callable[..., Any], *args: Any) -> Any:
    """Run a call that uses the database in a thread of its own pool."""
    return await asyncio.get_running_loop().run_in_executor(_database, _with_connection, call, args)


async def in_files(call: Callable[..., Any], *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_bytes, call, *args)


def _with_connection(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    close_old_connections()
    try:
        return call(*args)
    except Exception:
        connections["default"].close_if_unusable_or_obsolete()
        raise

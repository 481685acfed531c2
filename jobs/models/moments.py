"""Moments are read from PostgreSQL by the driver's own code.

One idea: Django puts a function in Python between the driver and each value, to set its time zone; over ten thousand rows that
takes longer than all else that is read. Our sessions are in UTC, so what the driver makes is what Django would make of it.
"""

from __future__ import annotations

from datetime import UTC
from functools import cache
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


def read_fast(connection: BaseDatabaseWrapper, **said: Any) -> None:
    """For a connection that was just made. One with a time zone of its own is left as Django has it."""
    if connection.vendor == "postgresql" and connection.timezone is UTC:
        connection.connection.adapters.register_loader("timestamptz", _loader())


connection_created.connect(read_fast, dispatch_uid="jobs.moments")


# --- private ----------------------------------------------------------------------------------------------------------
@cache
def _loader() -> Any:
    from psycopg import adapters, pq

    drivers: Any = adapters.get_loader(adapters.types["timestamptz"].oid, pq.Format.TEXT)

    class InUtc:
        """The driver's loader; it can't be a base class. Django compares `timezone` with that of the connection."""

        timezone, format = UTC, pq.Format.TEXT

        def __new__(cls, oid: int, context: Any = None) -> Any:
            return drivers(oid, context)

    return InUtc

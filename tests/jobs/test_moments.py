"""What PostgreSQL says of a moment, read by the driver: the same that Django would read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection
from django.db.backends.postgresql.psycopg_any import register_tzloader

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(connection.vendor != "postgresql", reason="on PostgreSQL alone: SQLite has no moments of its own")]

MOMENTS = [
    datetime(2026, 3, 29, 1, 59, 59, 999_999, tzinfo=UTC),
    datetime(1901, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=45))),
]


def read(django: bool = False):
    with connection.cursor() as cursor:
        if django:
            register_tzloader(UTC, cursor.cursor)
        cursor.execute("SELECT moment FROM unnest(%s::timestamptz[]) AS moment UNION ALL SELECT NULL", [MOMENTS])
        return [moment for (moment,) in cursor.fetchall()]


def test_moments_are_what_django_reads_them_as():
    found = read()
    assert found == read(django=True) == [*MOMENTS, None]
    assert all(moment.tzinfo is UTC for moment in found if moment)


def test_no_python_is_called_for_each_of_them():
    from psycopg import adapters, pq

    oid = adapters.types["timestamptz"].oid
    ours = connection.connection.adapters.get_loader(oid, pq.Format.TEXT)
    assert type(ours(oid, connection.connection)) is adapters.get_loader(oid, pq.Format.TEXT)

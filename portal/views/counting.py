"""How many rows a list has, without counting a million of them.

One idea: a count is worth PATIENCE and no more. Up to EXACT it is exact; beyond, or where counting would take longer, it is
what the database's planner expects, and says so.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet

from portal import words

EXACT = 10_000
PATIENCE = 20
"""Milliseconds, where the database can be told so."""


def counted(found: QuerySet[Any]) -> str:
    """"3,412", "about 120,000", "over 10,000"."""
    exact = _exactly(found)
    if exact is not None and exact <= EXACT:
        return words.count(exact)
    if connection.vendor == "postgresql":
        return f"about {words.count(_expected(found))}"
    return f"over {words.count(EXACT)}"


def _exactly(found: QuerySet[Any]) -> int | None:
    """Up to one more than EXACT; None if it took too long."""
    rows = found.order_by().values("pk")[: EXACT + 1]
    if connection.vendor != "postgresql":
        return rows.count()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(PATIENCE)])
            counted = rows.count()
            cursor.execute("SELECT set_config('statement_timeout', '0', true)")
            return counted
    except OperationalError:
        return None


def _expected(found: QuerySet[Any]) -> int:
    plan = found.order_by().values("pk").explain(format="json")
    return int(json.loads(plan)[0]["Plan"]["Plan Rows"])

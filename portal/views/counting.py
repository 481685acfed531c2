"""How many rows a list has, without counting a million of them.

One idea: a count is worth PATIENCE and no more. Up to EXACT it is exact; beyond, or where counting would take longer, it is
what the database's planner expects, and says so. The planner is asked first: counting in vain costs as much as the whole page.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet

from portal import words

from .paging import Page

EXACT = 10_000
PATIENCE = 20
"""Milliseconds, where the database can be told so."""
DEAR = 10_000
"""What the planner says of a scan that takes longer than PATIENCE, in its own unit."""


def counted(found: QuerySet[Any], page: Page[Any] | None = None) -> str:
    """"3,412", "about 120,000", "over 10,000". `page` is the one that is shown of it."""
    if page and page.whole:
        return words.count(len(page.rows))
    if connection.vendor != "postgresql":
        return up_to_exact(found)
    plan = _plan(found)
    if plan["Plan Rows"] <= 2 * EXACT and plan["Total Cost"] <= DEAR and (exact := _in_time(found)) is not None:
        return _told(exact)
    return f"about {words.count(plan['Plan Rows'])}"


def up_to_exact(found: QuerySet[Any]) -> str:
    """"3,412", "over 10,000": for lists that are short for nearly everybody, without a look at what the planner expects."""
    return _told(_up_to_limit(found))


def _told(count: int) -> str:
    return words.count(count) if count <= EXACT else f"over {words.count(EXACT)}"


def _up_to_limit(found: QuerySet[Any]) -> int:
    return found.order_by().values("pk")[: EXACT + 1].count()


def _in_time(found: QuerySet[Any]) -> int | None:
    """Up to one more than EXACT; None if it took too long."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(PATIENCE)])
            counted = _up_to_limit(found)
            cursor.execute("SELECT set_config('statement_timeout', '0', true)")
            return counted
    except OperationalError:
        return None


def _plan(found: QuerySet[Any]) -> dict[str, Any]:
    """What the planner expects of reading all of it; it is not asked about what can have no row."""
    told = found.order_by().values("pk").explain(format="json")
    plan: dict[str, Any] = json.loads(told)[0]["Plan"] if told else {"Plan Rows": 0, "Total Cost": 0}
    return plan

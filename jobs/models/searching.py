"""Finding workloads by a part of their name among millions of them.

One idea: PostgreSQL keeps every piece of two and three letters of each name in an index of its own (table headrace_names,
written by triggers, see the migrations), with owner and project beside them. What few names have is found there, as ids.
What thousands have is not: among so many the newest are found by looking at the newest. No extension is needed. Other
databases look at each name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

FEW = 5_000
"""Names up to which the index tells which; what more have is common."""
EXPECTED = 20_000
"""Where the planner expects so many, the index is not even asked."""
ENOUGH = 6
"""Pieces of a text whose numbers are asked for."""
SHORTEST = 2
"""Letters; a single one says nothing."""
TOKENS = "headrace_tokens(name, owner_id, project_id)"


def ids_of_names_like(text: str, owner: int | None = None, projects: Sequence[int] = ()) -> list[int] | None:
    """Ids of the workloads with `text` in their name, in any case; None where only looking at each tells.

    With an owner only among their own and those of these projects.
    """
    if connection.vendor != "postgresql" or len(text) < SHORTEST:
        return None
    size = min(len(text), 3)
    where, given = f"{TOKENS} @> headrace_pieces(%s, %s)", [text, size]
    if owner is not None:
        where += f" AND {TOKENS} && %s"
        given.append([f"owner:{owner}", *(f"project:{project}" for project in projects)])
    elif _expected(text, size) > EXPECTED:
        return None
    sql = f"SELECT workload_id FROM headrace_names WHERE {where} AND upper(name) LIKE upper(%s) LIMIT {FEW + 1}"  # noqa: S608
    found = [pk for (pk,) in _rows(sql, [*given, f"%{_plain(text)}%"])]
    return found if len(found) <= FEW else None


def _expected(text: str, size: int) -> int:
    """Names that have the rarest of its pieces, as the planner guesses; all pieces together it would take for independent."""
    ((pieces,),) = _rows("SELECT headrace_pieces(%s, %s)", [text, size])
    return min(_expected_of(piece) for piece in pieces[:ENOUGH])


def _expected_of(piece: str) -> int:
    ((plan,),) = _rows(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM headrace_names WHERE {TOKENS} @> ARRAY[%s]", [piece])  # noqa: S608
    return int(plan[0]["Plan"]["Plan Rows"])


def _rows(sql: str, given: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall())


def _plain(text: str) -> str:
    r"""Without a meaning of % and _ and \ in LIKE."""
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")

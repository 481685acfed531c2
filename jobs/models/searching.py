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
EXPECTED = 10_000
"""A piece of which the planner expects more is not looked up: to go through so many takes longer than to look at the newest."""
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
    among, theirs = "", []
    if owner is not None:
        among, theirs = f" AND {TOKENS} && %s", [[f"owner:{owner}", *(f"project:{project}" for project in projects)]]
    rare = [piece for piece in _pieces(text, size) if _expected(piece, among, theirs) <= EXPECTED]
    if not rare:
        return None
    where = f"{TOKENS} @> %s{among} AND upper(name) LIKE upper(%s)"
    sql = f"SELECT workload_id FROM headrace_names WHERE {where} LIMIT {FEW + 1}"  # noqa: S608
    found = [pk for (pk,) in _rows(sql, [rare, *theirs, f"%{_plain(text)}%"])]
    return found if len(found) <= FEW else None


def _pieces(text: str, size: int) -> list[str]:
    ((pieces,),) = _rows("SELECT headrace_pieces(%s, %s)", [text, size])
    return list(pieces[:ENOUGH])


def _expected(piece: str, among: str, theirs: list[Any]) -> int:
    """Names that have this piece, as the planner guesses; all pieces together it would take for independent."""
    sql = f"EXPLAIN (FORMAT JSON) SELECT 1 FROM headrace_names WHERE {TOKENS} @> ARRAY[%s]{among}"  # noqa: S608
    ((plan,),) = _rows(sql, [piece, *theirs])
    return int(plan[0]["Plan"]["Plan Rows"])


def _rows(sql: str, given: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall())


def _plain(text: str) -> str:
    r"""Without a meaning of % and _ and \ in LIKE."""
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")

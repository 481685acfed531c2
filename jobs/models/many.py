"""Many rows by few statements and few values.

One idea: what a burst costs is not the rows but each value on its way to the database. So ids go as one value, new rows as one
JSON value (on PostgreSQL, which makes rows of it by itself), and rows that get the same values share one UPDATE.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection, models

from .fields import MoneyField

M = TypeVar("M", bound=models.Model)


@models.BigAutoField.register_lookup
@models.ForeignKey.register_lookup
class AnyOf(models.Lookup):
    """`pk__any_of=ids`: as `in`, with all of them as one value, and no limit to how many. Integers only."""

    lookup_name = "any_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        if not self.rhs:
            raise EmptyResultSet
        left, given = self.process_lhs(compiler, connection)
        numbers = ",".join(map(str, self.rhs))
        if connection.vendor == "postgresql":
            return f"{left} = ANY(%s::bigint[])", [*given, f"{{{numbers}}}"]
        return f"{left} IN (SELECT value FROM json_each(%s))", [*given, f"[{numbers}]"]


def insert(rows: Sequence[M]) -> list[M]:
    """New rows of one table, with their keys afterwards."""
    if not rows:
        return []
    table = type(rows[0])
    if connection.vendor != "postgresql":
        return table._base_manager.bulk_create(rows)
    columns, values_of, ready = _shape(table)
    given = [dict(zip(columns, values_of(row), strict=True)) for row in rows]
    for row in given:
        for column, prepared in ready:
            row[column] = prepared(row[column])
    for row, pk in zip(rows, _populate(table, given), strict=True):
        row.pk, row._state.adding, row._state.db = pk, False, connection.alias
    return list(rows)


def insert_values(table: type[models.Model], rows: Sequence[dict[str, Any]]) -> list[int]:
    """New rows of a table without money, each given by all its columns but the key; their keys. No models are made of them."""
    if not rows:
        return []
    if connection.vendor != "postgresql":
        return [row.pk for row in table._base_manager.bulk_create([table(**row) for row in rows])]
    return _populate(table, rows)


def update_alike(rows: Sequence[Any], fields: Sequence[str], table: type[models.Model] | None = None, counted: str = "") -> None:
    """Write these fields of these rows as they are in memory, each different set of values once, on PostgreSQL in one statement.

    `table`: whose rows they are, if they are plain values and not models. `counted`: a column that goes up by one in each.
    """
    if not rows:
        return
    table = table or type(rows[0])
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        groups.setdefault(tuple(_hashable(getattr(row, field)) for field in fields), []).append(row)
    alike = [({field: getattr(group[0], field) for field in fields}, [row.pk for row in group]) for group in groups.values()]
    if len(alike) > 1 and connection.vendor == "postgresql":
        _update_in_one(table, alike, counted)
        return
    also = {counted: models.F(counted) + 1} if counted else {}
    for values, ids in alike:
        table._base_manager.filter(pk__any_of=ids).update(**values, **also)


# --- private ----------------------------------------------------------------------------------------------------------
def _populate(table: type[models.Model], rows: Sequence[dict[str, Any]]) -> list[int]:
    """Rows with the same columns each, in their order; their keys."""
    names = ", ".join(f'"{column}"' for column in rows[0])
    name = table._meta.db_table
    sql = f'INSERT INTO "{name}" ({names}) SELECT {names} FROM json_populate_recordset(NULL::"{name}", %s) RETURNING id'  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps(rows, default=_plain)])
        return [pk for (pk,) in cursor.fetchall()]


def _update_in_one(table: type[models.Model], alike: Sequence[tuple[dict[str, Any], list[int]]], counted: str) -> None:
    """Sets of values, each for the rows with these ids."""
    fields = {name: table._meta.get_field(name) for name in alike[0][0]}
    given = [{"ids": ids, **{fields[name].column: _stored(fields[name], value) for name, value in values.items()}} for values, ids in alike]
    name, columns = table._meta.db_table, [one.column for one in fields.values()]
    types = ", ".join(f'"{one.column}" {one.db_type(connection)}' for one in fields.values())
    told = [f'"{column}" = told."{column}"' for column in columns] + [f'"{counted}" = "{name}"."{counted}" + 1'] * bool(counted)
    sql = f"""UPDATE "{name}" SET {", ".join(told)}
              FROM (SELECT unnest(ids) AS row_id, alike.* FROM json_to_recordset(%s) AS alike(ids bigint[], {types})) AS told
              WHERE "{name}"."{table._meta.pk.column}" = told.row_id"""  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps(given, default=_plain)])


def _stored(field: Any, value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, models.Model):
        return value.pk
    return field.get_prep_value(value) if isinstance(field, MoneyField) else value


@cache
def _shape(table: type[models.Model]) -> tuple[list[str], Callable[[Any], tuple[Any, ...]], list[tuple[str, Callable[[Any], Any]]]]:
    """Columns of a new row, how its values are got, and those that are stored otherwise than they are in Python."""
    fields = [field for field in table._meta.concrete_fields if not field.primary_key]
    ready = [(field.column, field.get_prep_value) for field in fields if isinstance(field, MoneyField)]
    return [field.column for field in fields], attrgetter(*(field.attname for field in fields)), ready


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} is nothing for a new row")


def _hashable(value: Any) -> Any:
    if isinstance(value, (dict, list)):  # noqa: UP038  (many of them: a union would be made for each)
        return json.dumps(value, sort_keys=True)
    return value.pk if isinstance(value, models.Model) else value

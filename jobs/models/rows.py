"""Makes models out of plain rows, for hundreds or ten thousand of them at once.

One idea: what engine and queue go through are real models, only made without Model.__init__, which takes longer than the
database. A column that was not asked for is fetched when somebody looks at it, as after defer().
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.db.models.base import ModelState

M = TypeVar("M", bound=Model)


def columns(model: type[Model], *but: str) -> list[str]:
    """Names of its columns, without these fields."""
    return [field.attname for field in model._meta.concrete_fields if field.name not in but]


def made(found: QuerySet[M], names: Sequence[str], **known: Mapping[int, Model]) -> list[M]:
    """The rows of `found` with these columns; the foreign keys named are at hand in each, out of what is `known` by id."""
    with no_garbage():
        rows = [_row(found.model, dict(zip(names, values, strict=True)), found.db) for values in found.values_list(*names)]
        for name, objects in known.items():
            key = f"{name}_id"
            for row in rows:
                row._state.fields_cache[name] = objects[row.__dict__[key]]
    return rows


class Prepared(Generic[M]):
    """A query for rows and what they lead to, put together once: for a few dozen rows that takes longer than the database.

    `related`: columns by the way there, the key first, shorter ways before longer ones. Each is at hand in the row that leads to it.
    """

    def __init__(self, model: type[M], names: Sequence[str], **related: Sequence[str]) -> None:
        self._parts = [("", "", model, names), *((*_last_step(way), _end(model, way), theirs) for way, theirs in related.items())]
        asked = [f"{before}__{name}__{column}".lstrip("_") for before, name, _, theirs in self._parts for column in theirs]
        self._found = model._default_manager.values_list(*asked)

    def __call__(self, *order: str, **where: Any) -> list[M]:
        found = self._found.filter(**where).order_by(*order)
        return [_tree(self._parts, iter(values), found.db) for values in found]


def at_hand(row: Model, **related: Model) -> None:
    """Its related rows, which need no query then."""
    row._state.fields_cache.update(related)


def _row(model: type[M], values: dict[str, object], database: str) -> M:
    row = model.__new__(model)
    state = ModelState()
    state.adding, state.db, state.fields_cache = False, database, {}
    values["_state"] = state
    row.__dict__ = values
    return row


def _last_step(way: str) -> tuple[str, str]:
    """Where the last step of the way starts, and its name."""
    before, _, name = way.rpartition("__")
    return before, name


def _end(model: type[Model], way: str) -> type[Model]:
    for name in way.split("__"):
        model = model._meta.get_field(name).related_model
    return model


def _tree(parts: Sequence[tuple[str, str, type[Model], Sequence[str]]], values: Iterator[object], database: str) -> Any:
    """The first row, with the others in it."""
    rows: dict[str, Model | None] = {}
    for before, name, model, columns in parts:
        told = {column: next(values) for column in columns}
        row = _row(model, told, database) if told[columns[0]] is not None else None
        rows[f"{before}__{name}".lstrip("_")] = row
        if name and (parent := rows[before]):
            at_hand(parent, **{name: row})
    return rows[""]


@contextmanager
def no_garbage() -> Iterator[None]:
    """Everything that is made in here is kept; to look for garbage among it meanwhile takes as long again."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()

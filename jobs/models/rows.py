"""Makes models out of plain rows, for hundreds or ten thousand of them at once.

One idea: what engine and queue go through are real models, only made without Model.__init__, which takes longer than the
database. A column that was not asked for is fetched when somebody looks at it, as after defer().
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

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

"""Makes models out of plain rows, for ten thousand of them at once.

One idea: what the queue goes through are real workloads, only made without Model.__init__, which takes longer than the
database. A column that was not asked for is fetched when somebody looks at it, as after defer().
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.db.models.base import ModelState

M = TypeVar("M", bound=Model)


def columns(model: type[Model], *but: str) -> list[str]:
    """Names of its columns, without these fields."""
    return [field.attname for field in model._meta.concrete_fields if field.name not in but]


def made(found: QuerySet[M], names: Sequence[str], cached: str, known: Mapping[int, Model]) -> list[M]:
    """The rows of `found` with these columns; the foreign key `cached` is at hand in each, out of `known`."""
    with _no_garbage():
        return [_row(found.model, dict(zip(names, values, strict=True)), cached, known, found.db) for values in found.values_list(*names)]


def _row(model: type[M], values: dict[str, Any], cached: str, known: Mapping[int, Model], database: str) -> M:
    row = model.__new__(model)
    state = ModelState()
    state.adding, state.db, state.fields_cache = False, database, {cached: known[values[f"{cached}_id"]]}
    values["_state"] = state
    row.__dict__ = values
    return row


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Everything that is made in here is kept; to look for garbage among it meanwhile takes as long again."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()

"""Many rows, few statements: rows that get the same values share one UPDATE."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db import models


def update_alike(rows: Sequence[models.Model], fields: Sequence[str]) -> None:
    """Write these fields of these rows as they are in memory; one statement for each different set of values."""
    groups: dict[tuple[Any, ...], list[models.Model]] = {}
    for row in rows:
        groups.setdefault(tuple(_hashable(getattr(row, field)) for field in fields), []).append(row)
    for group in groups.values():
        values = {field: getattr(group[0], field) for field in fields}
        type(group[0])._base_manager.filter(pk__in=[row.pk for row in group]).update(**values)


def _hashable(value: Any) -> Any:
    if isinstance(value, models.Model):
        return value.pk
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value

"""Rows that are added and read, never changed and never deleted: charges and what the audit log keeps.

One idea: Python refuses it for one row and for many. On PostgreSQL the database refuses it as well (a trigger, see the
migrations); SQLite would lose its triggers with the next change of the table.
"""

from __future__ import annotations

from typing import Any

from django.db import models


class AppendOnlyQuerySet(models.QuerySet[Any]):
    def update(self, **kwargs: Any) -> int:
        raise TypeError(self.model.APPEND_ONLY)

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError(self.model.APPEND_ONLY)

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        raise TypeError(self.model.APPEND_ONLY)


class AppendOnly(models.Model):
    APPEND_ONLY = "this is append-only"
    """What is said to who tries."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk:
            raise TypeError(self.APPEND_ONLY)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise TypeError(self.APPEND_ONLY)

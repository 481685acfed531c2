"""What was used, by day: the charges added up for the charts, so that a million of them are a few thousand rows.

One idea: a row is a sum and its key says of what. The database adds to it in the transaction that books the charges, so
the sums are never behind and never ahead of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import connection, models
from django.utils import timezone

from .fields import MoneyField, micros

USED = ("use", "disk")
"""Kinds of the charges that count: limits, periods and adjustments are not spend."""
AT_ONCE = 100
"""Rows a statement; SQLite takes so many parameters."""


class Spend(models.Model):
    """What one person used on one day of one budget (None: the installation's account), by project, coretype and software.

    `day` is one in the portal's time zone, as that was when the charge was booked.
    """

    key = models.CharField(max_length=220, unique=True)
    day = models.DateField()
    budget = models.ForeignKey("jobs.Budget", models.CASCADE, null=True, related_name="+", db_index=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    project = models.ForeignKey("jobs.Project", models.SET_NULL, null=True, related_name="+")
    coretype = models.ForeignKey("jobs.Coretype", models.SET_NULL, null=True, related_name="+")
    software = models.CharField(max_length=120, blank=True)
    amount = MoneyField()

    class Meta:
        indexes = [models.Index(fields=["budget", "day"], name="spend_of_a_budget")]

    def __str__(self) -> str:
        return self.key

    @classmethod
    def add(cls, charges: Iterable[Any]) -> None:
        """Add what these charges used, in the transaction that books them. In the order of keys, so that no two deadlock."""
        sums: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
        for charge in charges:
            if charge.kind in USED:
                sums[columns_of(charge)] += Decimal(charge.amount)
        rows = sorted(((key_of(columns), *columns, micros(amount)) for columns, amount in sums.items()), key=lambda row: row[0])
        for first in range(0, len(rows), AT_ONCE):
            _upsert(rows[first : first + AT_ONCE])


def columns_of(charge: Any) -> tuple[date, int | None, int | None, int | None, int | None, str]:
    day = timezone.localdate(charge.made)
    return day, charge.budget_id, charge.owner_id, charge.project_id, charge.coretype_id, charge.software


def key_of(columns: tuple[Any, ...]) -> str:
    day, *ids, software = columns
    return " ".join([f"{day:%Y%m%d}", *(str(id or 0) for id in ids), software])


def _upsert(rows: list[tuple[Any, ...]]) -> None:
    names = "key, day, budget_id, owner_id, project_id, coretype_id, software, amount"
    values = ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s)"] * len(rows))
    adapt = connection.ops.adapt_datefield_value
    given = [value for key, day, *rest in rows for value in (key, adapt(day), *rest)]
    sql = f"INSERT INTO jobs_spend ({names}) VALUES {values} ON CONFLICT (key) DO UPDATE SET amount = jobs_spend.amount + excluded.amount"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, given)

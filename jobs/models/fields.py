"""What columns take: money and core-hours (Decimal in Python, whole millionths in the database), and text from outside.

SQLite would keep a DecimalField as a float and add 0.1 + 0.2 wrongly inside an UPDATE; integers add up exactly everywhere.
The one rounding rule: half up to six decimals, applied to the total of a cluster and never to its parts (see ledger.py).
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

ONE = 1_000_000
QUANTUM = Decimal("0.000001")
LARGEST = Decimal("9000000000000")


def rounded(amount: Decimal) -> Decimal:
    """`amount` with six decimals, half up."""
    return amount.quantize(QUANTUM, ROUND_HALF_UP)


def micros(amount: Decimal | int | str) -> int:
    """`amount` in millionths. Raises ValueError for NaN, infinity and what the column cannot hold."""
    value = Decimal(amount)
    if not value.is_finite() or abs(value) > LARGEST:
        raise ValueError(f"{amount} is not an amount of money")
    return int(rounded(value) * ONE)


def fit(text: str, most: int | None = None) -> str:
    """`text` as every database and JSON column takes it: no NUL, no lone surrogate, at most `most` characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")[:most]


class MoneyField(models.BigIntegerField):
    """A Decimal with six decimals, stored as an integer. In F() arithmetic wrap constants: Value(x, MoneyField())."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else Decimal(int(value)) / ONE

    def to_python(self, value: Any) -> Decimal | None:
        if value is None or isinstance(value, Decimal):
            return value
        try:
            number = Decimal(str(value))
        except ArithmeticError as error:
            raise ValidationError(f"{value} is not a number") from error
        if not number.is_finite() or abs(number) > LARGEST:
            raise ValidationError(f"{value} is not an amount of money")
        return number

    def get_prep_value(self, value: Any) -> int | None:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        return micros(value if isinstance(value, Decimal) else str(value))

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))

    def formfield(self, **kwargs: Any) -> Any:
        from django import forms

        return forms.DecimalField(
            max_digits=19,
            decimal_places=6,
            required=not self.blank,
            label=self.verbose_name.capitalize(),
            help_text=self.help_text,
            initial=self.default if self.has_default() else None,
        )

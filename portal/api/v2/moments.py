"""Moments as the API writes them: always UTC, always with six digits, so that text sorts as time does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def when(moment: datetime) -> str: ...
@overload
def when(moment: None) -> None: ...
def when(moment: datetime | None) -> str | None:
    """2026-04-20T17:06:32.000000Z"""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"

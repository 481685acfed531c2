"""An end that a rule sets, foretold: when it comes, and which warning is due now. Pure.

Whoever is not there to be told loses nothing unwarned: the last warning always leaves its full time, even where the end
had come already when the rule was switched on or the portal was away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Told:
    """The last warning: seconds ahead of the end (0: none yet), and when the first one was given."""

    ahead: int = 0
    at: datetime | None = None


@dataclass(frozen=True)
class End:
    """`warn`: seconds ahead of the warning that is due now, or 0."""

    at: datetime
    warn: int = 0


def end_of(
    begun: datetime, limit: timedelta, warnings: Sequence[timedelta], told: Told, now: datetime, *, keep: datetime | None = None
) -> End:
    """The end of what began at `begun` and may last for `limit`, but not before `keep`. Warnings from before `begun` are void."""
    at = max(begun + limit, keep or begun)
    if not warnings:
        return End(at)
    new = told.at is None or told.at < begun
    at = max(at, (now if new or told.at is None else told.at) + min(warnings))
    return End(at, _due(warnings, at - now, 0 if new else told.ahead))


def _due(warnings: Sequence[timedelta], left: timedelta, told: int) -> int:
    """The nearest warning whose time has come, if it was not told yet."""
    nearest = min((round(one.total_seconds()) for one in warnings if left <= one), default=0)
    return nearest if nearest and (not told or nearest < told) else 0

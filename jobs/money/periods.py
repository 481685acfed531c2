"""When the periods of a recurring budget begin and end: months, quarters and years in a named time zone.

One idea: a period is reckoned in local dates and only then turned into moments, so the night the clocks change makes a
period an hour longer or shorter and never moves its end off midnight. Pure: no database, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True)
class Period:
    """From `start` up to, not with, `end`; aware moments in UTC or any zone."""

    key: str
    start: datetime
    end: datetime


def period_at(recurrence: str, zone: str, moment: datetime) -> Period:
    """The period in which `moment` lies. Raises KeyError for a recurrence that does not exist."""
    months, place = MONTHS[recurrence], ZoneInfo(zone)
    today = moment.astimezone(place).date()
    first = date(today.year, (today.month - 1) // months * months + 1, 1)
    return Period(_key(recurrence, first), _midnight(first, place), _midnight(_later(first, months), place))


def days(first: date | None, last: date | None, zone: str) -> tuple[datetime | None, datetime | None]:
    """When the first day begins and when the last one is over."""
    place = ZoneInfo(zone)
    return first and _midnight(first, place), last and _midnight(last + timedelta(days=1), place)


def day_of(moment: datetime | None, zone: str, last: bool = False) -> date | None:
    """The day in `zone` that begins, or as the last one is over, at `moment`."""
    return moment and (moment - timedelta(microseconds=1 if last else 0)).astimezone(ZoneInfo(zone)).date()


def _later(first: date, months: int) -> date:
    years, month = divmod(first.month - 1 + months, 12)
    return date(first.year + years, month + 1, 1)


def _midnight(day: date, place: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), place)


def _key(recurrence: str, first: date) -> str:
    if recurrence == "year":
        return str(first.year)
    return f"{first.year}-Q{(first.month + 2) // 3}" if recurrence == "quarter" else f"{first:%Y-%m}"

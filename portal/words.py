"""Numbers as people read them: money, times, sizes, counts.

One idea: the same words everywhere. Templates use them as filters (templatetags/headrace.py), sentences built in Python
call them directly, and static/js/words.js says times and sizes the same way on the page.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.conf import settings
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

Amount = Decimal | int | float | str
UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")
THIN = "\u202f"  # narrow space that does not break


def money(value: Amount | None) -> str:
    """An amount with two decimals: €3.17, −€0.40, €6,000.00. None is an empty string."""
    return "" if value is None else _currency(Decimal(str(value)), 2, 2)


def price(value: Amount | None) -> str:
    """A price with two to four decimals: €0.048, €3.584, €0.05."""
    return "" if value is None else _currency(Decimal(str(value)), 2, 4)


def clock(value: timedelta | float | int | None) -> str:
    """A running time as digits: 0:41, 52:18, 5:41:10, 2 d 03:10:00. Takes seconds; less than nothing is 0:00."""
    if value is None:
        return ""
    days, rest = divmod(max(0, int(seconds(value))), 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    if days:
        return f"{days} d {hours:02}:{minutes:02}:{secs:02}"
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def duration(value: timedelta | float | int | None) -> str:
    """A length of time as words: 41 s, 12 min, 2 h 5 min, 3 days. Takes seconds."""
    if value is None:
        return ""
    secs = max(0.0, seconds(value))
    if 0 < secs < 1:
        return "under 1 s"
    whole = round(secs)
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    return _hours(minutes) if minutes < 48 * 60 else f"{round(minutes / 1440)} days"


def relative(moment: datetime, now: datetime | None = None) -> str:
    """How long ago or ahead: just now, 12 s ago, 55 min ago, in 5 min; past a week the date."""
    away = ((now or timezone.now()) - moment).total_seconds()
    if abs(away) < 5:
        return "just now"
    if abs(away) >= 7 * 86_400:
        return day(moment)
    words = _coarse(abs(away))
    return f"{words} ago" if away > 0 else f"in {words}"


def exact(moment: datetime) -> str:
    """17 Sep 2026, 09:13:21, in the portal's time zone."""
    local = timezone.localtime(moment)
    return f"{local.day} {local:%b %Y, %H:%M:%S}"


def day(moment: datetime) -> str:
    local = timezone.localtime(moment)
    return f"{local.day} {local:%b %Y}"


def size(value: int | float | None) -> str:
    """Bytes in binary units: 39 bytes, 18.2 KiB, 1.2 GiB, 412 MiB."""
    if value is None:
        return ""
    if abs(value) < 1024:
        return f"{int(value)} byte" + ("" if int(value) == 1 else "s")
    amount = float(value)
    for unit in UNITS:
        amount /= 1024
        if abs(amount) < 1023.5 or unit == UNITS[-1]:
            break
    return f"{amount:.1f} {unit}" if abs(amount) < 99.95 else f"{amount:,.0f} {unit}"


def count(value: int | None) -> str:
    """1,284,113."""
    return "" if value is None else f"{value:,}"


def percent(value: float | int | None) -> str:
    """Out of 100, with one decimal below 10: 97 %, 0.2 %."""
    if value is None:
        return ""
    text = f"{value:.1f}" if abs(value) < 9.95 and round(value, 1) != int(value) else f"{value:.0f}"
    return f"{text}{THIN}%"


def seconds(value: timedelta | float | int) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


def moment(value: datetime | float | int) -> datetime:
    """A datetime, also from unix seconds."""
    return value if isinstance(value, datetime) else datetime.fromtimestamp(value, UTC)


def coded(text: str) -> SafeString:
    """A sentence with `commands` in it, as HTML: what stands between backticks is code."""
    pieces = enumerate(re.split(r"`([^`]+)`", text))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", piece) if at % 2 else piece,) for at, piece in pieces))


def _currency(value: Decimal, least: int, most: int) -> str:
    rounded = value.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    sign = "\u2212" if rounded < 0 else ""
    whole, _, decimals = f"{abs(rounded):,.{most}f}".partition(".")
    return f"{sign}{settings.CURRENCY}{whole}.{decimals.rstrip('0').ljust(least, '0')}"


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _coarse(secs: float) -> str:
    """One unit only: a relative time need not be exact, its title is."""
    for limit, unit, name in ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h")):
        if secs < limit:
            return f"{int(secs // unit)} {name}"
    days = int(secs // 86_400)
    return f"{days} day" + ("" if days == 1 else "s")

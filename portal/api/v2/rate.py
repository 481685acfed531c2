"""How fast one token may ask: so many requests in a time, all at once or spread (API_RATE, such as 3000/m).

One idea: a bucket that fills steadily and that each request takes one from; polling clients never see its ground. It is
kept in the cache: by default each web process counts for itself.
"""

from __future__ import annotations

import math
import time
from functools import cache as kept

from django.conf import settings
from django.core.cache import cache

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def pause(who: str, now: float | None = None) -> int:
    """Seconds until `who` may ask again; 0 if now is fine, and then it counts."""
    most, seconds = parsed(settings.API_RATE)
    now = time.time() if now is None else now
    left, at = cache.get(f"rate:{who}") or (float(most), now)
    left = min(float(most), left + max(0.0, now - at) * most / seconds)
    if left < 1:
        return math.ceil((1 - left) * seconds / most)
    cache.set(f"rate:{who}", (left - 1, now), seconds)
    return 0


@kept
def parsed(text: str) -> tuple[int, int]:
    """Requests and seconds of "3000/m". Raises ValueError."""
    count, _, unit = text.partition("/")
    if not count.isdecimal() or int(count) < 1 or unit not in UNITS:
        raise ValueError(f"API_RATE is a number, a slash and one of s, m, h, d; {text!r} is not")
    return int(count), UNITS[unit]

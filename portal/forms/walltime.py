"""Walltimes as people type them: 2 h, 90 min, 1:30, 2 h 30 min, 1 d, or just 2 for hours."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError

UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600, "hours": 3600, "d": 86_400, "day": 86_400, "days": 86_400}
PIECE = re.compile(r"(\d{1,9}(?:[.,]\d{1,6})?)\s*([a-z]+)")
CLOCK = re.compile(r"(\d{1,6}):([0-5]?\d)(?::([0-5]?\d))?\Z")
HINT = "Write it as 2 h, 90 min or 1:30."


def parse(text: str) -> int:
    """Seconds. Raises ValidationError for what is no length of time."""
    plain = text.strip().lower()
    if plain.startswith("-") or plain.startswith("\u2212"):
        raise ValidationError("The walltime can't be negative.")
    seconds = _clock(plain) or _pieces(plain)
    if seconds is None:
        raise ValidationError(f"This is no length of time. {HINT}")
    if seconds < 60:
        raise ValidationError("The walltime must be at least 1 min.")
    return seconds


def say(seconds: int) -> str:
    """The text that `parse` reads back."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (secs, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 min"


def _clock(plain: str) -> int | None:
    found = CLOCK.match(plain)
    if not found:
        return None
    return int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)


def _pieces(plain: str) -> int | None:
    if re.fullmatch(r"\d{1,9}(?:[.,]\d{1,6})?", plain):
        plain += "h"
    if not plain or PIECE.sub("", plain).strip():
        return None
    total = 0.0
    for amount, unit in PIECE.findall(plain):
        if unit not in UNITS:
            return None
        total += float(amount.replace(",", ".")) * UNITS[unit]
    return round(total)

"""Phrases that several presenters share: how many, how long, what is usual."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from jobs.models import Workload
from portal import words


def plural(count: int, word: str, many: str = "") -> str:
    """1 file, 3 files, 1,204 files."""
    return f"{words.count(count)} {word if count == 1 else many or word + 's'}"


def usually(span: tuple[float, float] | None) -> str:
    """usually 1–3 min; empty where nothing is known."""
    return f"usually {span_of(*span)}" if span else ""


def span_of(low: float, high: float) -> str:
    """1–3 min, 40 s–2 min, 12 min, up to 2 s: one unit where both share it."""
    first, last = words.duration(low), words.duration(high)
    if first == last:
        return first
    if 0 < low < 1:
        return f"up to {last}"
    unit = last.rpartition(" ")[2]
    same = first.endswith(f" {unit}") and first.count(" ") == last.count(" ") == 1
    return f"{first.removesuffix(f' {unit}') if same else first}\u2013{last}"


def hardware(work: Workload) -> str:
    """Basalt 2 × 8 cores."""
    return f"{work.coretype} {work.nodes} \u00d7 {work.cores} core" + ("" if work.cores == 1 else "s")


def clock_of(moment: datetime, now: datetime) -> str:
    """10:20 today, else with the day: 18 Sep 10:20."""
    local, today = timezone.localtime(moment), timezone.localtime(now)
    if local.date() == today.date():
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b %H:%M}"


def who(user: object) -> str:
    """A person's full name, else the name they sign in with."""
    full = getattr(user, "get_full_name", lambda: "")()
    return full or getattr(user, "username", "") or "somebody"


def cut(text: str, limit: int = 160) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "\u2026"

"""Regions as entries of a catalogue file, out and in."""

from __future__ import annotations

from typing import Any

from ..models import Region
from . import entries

KNOWN = {"code", "name"}


def written() -> list[dict[str, Any]]:
    """Every region."""
    return [{"code": region.code, "name": region.name} for region in Region.objects.all()]


def taken(entry: dict[str, Any], place: str, done: dict[str, list[str]], by: Any) -> list[str]:
    """Make or change the region of this entry; what is wrong with it. A region is only a name, so it is not told in `done`."""
    code = entries.name(entry)
    where = f"{place} ({code})"
    if faults := entries.unknown(entry, KNOWN, where):
        return faults
    region = Region.objects.filter(code=code).first() or Region(code=code)
    region.name = entries.name(entry, "name")
    return entries.saved(region, where)

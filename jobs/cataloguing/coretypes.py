"""Coretypes as entries of a catalogue file, out and in, and what a backend says to a coretype's options."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from .. import backends
from ..models import Coretype, Region, Software, micros
from . import entries

TEXT = ("name", "backend", "processor", "gpu")
NUMBERS = ("cores", "memory", "max_nodes", "walltime_default", "walltime_max", "order")
PRICES = ("price", "economy_price", "disk_price")
KNOWN = {"code", "region", "options", "active", "software", *TEXT, *NUMBERS, *PRICES}


def written() -> list[dict[str, Any]]:
    """Every coretype; memory in bytes, times in seconds, prices as texts that say them in full."""
    return [_entry(kind) for kind in Coretype.objects.select_related("region").prefetch_related("software")]


def taken(entry: dict[str, Any], place: str, done: dict[str, list[str]], by: Any) -> list[str]:
    """Make or change the coretype of this entry; what is wrong with it, a sentence each, in which case nothing was written."""
    code = entries.name(entry)
    where = f"{place} ({code})"
    if faults := entries.unknown(entry, KNOWN, where):
        return faults
    kind = Coretype.objects.filter(code=code).first() or Coretype(code=code)
    faults = _filled(kind, entry, where)
    new = kind.pk is None
    region = Region.objects.filter(code=entries.name(entry, "region")).first() if new or "region" in entry else kind.region
    programs = {one.code: one for one in Software.objects.all()}
    codes = entry.get("software") or []
    missing = [str(one) for one in codes if str(one) not in programs] if isinstance(codes, list) else [str(codes)]
    faults += [] if region else [f"{where}: there is no region {entry.get('region')}"]
    faults += [f"{where}: there is no software {one}" for one in missing]
    if faults:
        return faults
    kind.region, kind.changed_by = region, by
    kind.version += 0 if new else 1
    faults = entries.saved(kind, where)
    if not faults:
        if "software" in entry:
            kind.software.set([programs[str(one)] for one in codes])
        entries.note(done, kind.code, new)
    return faults


def option_trouble(backend: str, options: Mapping[str, Any]) -> str:
    """What the backend has against these options of a coretype; empty if nothing."""
    try:
        check = getattr(backends.get(backend), "check_options", None)
        if check is not None:
            check(options)
        elif options:
            return f"{backend} takes no options of a coretype"
    except (backends.Refused, backends.TryAgain) as error:
        return str(error)
    return ""


def option_names(backend: str) -> tuple[str, ...]:
    """Those that a coretype of this backend may have."""
    try:
        return tuple(getattr(backends.get(backend), "option_names", ()))
    except (backends.Refused, backends.TryAgain):
        return ()


# --- private ----------------------------------------------------------------------------------------------------------
def _entry(kind: Coretype) -> dict[str, Any]:
    plain = {name: getattr(kind, name) for name in (*TEXT, *NUMBERS, "active", "options")}
    prices = {name: None if (value := getattr(kind, name)) is None else f"{value.normalize():f}" for name in PRICES}
    return {"code": kind.code, "region": kind.region.code, **plain, **prices, "software": [one.code for one in kind.software.all()]}


def _filled(kind: Coretype, entry: dict[str, Any], where: str) -> list[str]:
    faults = []
    for name in (*TEXT, *NUMBERS, *PRICES, "active", "options"):
        if name not in entry:
            continue
        try:
            setattr(kind, name, _value(name, entry[name]))
        except (ValueError, TypeError, InvalidOperation):
            faults.append(entries.odd(entry, name, where))
    if isinstance(kind.options, dict) and (why := option_trouble(kind.backend, kind.options) if kind.backend else ""):
        faults.append(f"{where}: {why}")
    return faults


def _value(name: str, value: Any) -> Any:
    if name in PRICES:
        return None if value is None and name == "economy_price" else _amount(value)
    if name in NUMBERS:
        if not entries.is_number(value, entries.LONG if name == "memory" else entries.SHORT):
            raise TypeError(name)
        return value
    if name == "active":
        if not isinstance(value, bool):
            raise TypeError(name)
        return value
    return (value or {}) if name == "options" else entries.text(value)


def _amount(value: Any) -> Decimal:
    micros(amount := Decimal(str(value)))  # raises for what is no amount
    return amount

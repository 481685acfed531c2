"""The catalogue of hardware, kinds of workstations and limits as YAML, out and in, and what a backend says to a coretype's options.

One idea: a file is taken as a whole or not at all. Everything in it is checked first, each fault is named with its place,
and what is not in it stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction

from . import backends, entries, limit_entries, plain_yaml, station_kinds
from .models import Coretype, Region, Software, micros

LARGEST = 1 << 20
"""Bytes of a file that is read."""
LONGEST = 400
"""Characters of a fault: it may quote what is in the file."""
PARTS = ("regions", "coretypes", "workstations", "limits")
NAMES = "`regions`, `coretypes`, `workstations` and `limits`"
TEXT = ("name", "backend", "processor", "gpu")
NUMBERS = ("cores", "memory", "max_nodes", "walltime_default", "walltime_max", "order")
PRICES = ("price", "economy_price", "disk_price")
KNOWN = {"code", "region", "options", "active", "software", *TEXT, *NUMBERS, *PRICES}


class Faults(ValueError):
    """What is wrong with a file, a sentence each in `.all`."""

    def __init__(self, all: list[str]) -> None:
        self.all = [one if len(one) <= LONGEST else f"{one[:LONGEST]}..." for one in all]
        super().__init__("; ".join(self.all))


def written() -> str:
    """All PARTS, in the form that `read` takes. Groups of people are the installation's."""
    regions = [{"code": region.code, "name": region.name} for region in Region.objects.all()]
    kinds = Coretype.objects.select_related("region").prefetch_related("software")
    known = {"regions": regions, "coretypes": [_entry(kind) for kind in kinds], "workstations": station_kinds.written()}
    known["limits"] = limit_entries.written()
    return plain_yaml.written(known)


def read(text: str, by: Any) -> dict[str, list[str]]:
    """Take a file over: {"added": names, "changed": names}. Raises Faults; then nothing was changed."""
    wanted = _parsed(text)
    faults: list[str] = []
    done: dict[str, list[str]] = {"added": [], "changed": []}
    with transaction.atomic():
        for place, entry in enumerate(wanted["regions"], 1):
            faults += _region(entry, f"region {place}")
        for place, entry in enumerate(wanted["coretypes"], 1):
            faults += _coretype(entry, f"coretype {place}", by, done)
        for place, entry in enumerate(wanted["workstations"], 1):
            faults += station_kinds.taken(entry, f"workstation {place}", done)
        for place, entry in enumerate(wanted["limits"], 1):
            faults += limit_entries.taken(entry, f"limit {place}", done)
        if faults:
            raise Faults(faults)
    return done


def option_trouble(backend: str, options: Mapping[str, Any]) -> str:
    """What the backend has against these options of a coretype; empty if nothing, or if it takes none of its own."""
    try:
        check = getattr(backends.get(backend), "check_options", None)
        if check is not None:
            check(options)
    except (backends.Refused, backends.TryAgain) as error:
        return str(error)
    return ""


# --- private ----------------------------------------------------------------------------------------------------------
def _entry(kind: Coretype) -> dict[str, Any]:
    plain = {name: getattr(kind, name) for name in (*TEXT, *NUMBERS, "active", "options")}
    prices = {name: None if (value := getattr(kind, name)) is None else f"{value.normalize():f}" for name in PRICES}
    return {"code": kind.code, "region": kind.region.code, **plain, **prices, "software": [one.code for one in kind.software.all()]}


def _parsed(text: str) -> dict[str, list[Any]]:
    if len(text) > LARGEST:
        raise Faults([f"A catalogue has at most {LARGEST >> 10} KiB."])
    try:
        found = plain_yaml.read(text)
    except plain_yaml.Odd as error:
        raise Faults([f"This is no YAML that is taken here: {error}"]) from error
    if not isinstance(found, dict) or not set(found) <= set(PARTS):
        raise Faults([f"A catalogue has {NAMES}, nothing else."])
    lists = {name: found.get(name) or [] for name in PARTS}
    if not all(isinstance(value, list) and all(isinstance(one, dict) for one in value) for value in lists.values()):
        raise Faults([f"{NAMES} are lists of entries."])
    return lists


def _region(entry: dict[str, Any], place: str) -> list[str]:
    code, name = str(entry.get("code", "")), str(entry.get("name", ""))
    region = Region.objects.filter(code=code).first() or Region(code=code)
    region.name = name
    return entries.saved(region, f"{place} ({code})")


def _coretype(entry: dict[str, Any], place: str, by: Any, done: dict[str, list[str]]) -> list[str]:
    code = str(entry.get("code", ""))
    where = f"{place} ({code})"
    if faults := entries.unknown(entry, KNOWN, where):
        return faults
    kind = Coretype.objects.filter(code=code).first() or Coretype(code=code)
    faults = _filled(kind, entry, where)
    region = Region.objects.filter(code=str(entry.get("region", ""))).first()
    programs = {one.code: one for one in Software.objects.all()}
    codes = entry.get("software") or []
    missing = [str(one) for one in codes if str(one) not in programs] if isinstance(codes, list) else [str(codes)]
    faults += [] if region else [f"{where}: there is no region {entry.get('region')}"]
    faults += [f"{where}: there is no software {one}" for one in missing]
    if faults:
        return faults
    new, kind.region, kind.changed_by = kind.pk is None, region, by
    kind.version += 0 if new else 1
    faults = entries.saved(kind, where)
    if not faults:
        kind.software.set([programs[str(one)] for one in codes])
        done["added" if new else "changed"].append(kind.code)
    return faults


def _filled(kind: Coretype, entry: dict[str, Any], where: str) -> list[str]:
    faults = []
    for name in (*TEXT, *NUMBERS, *PRICES, "active", "options"):
        if name not in entry:
            continue
        value = entry[name]
        try:
            setattr(kind, name, _value(name, value))
        except (ValueError, TypeError, InvalidOperation):
            faults.append(f"{where}: {name} can't be {value!r}"[:300])
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
    return (value or {}) if name == "options" else str(value)


def _amount(value: Any) -> Decimal:
    micros(amount := Decimal(str(value)))  # raises for what is no amount
    return amount

"""Kinds of workstations as entries of a catalogue file, out and in."""

from __future__ import annotations

from typing import Any

from ..models import Coretype, WorkstationKind
from . import entries

TEXT = ("name", "description", "session", "software", "start", "save_command")
NUMBERS = ("grace", "home_limit", "copy_every", "idle_after", "keep_limit", "max_life", "suspended_days", "order")
LISTS = ("idle_warnings", "suspended_warnings")
KNOWN = {"code", "active", "coretypes", *TEXT, *NUMBERS, *LISTS}
LARGEST = {"home_limit": entries.LONG}


def written() -> list[dict[str, Any]]:
    """Every kind. Groups of people belong to the installation and stay out."""
    return [_entry(kind) for kind in WorkstationKind.objects.prefetch_related("coretypes")]


def taken(entry: dict[str, Any], place: str, done: dict[str, list[str]], by: Any) -> list[str]:
    """Make or change the kind of this entry; what is wrong with it, a sentence each, in which case nothing was written."""
    code = entries.name(entry)
    where = f"{place} ({code})"
    if faults := entries.unknown(entry, KNOWN, where):
        return faults
    kind = WorkstationKind.objects.filter(code=code).first() or WorkstationKind(code=code)
    faults = [entries.odd(entry, name, where) for name in sorted(set(map(str, entry)) - {"code"}) if not _fits(name, entry[name])]
    hardware = {one.code: one for one in Coretype.objects.all()}
    codes = entry.get("coretypes") or []
    if isinstance(codes, list):
        faults += [f"{where}: there is no coretype {one}" for one in codes if str(one) not in hardware]
    if faults:
        return faults
    for name in set(entry) - {"code", "coretypes"}:
        setattr(kind, name, entry[name])
    return _saved(kind, where, [hardware[str(one)] for one in codes] if "coretypes" in entry else None, done)


# --- private ----------------------------------------------------------------------------------------------------------
def _entry(kind: WorkstationKind) -> dict[str, Any]:
    plain = {name: getattr(kind, name) for name in (*TEXT, *NUMBERS, *LISTS, "active")}
    return {"code": kind.code, **plain, "coretypes": [one.code for one in kind.coretypes.all()]}


def _fits(name: str, value: Any) -> bool:
    if name in NUMBERS:
        return entries.is_number(value, LARGEST.get(name, entries.SHORT))
    if name in (*LISTS, "coretypes"):
        return isinstance(value, list)
    return isinstance(value, bool) if name == "active" else isinstance(value, str)


def _saved(kind: WorkstationKind, where: str, coretypes: list[Coretype] | None, done: dict[str, list[str]]) -> list[str]:
    new = kind.pk is None
    if faults := entries.saved(kind, where):
        return faults
    if coretypes is not None:
        kind.coretypes.set(coretypes)
    entries.note(done, kind.code, new)
    return []

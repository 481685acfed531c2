"""Limits as entries of a catalogue file, out and in.

One idea: for whom and where is the limit's name. An entry for one that is there changes it, any other makes a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User

from ..models import Coretype, Limit, Project
from . import entries

MOST = ("most_jobs", "most_cores")
KNOWN = {"per", "member", "project", "coretype", *MOST}
NAMED: dict[str, Callable[[str], Any]] = {
    "member": lambda name: User.objects.filter(username=name).first(),
    "project": lambda code: Project.objects.filter(code=code).first(),
    "coretype": lambda code: Coretype.objects.filter(code=code).first(),
}


def written() -> list[dict[str, Any]]:
    """Every limit; of whom and where only what it names."""
    return [_entry(limit) for limit in Limit.objects.select_related("member", "project", "coretype")]


def taken(entry: dict[str, Any], place: str, done: dict[str, list[str]], by: Any) -> list[str]:
    """Make or change the limit of this entry; what is wrong with it, a sentence each, in which case nothing was written."""
    if faults := entries.unknown(entry, KNOWN, place) + _numbers(entry, place):
        return faults
    named = {name: entry[name] for name in NAMED if entry.get(name) is not None}
    found = {name: NAMED[name](str(value)) for name, value in named.items()}
    if missing := [name for name, row in found.items() if row is None]:
        return [f"{place}: there is no {name} {named[name]}"[:300] for name in missing]
    limit = Limit(per=entry.get("per", Limit.Per.MEMBER), **found)
    limit = Limit.objects.select_for_update().filter(key=limit.named()).first() or limit
    return _saved(limit, entry, place, done)


# --- private ----------------------------------------------------------------------------------------------------------
def _entry(limit: Limit) -> dict[str, Any]:
    names = {
        "member": limit.member and limit.member.get_username(),
        "project": limit.project and limit.project.code,
        "coretype": limit.coretype and limit.coretype.code,
    }
    return {"per": limit.per, **{name: text for name, text in names.items() if text}, **{name: getattr(limit, name) for name in MOST}}


def _numbers(entry: dict[str, Any], place: str) -> list[str]:
    wrong = [name for name in MOST if entry.get(name) is not None and not entries.is_number(entry[name], least=1)]
    return [entries.odd(entry, name, place) for name in wrong]


def _saved(limit: Limit, entry: dict[str, Any], place: str, done: dict[str, list[str]]) -> list[str]:
    new = limit.pk is None
    for name in MOST:
        setattr(limit, name, entry.get(name, getattr(limit, name)))
    limit.version += 0 if new else 1
    faults = entries.saved(limit, place, exclude=["key"], validate_constraints=False)
    if not faults:
        entries.note(done, str(limit), new)
    return faults

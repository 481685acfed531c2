"""The catalogue of hardware, kinds of workstations and limits as YAML, out and in.

One idea: a file is taken as a whole or not at all. Everything in it is checked first, each fault is named with its place,
and what is not in it stays as it is. Each part has a module with KNOWN (the names in an entry), `written` and `taken`.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from . import coretypes, kinds, limits, plain_yaml, regions
from .coretypes import option_names, option_trouble

__all__ = ["LARGEST", "PARTS", "Faults", "option_names", "option_trouble", "read", "written"]

LARGEST = 1 << 20
"""Characters of a file that is read."""
LONGEST = 400
"""Characters of a fault: it may quote what is in the file."""
PARTS = {"regions": regions, "coretypes": coretypes, "workstations": kinds, "limits": limits}
"""In this order: a later part names what an earlier one made."""
NAMES = "`regions`, `coretypes`, `workstations` and `limits`"


class Faults(ValueError):
    """What is wrong with a file, a sentence each in `.all`."""

    def __init__(self, all: list[str]) -> None:
        self.all = [one if len(one) <= LONGEST else f"{one[:LONGEST]}..." for one in all]
        super().__init__("; ".join(self.all))


def written() -> str:
    """All PARTS, in the form that `read` takes. Groups of people are the installation's."""
    return plain_yaml.written({name: part.written() for name, part in PARTS.items()})


def read(text: str, by: Any) -> dict[str, list[str]]:
    """Take a file over: {"added": names, "changed": names}. Raises Faults; then nothing was changed."""
    wanted = _parsed(text)
    faults: list[str] = []
    done: dict[str, list[str]] = {"added": [], "changed": []}
    with transaction.atomic():
        for name, part in PARTS.items():
            for number, entry in enumerate(wanted[name], 1):
                faults += part.taken(entry, f"{name.removesuffix('s')} {number}", done, by)
        if faults:
            raise Faults(faults)
    return done


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

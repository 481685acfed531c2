"""What the parts of a catalogue file have in common: an entry is a mapping, and each fault is a sentence that names its place."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Model

SHORT, LONG = (1 << 31) - 1, (1 << 63) - 1
"""The largest numbers that the database holds."""


def unknown(entry: dict[str, Any], known: Set[str], where: str) -> list[str]:
    """Names that nobody reads are a fault: most likely they are misspelt."""
    names = sorted(set(map(str, entry)) - known)
    return [f"{where}: not known: {', '.join(names)}"] if names else []


def is_number(value: Any, largest: int = SHORT, least: int = 0) -> bool:
    """A whole number from `least` to `largest`; yes and no are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= largest


def text(value: Any) -> str:
    """A text, a number written without quotes, or nothing at all. Raises TypeError for what is neither."""
    if isinstance(value, bool | list | dict):
        raise TypeError(value)
    return "" if value is None else str(value)


def name(entry: dict[str, Any], key: str = "code") -> str:
    """A text by which something is named; what is none names nothing."""
    try:
        return text(entry.get(key))
    except TypeError:
        return ""


def odd(entry: dict[str, Any], name: str, where: str) -> str:
    """The fault of a value that can't be."""
    return f"{where}: {name} can't be {entry[name]!r}"[:300]


def note(done: dict[str, list[str]], name: str, new: bool) -> None:
    """Tell what was made or changed."""
    done["added" if new else "changed"].append(name)


def saved(row: Model, where: str, **checks: Any) -> list[str]:
    """Write it; what its model has against it, in which case nothing was written. `checks` go to full_clean."""
    try:
        row.full_clean(**checks)
    except ValidationError as error:
        faults = error.message_dict.items()
        return [": ".join([where, *([name] if name != NON_FIELD_ERRORS else []), " ".join(texts)]) for name, texts in faults]
    row.save()
    return []

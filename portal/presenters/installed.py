"""What software each coretype really has, as the hardware page lists it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from jobs.models import Coretype, Installed, Look


@dataclass(frozen=True)
class Shelf:
    """One coretype: what was found, what was not, and the look itself."""

    coretype: Coretype
    found: list[tuple[str, str]]
    """Name and the versions that answer."""
    missing: list[str]
    look: Look | None


def waits(shelves: Iterable[Shelf]) -> bool:
    """Whether a look is still to come, so that the page asks again."""
    return any(one.look is not None and one.look.waits for one in shelves)


def shelves() -> list[Shelf]:
    """The coretypes on offer that somebody looked at, or wants looked at."""
    rows = Installed.objects.filter(coretype__active=True, version__software__active=True).exclude(version__software__code="shell")
    ordered = rows.select_related("version__software").order_by("coretype", "version__software__order", "version__software__name")
    known = {pk: list(some) for pk, some in groupby(ordered, key=lambda row: row.coretype_id)}
    looks = {look.coretype_id: look for look in Look.objects.filter(coretype__active=True)}
    kinds = Coretype.objects.filter(active=True, pk__in=[*known, *looks])
    return [_shelf(kind, known.get(kind.pk, []), looks.get(kind.pk)) for kind in kinds]


def _shelf(kind: Coretype, rows: Iterable[Installed], look: Look | None) -> Shelf:
    found, missing = [], []
    for software, some in groupby(rows, key=lambda row: row.version.software):
        texts = dict.fromkeys(row.found for row in some if row.found)
        if texts:
            found.append((software.name, ", ".join(texts)))
        else:
            missing.append(software.name)
    return Shelf(kind, found, missing, look)

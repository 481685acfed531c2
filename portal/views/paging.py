"""Pages of a list by key: newest first, never by OFFSET, so the hundredth page is as quick as the first.

One idea: which rows stand on a page is asked of the list alone, and only then what they show. To plan a join of ten tables
over all rows takes a database longer than to read a page of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from portal.numbers import whole

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows, and the addresses of the pages beside this one; empty where there is none."""

    rows: list[Row]
    newer: str
    older: str


def page_of(found: QuerySet[Row], request: HttpRequest, size: int = 50, **kept: str) -> Page[Row]:
    """The page that `before` or `after` in the address ask for. `kept` goes along in the addresses of its neighbours."""
    before, after = (whole(request.GET.get(name, "")) for name in ("before", "after"))
    if after is not None:
        more, rows = _rows(found, found.filter(pk__gt=after).order_by("pk"), size)
        return Page(rows, _address(kept, after=rows[0].pk) if more else "", _address(kept, before=rows[-1].pk) if rows else "")
    more, rows = _rows(found, (found.filter(pk__lt=before) if before is not None else found).order_by("-pk"), size)
    newer = _address(kept, after=rows[0].pk) if rows and before is not None else ""
    return Page(rows, newer, _address(kept, before=rows[-1].pk) if more else "")


def searched(request: HttpRequest) -> str:
    """What was typed into the search field."""
    return request.GET.get("q", "").replace("\0", "").strip()[:200]


def _rows(found: QuerySet[Row], in_order: QuerySet[Row], size: int) -> tuple[bool, list[Row]]:
    """The first rows in this order, newest first; whether there are more."""
    keys = list(in_order.values_list("pk", flat=True)[: size + 1])
    return len(keys) > size, list(found.filter(pk__in=keys[:size]).order_by("-pk"))


def _address(kept: dict[str, str], **more: Any) -> str:
    return "?" + urlencode({name: value for name, value in {**kept, **more}.items() if value})

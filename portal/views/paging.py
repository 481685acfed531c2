"""Pages of a list by key: newest first, never by OFFSET, so the hundredth page is as quick as the first.

One idea: which rows stand on a page is asked of the list alone, and only then what they show. To plan a join of ten tables
over all rows takes a database longer than to read a page of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest

from portal.numbers import whole

Row = TypeVar("Row")
Load = Callable[[Sequence[int]], list[Row]]


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows, and the addresses of the pages beside this one; empty where there is none."""

    rows: list[Row]
    newer: str
    older: str
    whole: bool = False  # the first page, and no other


def page_of(found: QuerySet[Any], request: HttpRequest, size: int = 50, load: Load[Row] | None = None, **kept: str) -> Page[Row]:
    """The page that `before` or `after` in the address ask for. `kept` goes along in the addresses of its neighbours.

    `load` makes the rows of these keys, newest first; without it they are those of `found`.
    """
    before, after = (whole(request.GET.get(name, "")) for name in ("before", "after"))
    rows_of = load or (lambda keys: list(found.filter(pk__in=keys).order_by("-pk")))
    if after is not None:
        more, keys = _keys(found.filter(pk__gt=after).order_by("pk"), size)
        return Page(rows_of(keys), _address(kept, after=keys[0]) if more else "", _address(kept, before=keys[-1]) if keys else "")
    more, keys = _keys((found.filter(pk__lt=before) if before is not None else found).order_by("-pk"), size)
    newer = _address(kept, after=keys[0]) if keys and before is not None else ""
    return Page(rows_of(keys), newer, _address(kept, before=keys[-1]) if more else "", before is None and not more)


def searched(request: HttpRequest) -> str:
    """What was typed into the search field."""
    return request.GET.get("q", "").replace("\0", "").strip()[:200]


def _keys(in_order: QuerySet[Any], size: int) -> tuple[bool, list[int]]:
    """Those of the first rows in this order, newest first; whether there are more."""
    keys = list(in_order.values_list("pk", flat=True)[: size + 1])
    return len(keys) > size, sorted(keys[:size], reverse=True)


def _address(kept: dict[str, str], **more: Any) -> str:
    return "?" + urlencode({name: value for name, value in {**kept, **more}.items() if value})

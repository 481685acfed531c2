"""Lists: count, next, previous, results. By key and never by OFFSET; the count is exact to 10,000."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja.errors import HttpError

EXACT = 10_000
LARGEST = 1000
USUAL = 50


def page(request: HttpRequest, rows: QuerySet[Any], show: Callable[[Any], Any]) -> dict[str, Any]:
    """A page of rows, newest first. `page_size` up to 1,000; `after` is the key that a `next` address carries."""
    size = whole(request, "page_size", USUAL, 1, LARGEST)
    after = whole(request, "after", 0, 0, 1 << 62)
    number = whole(request, "page", 1, 1, 1_000_000)
    ordered = rows.order_by("-pk")
    if after:
        ordered = ordered.filter(pk__lt=after)
    elif number > 1:  # clients that count pages; only as deep as the count is exact
        ordered = _from_page(ordered, number, size)
    found = list(ordered[: size + 1])
    more = len(found) > size
    found = found[:size]
    following = _address(request, after=found[-1].pk) if more else None
    return {"count": count_of(rows), "next": following, "previous": None, "results": [show(row) for row in found]}


def listed(request: HttpRequest, items: Sequence[Any], show: Callable[[Any], Any]) -> dict[str, Any]:
    """A page of something that is in memory anyway."""
    size = whole(request, "page_size", USUAL, 1, LARGEST)
    number = whole(request, "page", 1, 1, 1_000_000)
    start = (number - 1) * size
    found = items[start : start + size]
    following = _address(request, page=number + 1) if start + size < len(items) else None
    before = _address(request, page=number - 1) if number > 1 else None
    return {"count": len(items), "next": following, "previous": before, "results": [show(item) for item in found]}


def count_of(rows: QuerySet[Any]) -> int:
    """Exact to 10,000; above that at least so many."""
    return rows.order_by()[: EXACT + 1].count()


def whole(request: HttpRequest, name: str, usual: int, least: int, most: int) -> int:
    """A whole number of the query. 400 for what is none."""
    text = request.GET.get(name)
    if text is None or text == "":
        return usual
    if not text.isascii() or not text.isdecimal() or len(text) > 19 or int(text) < least:
        raise HttpError(400, f"{name} must be a whole number from {least}.")
    return min(int(text), most)


def _from_page(ordered: QuerySet[Any], number: int, size: int) -> QuerySet[Any]:
    skipped = min((number - 1) * size, EXACT)
    keys = list(ordered.values_list("pk", flat=True)[skipped - 1 : skipped])
    return ordered.filter(pk__lt=keys[0]) if keys else ordered.none()


def _address(request: HttpRequest, **changes: Any) -> str:
    query = request.GET.copy()
    for name in ("page", "after"):
        query.pop(name, None)
    for name, value in changes.items():
        query[name] = str(value)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")

"""Lists: count, next, previous, results. By key and never by OFFSET; the count is exact to 10,000, above that an estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Max, Min, QuerySet
from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

EXACT = 10_000
LARGEST = 1000


class Paging(Schema):
    """How much of a list. `after` and `before` are keys that `next` and `previous` carry."""

    page_size: int = Field(50, ge=1, le=1 << 31, description="At most 1,000 are given.")
    page: int = Field(1, ge=1, le=1 << 31)
    after: int = Field(0, ge=0, le=1 << 62)
    before: int = Field(0, ge=0, le=1 << 62)

    @property
    def size(self) -> int:
        return min(self.page_size, LARGEST)


def page(
    request: HttpRequest, asked: Paging, rows: QuerySet[Any], show: Callable[[Any], Any], gather: Callable[[list[Any]], None] | None = None
) -> dict[str, Any]:
    """A page of rows, newest first; `gather` fetches what is shown beside them, for all at once."""
    ordered = rows.order_by("-pk")
    if asked.before:
        found = list(rows.filter(pk__gt=asked.before).order_by("pk")[: asked.size + 1])
        earlier, later = len(found) > asked.size, True
        found = found[: asked.size][::-1]
    else:
        ordered = _from(ordered, asked)
        found = list(ordered[: asked.size + 1])
        earlier, later = bool(asked.after or asked.page > 1), len(found) > asked.size
        found = found[: asked.size]
    if gather:
        gather(found)
    return {
        "count": count_of(rows) if earlier or later else len(found),
        "next": _address(request, after=found[-1].pk) if later and found else None,
        "previous": _address(request, before=found[0].pk) if earlier and found else None,
        "results": [show(row) for row in found],
    }


def listed(request: HttpRequest, asked: Paging, items: Sequence[Any], show: Callable[[Any], Any]) -> dict[str, Any]:
    """A page of something that is in memory anyway."""
    start = (asked.page - 1) * asked.size
    return {
        "count": len(items),
        "next": _address(request, page=asked.page + 1) if start + asked.size < len(items) else None,
        "previous": _address(request, page=asked.page - 1) if asked.page > 1 else None,
        "results": [show(item) for item in items[start : start + asked.size]],
    }


def whole(items: Sequence[Any]) -> dict[str, Any]:
    """A list that is always given whole."""
    return {"count": len(items), "next": None, "previous": None, "results": list(items)}


def count_of(rows: QuerySet[Any]) -> int:
    """Exact to 10,000; above that as many as there would be if the older keys lay as close as the newest."""
    keys = rows.order_by("-pk").values_list("pk", flat=True)
    count = keys[: EXACT + 1].count()
    if count <= EXACT:
        return count
    nth = keys[EXACT : EXACT + 1].get()
    ends = rows.order_by().aggregate(first=Min("pk"), last=Max("pk"))
    return max(count, round(count * (ends["last"] - ends["first"] + 1) / max(1, ends["last"] - nth + 1)))


def _from(ordered: QuerySet[Any], asked: Paging) -> QuerySet[Any]:
    """From the key that is asked for; for clients that count pages, only as deep as the count is exact."""
    if asked.after:
        return ordered.filter(pk__lt=asked.after)
    if asked.page == 1:
        return ordered
    skipped = (asked.page - 1) * asked.size
    keys = list(ordered.values_list("pk", flat=True)[skipped - 1 : skipped]) if skipped <= EXACT else []
    return ordered.filter(pk__lt=keys[0]) if keys else ordered.none()


def _address(request: HttpRequest, **changes: Any) -> str:
    query = request.GET.copy()
    for name in ("page", "after", "before"):
        query.pop(name, None)
    for name, value in changes.items():
        query[name] = str(value)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")

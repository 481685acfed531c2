"""Tables as CSV, streamed. One idea: a cell that a spreadsheet would run as a formula gets an apostrophe before it."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from django.http import StreamingHttpResponse

AT_ONCE = 1000
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are the first four in full width, which some spreadsheets take as well."""


def defused(value: Any) -> str:
    """A cell as text. Numbers stay numbers; text that begins like a formula is kept from being one."""
    if isinstance(value, Decimal | int | float):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    text = "" if value is None else str(value).replace("\0", "")
    return f"'{text}" if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def line(cells: Iterable[Any]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow([defused(cell) for cell in cells])
    return out.getvalue().encode()


def answer(
    name: str, head: Sequence[str], rows: QuerySet[Any], cells: Callable[[Any], Sequence[Any]], many: bool = False
) -> StreamingHttpResponse:
    """A download of `rows`, newest first, a thousand at a time by key. `many`: `cells` gives several lines a row."""
    several = cells if many else lambda row: [cells(row)]
    response = StreamingHttpResponse(_lines(head, rows, several), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def _lines(head: Sequence[str], rows: QuerySet[Any], cells: Callable[[Any], Sequence[Any]]) -> AsyncIterator[bytes]:
    yield line(head)
    last: int | None = None
    while True:
        found, last = await sync_to_async(_block)(rows, last, cells)
        if not found:
            return
        yield found


def _block(rows: QuerySet[Any], last: int | None, cells: Callable[[Any], Sequence[Any]]) -> tuple[bytes, int | None]:
    """The lines of the next rows, and the key of the last of them."""
    some = list((rows if last is None else rows.filter(pk__lt=last)).order_by("-pk")[:AT_ONCE])
    return b"".join(line(one) for row in some for one in cells(row)), some[-1].pk if some else last

"""What every answer stands on: pages of things, and refusals."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel

Errors = dict[str, list[str]]
Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    count: int
    next: str | None
    previous: str | None
    results: list[Item]


def answers(body: Any, *refusals: int, status: int = 200) -> dict[int, Any]:
    """The answers of an operation: its own, the refusals that any may give, and those named."""
    return {status: body, **dict.fromkeys((400, 401, 429, *refusals), Errors)}

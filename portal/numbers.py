"""Whole numbers from headers, addresses and forms."""

from __future__ import annotations

from collections.abc import Iterable


def whole(text: str) -> int | None:
    """None for what is no number, below zero, or absurd: int() raises for thousands of digits, and for digits such as ²."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def wholes(texts: Iterable[str]) -> list[int]:
    """Those of the texts that are one."""
    return [number for text in texts if (number := whole(text)) is not None]

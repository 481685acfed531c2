"""Translators between us and something that has machines: a file a backend, and base.py with what they promise."""

from .base import (
    CANCELLED,
    WAITS,
    Backend,
    Capacity,
    Described,
    NoCapacity,
    Refused,
    Spec,
    State,
    TryAgain,
    get,
    names,
    reason_of,
)

__all__ = [
    "CANCELLED", "WAITS", "Backend", "Capacity", "Described", "NoCapacity", "Refused", "Spec", "State", "TryAgain", "get", "names",
    "reason_of",
]  # fmt: skip

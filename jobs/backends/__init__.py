"""Translators between us and something that has machines: a file a backend, and base.py with what they promise."""

from .base import (
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
)

__all__ = ["Backend", "Capacity", "Described", "NoCapacity", "Refused", "Spec", "State", "TryAgain", "get", "names"]

"""Waiting for what real processes do: asked again and again until it is so, with a deadline that only a failure reaches."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds: a machine that does much else is slow, and that is no failure."""


def until(true: Callable[[], Any], seconds: float = PATIENCE, pause: float = 0.02, tell: Callable[[], str] = str) -> Any:
    """What `true` returns once that is anything; fails after `seconds`, with what there is to `tell`."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {true} {tell()}"
        time.sleep(pause)
    return found


def alive(pid: int) -> bool:
    """Whether there is such a process that has not ended yet (one that nobody has waited for is no longer alive)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

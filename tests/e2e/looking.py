"""Waiting for what other processes do, and finding those of a cluster by /proc."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds: the machine may be busy with other tests."""


def until(true: Callable[[], Any], seconds: float = PATIENCE, pause: float = 0.05, tell: Callable[[], str] = str) -> Any:
    """What `true` returns once that is anything; fails after `seconds`, with what there is to `tell`."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s {tell()}"
        time.sleep(pause)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def carrying(token: str) -> list[int]:
    """Living processes whose environment names this cluster: its agent and its command."""
    found, needle = [], f"HEADRACE_TOKEN={token}\0".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and alive(int(entry.name)):
            with contextlib.suppress(OSError):
                if needle in (entry / "environ").read_bytes() + b"\0":
                    found.append(int(entry.name))
    return found

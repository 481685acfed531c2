"""The zipapp that is sent to nodes: built once a process into the data folder."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from django.conf import settings

from . import agent

_lock = threading.Lock()


def path() -> str:
    """Where it lies on this machine."""
    with _lock:
        return _build()


@cache
def _build() -> str:
    return str(agent.build(Path(settings.DATA_DIR) / "agent" / "headrace-agent.pyz"))

"""Answers kept as bytes for as long as what they tell has not changed: what polling clients ask for again and again.

One idea: whatever people can see of a workload moves its version, and the version is read before the facts. So an answer that
is kept under a version is never older than that version. Kept in this process alone, the newest few thousand.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse

MOST = 5000
TYPE = "application/json; charset=utf-8"


class Kept:
    """Bytes by key, the least recently asked for dropped beyond `most`."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._known, self._lock = most, OrderedDict[Any, bytes](), threading.Lock()

    def get(self, key: Any, make: Callable[[], bytes]) -> bytes:
        """What is kept under `key`, made if it is not there."""
        with self._lock:
            if (found := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return found
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


def sent(data: bytes) -> HttpResponse:
    return HttpResponse(data, content_type=TYPE)

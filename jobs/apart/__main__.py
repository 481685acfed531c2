"""The child: answers questions from standard input until there are no more, within its limits."""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

from . import followed, judged

GRACE = 5
"""Seconds after a question's deadline at which the child ends by itself, should nobody be there to end it."""
ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {"judge": judged.judge, "follow": followed.follow}


def main() -> None:
    logging.disable(logging.CRITICAL)
    _limit(int(sys.argv[1]))
    while line := sys.stdin.buffer.readline():
        print(json.dumps(_answer(line)), flush=True)
        signal.alarm(0)


def _answer(line: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(line)
        signal.alarm(int(asked["seconds"]) + GRACE)
        return {"answer": ANSWERS[asked["ask"]](asked["values"])}
    except MemoryError:
        return {"error": "memory"}
    except Exception as error:  # noqa: BLE001  (whatever a log may provoke)
        return {"error": f"It could not be read: {type(error).__name__}: {error}"[:500]}


def _limit(memory: int) -> None:
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, hard))


main()

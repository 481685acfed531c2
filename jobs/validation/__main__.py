"""The child process of apart.py: one request on standard input, findings on standard output."""

from __future__ import annotations

import json
import logging
import resource
import sys
import time

from . import findings, text
from .apart import received


def main() -> None:
    logging.disable(logging.CRITICAL)
    asked = json.loads(sys.stdin.buffer.readline())
    _limit(asked["memory"], asked["seconds"])
    text.read_until(time.monotonic() + asked["seconds"] * 0.8)
    for finding in findings(received(asked["request"])):
        print(json.dumps({"finding": finding.as_dict()}), flush=True)
    print(json.dumps({"done": True}), flush=True)


def _limit(memory: int, seconds: float) -> None:
    """Data, not address space: ShellCheck, started from here, reserves much of that without using it."""
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, int(seconds) + 1), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, hard))


main()

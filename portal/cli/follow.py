"""Waiting for a job: by its status, or by its output as it is written. Ctrl-C ends the waiting, never the job."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from typing import Any

from rich.markup import escape

from . import show
from .api import Api

WAIT = 20
"""Seconds that the portal holds a request for more output."""
PAUSES = (0.5, 1, 2, 3, 5)
OUTPUT = ("Running Job", "Stopping Cluster")
"""Statuses in which there is, or may be, output."""


def wait_for(api: Api, job: str) -> dict[str, Any]:
    """The job once it is over. Where it stands meanwhile, and why it waits, is told as a note."""
    return _watched(api, job, ())


def follow(api: Api, job: str, stream: str = "stdout") -> dict[str, Any]:
    """Prints a stream from its beginning, byte for byte, until the job is over; then the job."""
    _watched(api, job, OUTPUT)
    offset, more = 0, True
    while more:
        answer = api.ask("GET", f"/api/v2/jobs/{job}/log/", params={"offset": offset, "wait": WAIT, "stream": stream})
        sys.stdout.buffer.write(answer.content)
        sys.stdout.buffer.flush()
        offset = int(answer.headers["X-Log-Offset"]) + len(answer.content)
        more = answer.headers["X-Log-Complete"] != "1" or (bool(answer.content) and offset < int(answer.headers["X-Log-Size"]))
    return wait_for(api, job)


def _watched(api: Api, job: str, enough: Collection[str]) -> dict[str, Any]:
    """The job once it is over, or in one of these statuses."""
    number, told = 0, ""
    while (found := api.get(f"jobs/{job}/"))["outcome"] is None and found["headraceStatus"] not in enough:
        now = ": ".join(part for part in (show.standing(found), escape(show.about(found))) if part)
        if now != told:
            show.notes.print(now, soft_wrap=True)
            told = now
        time.sleep(PAUSES[min(number, len(PAUSES) - 1)])
        number += 1
    return dict(found)


def ended(job: dict[str, Any]) -> int:
    """The exit code for a job that is over: its command's own where there is one; never 0 for what did not complete."""
    code = job["exitCode"]
    if job["outcome"] == "completed":
        return int(code or 0)
    if job["signal"] and not code:
        return 128 + int(job["signal"])
    return int(code or 1)

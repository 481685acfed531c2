"""Waiting for a job: by its status, or by its output as it is written. Ctrl-C ends the waiting, never the job."""

from __future__ import annotations

import sys
import time
from typing import Any

from .api import Api

WAIT = 20
"""Seconds that the portal holds a request for more output."""
PAUSES = (0.5, 1, 2, 3, 5)


def wait_for(api: Api, job: str) -> dict[str, Any]:
    """The job once it is over."""
    number = 0
    while (found := api.get(f"jobs/{job}/"))["outcome"] is None:
        time.sleep(PAUSES[min(number, len(PAUSES) - 1)])
        number += 1
    return dict(found)


def follow(api: Api, job: str, stream: str = "stdout") -> dict[str, Any]:
    """Prints a stream from its beginning, byte for byte, until the job is over; then the job."""
    offset, more = 0, True
    while more:
        answer = api.ask("GET", f"/api/v2/jobs/{job}/log/", params={"offset": offset, "wait": WAIT, "stream": stream})
        sys.stdout.buffer.write(answer.content)
        sys.stdout.buffer.flush()
        offset = int(answer.headers["X-Log-Offset"]) + len(answer.content)
        more = answer.headers["X-Log-Complete"] != "1" or (bool(answer.content) and offset < int(answer.headers["X-Log-Size"]))
    return wait_for(api, job)


def ended(job: dict[str, Any]) -> int:
    """The exit code for a job that is over: its command's own where there is one; never 0 for what did not complete."""
    code = job["exitCode"]
    if job["outcome"] == "completed":
        return int(code or 0)
    if job["signal"] and not code:
        return 128 + int(job["signal"])
    return int(code or 1)

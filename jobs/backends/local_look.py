"""A short look at this machine for the portal itself: a few shell lines of the catalogue, and what they print.

The one idea: it runs as little as a cluster's command can touch: a folder of its own that is removed, an environment that holds
nothing of ours, nobody's rights where the portal has root's, an end after its time.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from typing import Any

from .local_agents import PATH

MOST = 64 << 10
"""Bytes of output that are read."""
NOBODY = 65534


def look(script: str, seconds: float) -> str:
    """What the script prints on both streams, at most MOST bytes; what came until `seconds` were over."""
    with tempfile.TemporaryDirectory(prefix="headrace-look-") as folder:
        who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        if who:
            os.chown(folder, NOBODY, NOBODY)
        environment = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder}
        process = subprocess.Popen(
            ["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, **who,
        )  # fmt: skip
        assert process.stdout
        try:
            out = _read(process.stdout.fileno(), time.monotonic() + seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.stdout.close()
            process.wait()
    return out.decode("utf-8", "replace")


def _read(pipe: int, end: float) -> bytes:
    """What comes until everybody closed it, there is enough, or time is over."""
    out = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(out) < MOST and (left := end - time.monotonic()) > 0 and selector.select(left):
            data = os.read(pipe, MOST - len(out))
            if not data:
                break
            out += data
    return out

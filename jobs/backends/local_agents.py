"""The agents of a cluster on this machine: starting them, and telling from their marks whether they live.

The one idea: an agent is found by the start file among the words of its command line from its first moment on, and by
the pid files in its folder as soon as it wrote them; only when both say no is it gone.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

from . import local_processes as processes
from .base import Described, State
from .local_folders import CREATED, make, write

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
START_FILE = "CONFIG.json"
PID_FILES = ("holder.pid", "reporter.pid")

_YOUNG = 30.0  # seconds after creation in which an agent may be between two of its processes
_TAIL = 4096  # bytes of an agent's log that are looked at
_UP = Described(State.UP)
_PENDING = Described(State.PENDING, "being made")


def start(words: list[str], token: str, node: Path, config: dict[str, Any]) -> subprocess.Popen[bytes] | None:
    """Write the start file into the node's folder and start its agent, which puts itself into the background.

    None if an earlier try started it. Its environment holds nothing of ours but the token.
    """
    if node.exists() and (any((node / name).exists() for name in PID_FILES) or _is_starting(node)):
        return None
    make(node, 0o700)
    write(node / START_FILE, config)
    environment = {"PATH": PATH, "LANG": "C.UTF-8", "HEADRACE_TOKEN": token}
    with open(node / "start.log", "ab") as log:
        return subprocess.Popen(
            [*words, str(node / START_FILE)], cwd=node, env=environment,
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip


def look(cluster: Path) -> Described:
    """How a cluster is whose folder exists: up while any agent of it lives or was let go by the portal."""
    created = (cluster / CREATED).exists()  # read first: if it is there, every agent was started before we look
    nodes = sorted(cluster.glob("node-*"))
    if any(_has_marks(node) for node in nodes):
        return _UP
    if not created:
        return _PENDING
    if any(_is_starting(node) for node in nodes) or _comes_late(cluster, nodes):
        return _UP
    return Described(State.FAILED, _last_words(cluster / "node-0"))


def _has_marks(node: Path) -> bool:
    """An agent that lives, or one that ended because the portal let it go."""
    living = any(processes.alive(node / name) for name in PID_FILES)
    return living or (node / "released").exists()


def _is_starting(node: Path) -> bool:
    """A process that was started with this node's start file."""
    runs_it = processes.started_with(str(node / START_FILE))
    return any(runs_it(pid) for pid in processes.pids())


def _comes_late(cluster: Path, nodes: list[Path]) -> bool:
    """A young agent may have forked between the look at the list of processes and at each of them: look again."""
    if time.time() - (cluster / CREATED).stat().st_mtime > _YOUNG:
        return False
    for _ in range(2):
        time.sleep(0.02)
        if any(_has_marks(node) or _is_starting(node) for node in nodes):
            return True
    return False


def _last_words(node: Path) -> str:
    """The last line of the agent's own log, else of what its start said."""
    for name in ("agent.log", "start.log"):
        lines = [line.strip() for line in _tail(node / name).split("\n")]
        words = [line for line in lines if line]
        if words:
            return f"its agent ended: {words[-1][:500]}"
    return "its agent ended without a word"


def _tail(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""

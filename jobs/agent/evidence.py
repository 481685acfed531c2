"""What a workstation's beats say beside health: whether somebody uses it, and whether it computes.

The one idea: the session's own machinery (display, window manager, an idle server) is not work. Cores in use are counted
process by process without it; what a machine of another kind can't tell stays None.
"""
import calendar
import glob
import json
import os
import re
import shutil
import subprocess
import time
from fnmatch import fnmatchcase
from http.client import HTTPConnection, HTTPException
from typing import Any, Dict, List, Optional, Tuple

from . import doors, tree
from .config import Config
from .folder import Refused
from .relay import Relay

_MACHINERY = {"Xtigervnc", "Xvnc", "vncconfig", "xterm", "bwrap"}
_SIGNS = ("session.pyz", "jupyter-lab", "openbox", "xfwm4", "icewm", "fluxbox")  # words' endings of the session's own processes
_PATIENCE = 2.0  # seconds for a session's server to answer
_BUSY_FILES = "/sys/class/drm/card*/device/gpu_busy_percent"


class Evidence:
    """Made new with every life of the reporter; the first sample has no rate yet."""

    def __init__(self, config: Config, session: Dict[str, Any], relay: Relay) -> None:
        self._config, self._relay = config, relay
        self._solvers = [str(name) for name in session.get("solvers") or []]
        self._base = str(session.get("base") or "/") if session.get("kind") == "jupyter" else ""
        self._ticks: Dict[Tuple[int, int], int] = {}
        self._at: Optional[float] = None
        self._smi = shutil.which("nvidia-smi")

    def sample(self, family: List[tree.Process]) -> Dict[str, Any]:
        """input_at (time.time() or None), busy (cores), gpu (0..1 or None), programs (solvers that run)."""
        return {
            "input_at": self._input_at(), "busy": self._busy(family), "gpu": self._gpu(), "programs": self._programs(family),
        }

    def _busy(self, family: List[tree.Process]) -> float:
        now = time.monotonic()
        before, since = self._ticks, self._at
        mine = [one for one in family if not _is_machinery(one.pid)]
        self._ticks = {(one.pid, one.starttime): one.user + one.system + one.children for one in mine}
        self._at = now
        if since is None or now <= since:
            return 0.0
        grown = sum(max(0, ticks - before.get(key, 0)) for key, ticks in self._ticks.items())
        return round(grown / tree.TICKS / (now - since), 3)

    def _programs(self, family: List[tree.Process]) -> List[str]:
        """Those that fit a known name (or a pattern like `*Foam`), by the program's name or that of the script it runs."""
        if not self._solvers:
            return []
        running = {os.path.basename(word) for one in family for word in tree.words(one.pid)[:2]}
        return sorted(name for name in running if any(fnmatchcase(name, solver) for solver in self._solvers))[:20]

    def _input_at(self) -> Optional[float]:
        moments = [moment for moment in (self._relay.input_at, self._kernels_used()) if moment]
        return max(moments) if moments else None

    def _kernels_used(self) -> Optional[float]:
        """When a kernel of JupyterLab last had anything to do."""
        if not self._base:
            return None
        try:
            kernels = json.loads(self._ask(self._base + "api/kernels").decode("utf-8"))
            found = [_moment(str(kernel.get("last_activity"))) for kernel in kernels]
        except (OSError, Refused, HTTPException, ValueError, AttributeError):
            return None
        return max([moment for moment in found if moment] or [0.0]) or None

    def _ask(self, path: str) -> bytes:
        connection = HTTPConnection("localhost")
        connection.sock = doors.connect(self._config, "app")
        connection.sock.settimeout(_PATIENCE)
        try:
            connection.request("GET", path)
            return connection.getresponse().read(1 << 20)
        finally:
            connection.close()

    def _gpu(self) -> Optional[float]:
        """The busiest GPU of the node."""
        shares = [_percent(path) for path in glob.glob(_BUSY_FILES)] + self._nvidia()
        known = [share for share in shares if share is not None]
        return max(known) if known else None

    def _nvidia(self) -> List[Optional[float]]:
        if not self._smi:
            return []
        words = [self._smi, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        try:
            told = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_PATIENCE).stdout
        except (OSError, subprocess.SubprocessError):
            return []
        return [int(word) / 100.0 for word in told.split() if word.isdigit()]


def _is_machinery(pid: int) -> bool:
    if tree.name(pid) in _MACHINERY:
        return True
    return any(word.endswith(_SIGNS) for word in tree.words(pid)[:5])


def _percent(path: str) -> Optional[float]:
    try:
        with open(path) as file:
            return int(file.read()) / 100.0
    except (OSError, ValueError):
        return None


def _moment(text: str) -> Optional[float]:
    """Seconds since 1970 of a time like 2026-01-31T12:30:00.123456Z (always UTC there)."""
    found = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", text)
    return float(calendar.timegm(time.strptime(found.group(1), "%Y-%m-%dT%H:%M:%S"))) if found else None

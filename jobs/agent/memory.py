"""Whether a command was killed for want of memory.

The one idea: the kernel's own counters decide (cgroup v2 memory.events, v1 memory.oom_control, the machine's oom_kill);
only without them is it guessed from the way it died and the memory it had.
"""
import os
from typing import List, Optional

from .config import Config

_KILLED_CODES = (137, 134, 139)  # what shells and MPI launchers say of SIGKILL, SIGABRT, SIGSEGV
_NEAR = 0.85  # a peak above this share of the limit speaks for it


class Watch:
    """Counters as they were before the command, to be compared with those after it."""

    def __init__(self, config: Config) -> None:
        self._limit = config.memory
        self._address_limit = config.rlimits.get("as")
        self._before = {path: _oom_kills(path) for path in _counters(config.cgroups)}
        self._machine_before = _oom_kills("/proc/vmstat")

    def killed(self, code: Optional[int], number: Optional[int], peak: int) -> bool:
        """`peak`: the largest resident size of one process, in bytes."""
        if code == 0:
            return False
        if any(_oom_kills(path) > before for path, before in self._before.items()):
            return True
        violent = number == 9 or code in _KILLED_CODES
        if violent and _oom_kills("/proc/vmstat") > self._machine_before:
            return True
        return not self._before and self._guess(violent, peak)

    def _guess(self, violent: bool, peak: int) -> bool:
        if self._address_limit and peak > _NEAR * self._address_limit:
            return True
        return bool(violent and self._limit and peak > _NEAR * self._limit)


def _counters(cgroups: List[str]) -> List[str]:
    paths = [os.path.join(folder, name) for folder in cgroups for name in ("memory.events", "memory.oom_control")]
    return [path for path in paths if os.path.exists(path)]


def _oom_kills(path: str) -> int:
    try:
        with open(path) as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0

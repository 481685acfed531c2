"""Process trees by /proc: who descends from whom, who carries the cluster's token, and ending them.

The one idea: a process is (pid, start time), never a pid alone; a zombie counts as dead.
"""
import os
import signal
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """A line of /proc/PID/stat; times in clock ticks, `resident` in bytes."""

    pid: int
    parent: int
    status: str
    user: int
    system: int
    children: int
    starttime: int
    resident: int

    @property
    def alive(self) -> bool:
        return self.status not in "ZXx"


def look(pid: int) -> Optional[Process]:
    """One process, or None if there is none."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            text = file.read()
    except OSError:
        return None
    rest = text[text.rindex(b")") + 2:].split()  # the name before it may hold anything
    return Process(
        pid, int(rest[1]), rest[0].decode(), int(rest[11]), int(rest[12]), int(rest[13]) + int(rest[14]),
        int(rest[19]), int(rest[21]) * PAGE,
    )


def everyone() -> Dict[int, Process]:
    """All processes by pid."""
    found = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in found if process}


def descendants(root: int, without: Iterable[int] = ()) -> List[Process]:
    """All that descends from root, zombies too; branches whose top is in `without` are left out."""
    children: Dict[int, List[Process]] = {}
    for process in everyone().values():
        children.setdefault(process.parent, []).append(process)
    left_out = set(without)
    found: List[Process] = []
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in left_out:
                found.append(child)
                waiting.append(child.pid)
    return found


def same(pid: int, starttime: int) -> bool:
    """Whether this very process is still alive."""
    process = look(pid)
    return process is not None and process.alive and process.starttime == starttime


def marked(token: str, uid: Optional[int] = None) -> List[Process]:
    """Living processes of a command: their environment carries the token, or they run as the cluster's own user.

    An agent's environment carries the token too, but no job folder.
    """
    needles = b"\0HEADRACE_TOKEN=" + token.encode() + b"\0", b"\0HEADRACE_JOB_DIR="
    found = []
    for process in everyone().values():
        if process.alive and (_carries(process.pid, needles) or (uid and _owner(process.pid) == uid)):
            found.append(process)
    return found


def name(pid: int) -> str:
    """Its program's name, at most 15 letters; "" if it is gone."""
    try:
        with open("/proc/%d/comm" % pid, "rb") as file:
            return file.read().rstrip(b"\n").decode("utf-8", "replace")
    except OSError:
        return ""


def words(pid: int) -> List[str]:
    """Its command line; empty if it has none or is gone."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().rstrip(b"\0").decode("utf-8", "surrogateescape").split("\0")
    except OSError:
        return []


def last_word(pid: int) -> str:
    """The last word of its command line; "" if it has none or is gone."""
    return (words(pid) or [""])[-1]


def in_cgroups(folders: Iterable[str]) -> Set[int]:
    """Pids listed by the cgroups, those below them too."""
    found: Set[int] = set()
    for folder in folders:
        for path, _, names in os.walk(folder):
            if "cgroup.procs" in names:
                found.update(_pids(os.path.join(path, "cgroup.procs")))
    return found


def signal_all(processes: Iterable[Process], number: int) -> int:
    """Sends a signal to each that is still itself; returns to how many."""
    reached = 0
    for process in processes:
        if same(process.pid, process.starttime):
            try:
                os.kill(process.pid, number)
                reached += 1
            except OSError:
                pass
    return reached


def kill_until_gone(find: Callable[[], List[Process]]) -> int:
    """Kills what `find` returns until it returns nothing; returns how many it were. Stops them first, so that none forks on."""
    seen: Set[Tuple[int, int]] = set()
    pause = 0.002
    while True:
        living = [process for process in find() if process.alive]
        if not living:
            return len(seen)
        seen.update((process.pid, process.starttime) for process in living)
        signal_all(living, signal.SIGSTOP)
        signal_all(living, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 2, 0.1)


def family(pid: int) -> Set[int]:
    """The process and its ancestors: never to be ended by a search for the token."""
    found: Set[int] = set()
    process = look(pid)
    while process and process.pid not in found:
        found.add(process.pid)
        process = look(process.parent)
    return found


def _carries(pid: int, needles: Iterable[bytes]) -> bool:
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            text = b"\0" + file.read() + b"\0"
    except OSError:
        return False
    return all(needle in text for needle in needles)


def _owner(pid: int) -> int:
    """The real uid; the owner of /proc/PID would be root for a process that hides its memory."""
    try:
        with open("/proc/%d/status" % pid, "rb") as file:
            return next((int(line.split()[1]) for line in file if line.startswith(b"Uid:")), 0)
    except OSError:
        return 0


def _pids(path: str) -> List[int]:
    try:
        with open(path) as file:
            return [int(line) for line in file if line.strip() != "0"]
    except (OSError, ValueError):
        return []

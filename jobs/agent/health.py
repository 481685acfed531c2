"""Figures of the node and of the command's tree, from /proc.

The one idea: processor time of ended children stays in their parents' counters, so the tree's sum only grows and its
growth over the monotonic clock is "cores in use".
"""
import heapq
import os
import shutil
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import marks, tree
from .config import Config
from .folder import Folder
from .walk import walk
from .wire import text

NEWEST = 2000  # files named in a beat
_ROOM = 400000  # bytes of a beat for their names
_SHARE = 0.05  # of the time may go into looking through the job folder
_LONGEST_LOOK = 2.0  # seconds; of a folder without end the figures are "at least"
_FINE = 64  # processes up to which shared pages are told apart


class Scan(NamedTuple):
    """The job folder: bytes on disk and in files, and the newest files."""

    disk: int = 0
    size: int = 0
    files: int = 0
    newest: Tuple[Tuple[int, str, int], ...] = ()


class Health:
    """Makes beats. `holder` is the pid whose descendants are the command."""

    def __init__(self, config: Config, holder: int) -> None:
        self._config, self._holder = config, holder
        self._ticks, self._bytes_in, self._bytes_out = 0, 0, 0
        self._at: Optional[float] = None
        self._scan = Scan()
        self._scan_due = 0.0

    def sample(self) -> Dict[str, Any]:
        """One beat's body."""
        now = time.monotonic()
        family = self.family()
        body: Dict[str, Any] = {"clock": time.time(), "monotonic": now, "processes": len(family)}
        body.update(self._rates(now, family))
        body.update(memory=_memory(family), memory_total=self._config.memory or self.memory_total())
        body.update(disk_free=shutil.disk_usage(self._config.workdir).free)
        body.update(self._files(now))
        return body

    def family(self) -> List[tree.Process]:
        """The living processes of the command."""
        return [process for process in tree.descendants(self._holder, {os.getpid()}) if process.alive]

    @staticmethod
    def memory_total() -> int:
        """Bytes of memory of the machine."""
        return os.sysconf("SC_PHYS_PAGES") * tree.PAGE

    def _rates(self, now: float, family: List[tree.Process]) -> Dict[str, float]:
        ticks = sum(process.user + process.system + process.children for process in family) + self._reaped()
        bytes_in, bytes_out = _network()
        passed = now - self._at if self._at is not None else 0.0
        rates = {"cpu": 0.0, "net_in": 0.0, "net_out": 0.0}
        if passed > 0:
            rates["cpu"] = round(max(0, ticks - self._ticks) / tree.TICKS / passed, 3)
            rates["net_in"] = round(max(0, bytes_in - self._bytes_in) / passed)
            rates["net_out"] = round(max(0, bytes_out - self._bytes_out) / passed)
        self._at, self._ticks, self._bytes_in, self._bytes_out = now, ticks, bytes_in, bytes_out
        return rates

    def _reaped(self) -> int:
        holder = tree.look(self._holder)
        return holder.children if holder else 0

    def _files(self, now: float) -> Dict[str, Any]:
        """The job folder as last looked through; a big one is looked through less often."""
        if now >= self._scan_due and marks.exists(self._config.folder, marks.STARTED):
            self._scan = _look_through(self._config)
            self._scan_due = now + (time.monotonic() - now) / _SHARE
        scan = self._scan
        body: Dict[str, Any] = {"disk_used": scan.disk, "bytes_total": scan.size, "files_total": scan.files}
        body["files"] = list(_that_fit(scan))
        return body


def _look_through(config: Config) -> Scan:
    count, size, disk = 0, 0.0, 0.0
    until = time.monotonic() + _LONGEST_LOOK
    newest: List[Tuple[int, str, int]] = []
    try:
        folder = Folder(config.workdir)
    except OSError:
        return Scan()
    try:
        for entry in walk(folder.fd, in_order=False):
            if time.monotonic() > until:
                break
            if entry.kind != "file" or entry.status is None:
                continue
            names = entry.status.st_nlink or 1  # a file of several lies on the disk once: each has its share
            count, size, disk = count + 1, size + entry.status.st_size / names, disk + entry.status.st_blocks * 512 / names
            item = (entry.status.st_mtime_ns, text(entry.path), entry.status.st_size)
            (heapq.heappushpop if len(newest) >= NEWEST else heapq.heappush)(newest, item)
    finally:
        folder.close()
    return Scan(round(disk), round(size), count, tuple(sorted(newest, reverse=True)))


def _that_fit(scan: Scan) -> Iterator[Dict[str, Any]]:
    """The newest files, as many as a report may hold."""
    room = _ROOM
    for _, path, size in scan.newest:
        room -= 6 * len(path) + 40  # as JSON a letter may become six
        if room < 0:
            return
        yield {"path": path, "size": size}


def _memory(family: List[tree.Process]) -> int:
    """Bytes in memory; pages that several share count once, as long as there are few processes."""
    if len(family) > _FINE:
        return sum(process.resident for process in family)
    return sum(_share(process) for process in family)


def _share(process: tree.Process) -> int:
    try:
        with open("/proc/%d/smaps_rollup" % process.pid, "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return process.resident


def _network() -> Tuple[int, int]:
    """Bytes received and sent by all interfaces but the loopback."""
    total_in = total_out = 0
    for name, fields in _interfaces():
        if name != "lo":
            total_in, total_out = total_in + int(fields[0]), total_out + int(fields[8])
    return total_in, total_out


def _interfaces() -> Iterator[Tuple[str, List[str]]]:
    try:
        with open("/proc/net/dev") as file:
            lines = file.readlines()[2:]
    except OSError:
        return
    for line in lines:
        name, _, fields = line.partition(":")
        yield name.strip(), fields.split()

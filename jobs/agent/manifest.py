"""The manifest of the outputs: a line a file, first on disk, then with the portal.

The one idea: the lines on disk are also how far saving has come; parts are cut the same way each time, so sending them
again changes nothing.
"""
import json
import os
from typing import Any, Dict, Iterator, List, Tuple

from .config import Config
from .wire import FIRST_PAUSE, Portal, longer, patient

MANIFEST = "manifest.ndjson"
PART = 1 << 20  # bytes


class Lines:
    """The lines so far. When the disk is full, further ones are kept in memory: they are sent, only not found again."""

    def __init__(self, config: Config) -> None:
        self._path = config.path(MANIFEST)
        self._more: List[bytes] = []
        self.count, self._end = _whole_lines(self._path)

    def add(self, line: Dict[str, Any]) -> None:
        """Appends a file's line."""
        data = json.dumps(line).encode("ascii") + b"\n"
        self.count += 1
        if self._more or not self._appended(data):
            self._more.append(data)

    def __iter__(self) -> Iterator[bytes]:
        if self._end:
            with open(self._path, "rb") as file:
                yield from file
        yield from self._more

    def _appended(self, data: bytes) -> bool:
        """False leaves the file as it was."""
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        try:
            if os.pwrite(fd, data, self._end) == len(data):
                self._end += len(data)
                return True
        except OSError:
            pass
        finally:
            os.ftruncate(fd, self._end)
            os.close(fd)
        return False


class Manifest:
    """The lines, sent in parts."""

    def __init__(self, lines: Lines, portal: Portal) -> None:
        self._lines, self._portal = lines, portal
        self.totals = {"files": 0, "bytes": 0, "skipped": 0, "failed": 0}

    def send(self) -> Dict[str, int]:
        """Sends all parts, at least one; returns the totals."""
        number = 0
        part: List[bytes] = []
        weight = 0
        for line in self._lines:
            self._count(json.loads(line.decode("ascii")))
            if part and weight + len(line) > PART:
                self._part(number, part, False)
                number, part, weight = number + 1, [], 0
            part.append(line)
            weight += len(line)
        self._part(number, part, True)
        return self.totals

    def _count(self, line: Dict[str, Any]) -> None:
        for kind in ("skipped", "failed"):
            self.totals[kind] += kind in line
        if "sha256" in line:
            self.totals["files"] += 1
            self.totals["bytes"] += line["size"]

    def _part(self, number: int, lines: List[bytes], last: bool) -> None:
        """A part must arrive: without it nobody knows the files of it."""
        pause = FIRST_PAUSE
        data = b"".join(lines)
        while patient(self._portal, self._portal.check, "outputs/manifest", data, part=number, last=int(last)).code != 200:
            self._portal.wait(pause)
            pause = longer(pause)


def _whole_lines(path: str) -> Tuple[int, int]:
    """Number of whole lines of a file, and their length in bytes; a last half line is cut off."""
    count = end = 0
    if os.path.exists(path):
        with open(path, "rb+") as file:
            for line in file:
                if line.endswith(b"\n"):
                    count, end = count + 1, end + len(line)
            file.truncate(end)
    return count, end

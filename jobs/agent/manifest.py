"""The manifest of the outputs: a line a file, first on disk, then with the portal.

The one idea: the lines on disk are also how far saving has come; parts are cut the same way each time, so sending them
again changes nothing.
"""
import json
import os
from typing import Any, Dict, Iterator, List, Optional

from .config import Config
from .wire import FIRST_PAUSE, Portal, longer, patient

MANIFEST = "manifest.ndjson"
PART = 1 << 20  # bytes


class Manifest:
    """The lines on disk, sent in parts."""

    def __init__(self, config: Config, portal: Portal, instead: Optional[List[Dict[str, Any]]] = None) -> None:
        self._path, self._portal, self._instead = config.path(MANIFEST), portal, instead
        self.totals = {"files": 0, "bytes": 0, "skipped": 0, "failed": 0}

    def send(self) -> Dict[str, int]:
        """Sends all parts, at least one; returns the totals."""
        number = 0
        part: List[bytes] = []
        weight = 0
        for line in self._read():
            if part and weight + len(line) > PART:
                self._part(number, part, False)
                number, part, weight = number + 1, [], 0
            part.append(line)
            weight += len(line)
        self._part(number, part, True)
        return self.totals

    def _read(self) -> Iterator[bytes]:
        for line in self._lines():
            self._count(json.loads(line.decode("ascii")))
            yield line

    def _lines(self) -> Iterator[bytes]:
        if self._instead is not None:
            yield from (json.dumps(line).encode("ascii") + b"\n" for line in self._instead)
            return
        with open(self._path, "rb") as file:
            yield from file

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


def whole_lines(path: str) -> int:
    """Number of whole lines of a file; a last half line is cut off."""
    count = end = 0
    if os.path.exists(path):
        with open(path, "rb+") as file:
            for line in file:
                if line.endswith(b"\n"):
                    count, end = count + 1, end + len(line)
            file.truncate(end)
    return count

"""Reading output as it grows: parsers that see one line at a time, charts that stay small, a follower that can sleep and wake.

The one idea: a solver's `Log` is a plain dataclass of JSON-able facts. The verdict feeds it a whole file, the follower feeds
it what has just arrived; both get the same facts, and dump/load is the dataclass itself.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from .base import Alarm, Evidence, Files, Progress, Series
from .text import LINE, Lines, chunks, shown

logger = logging.getLogger(__name__)

POINTS = 400
SERIES = 16
STREAMS = 32
MARKS = 64
GROWTH = 1e6  # residuals that grow by this factor over their best are an alarm


@dataclass
class Chart:
    """Named series of (x, y), each thinned to every second point whenever it is full."""

    points: dict[str, list[list[float]]] = field(default_factory=dict)
    every: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    last: dict[str, list[float]] = field(default_factory=dict)
    tolerance: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, x: float, y: float) -> None:
        if not (math.isfinite(x) and math.isfinite(y)):
            return
        if name not in self.points:
            if len(self.points) >= SERIES:
                return
            self.points[name], self.every[name], self.seen[name] = [], 1, 0
        self.last[name] = [x, y]
        if self.seen[name] % self.every[name] == 0:
            self._keep(name, x, y)
        self.seen[name] += 1

    def wanted(self) -> bool:
        """Whether the next point of the series would be kept: if not, it need not even be read. Asks the first series."""
        name = next(iter(self.points), None)
        return name is None or self.seen[name] % self.every[name] == 0

    def skip(self) -> None:
        """Counts a point of every series without looking at it."""
        for name in self.seen:
            self.seen[name] += 1

    def series(self, x: str, logarithmic: bool) -> list[Series]:
        return [Series(name, self._whole(name), self.tolerance.get(name), x, logarithmic, self.seen[name]) for name in self.points]

    def _whole(self, name: str) -> tuple[tuple[float, float], ...]:
        points = self.points[name]
        whole = points if points and points[-1] == self.last[name] else [*points, self.last[name]]
        return tuple((x, y) for x, y in whole)

    def _keep(self, name: str, x: float, y: float) -> None:
        points = self.points[name]
        points.append([x, y])
        if len(points) >= POINTS:
            del points[1::2]
            self.every[name] *= 2


@dataclass
class Log:
    """Facts of one stream. Subclasses add JSON-able fields and `line`; class variables say how the chart reads."""

    name: str = ""
    marks: dict[str, list[Any]] = field(default_factory=dict)  # key -> [line number, text]
    chart: Chart = field(default_factory=Chart)
    alarmed: list[Any] | None = None  # [kind, message, line number, text, diverging]
    best: dict[str, float] = field(default_factory=dict)
    count: int = 0  # lines seen

    X: ClassVar[str] = "step"
    LOGARITHMIC: ClassVar[bool] = True

    def line(self, number: int, line: bytes) -> None:
        raise NotImplementedError

    def lines(self, first: int, found: list[bytes]) -> None:
        """Lines `first`, `first` + 1, ...; a solver with huge logs overrides this with a tighter loop."""
        for number, line in enumerate(found, first):
            self.line(number, line if len(line) <= LINE else line[:LINE])

    def progress(self) -> Progress | None:
        return None

    def mark(self, key: str, number: int, line: bytes | str, keep: str = "first") -> None:
        """Remembers a line for `evidence`; keep="last" lets later ones replace it."""
        if (key not in self.marks and len(self.marks) < MARKS) or (keep == "last" and key in self.marks):
            self.marks[key] = [number, shown(line)]

    def evidence(self, *keys: str) -> tuple[Evidence, ...]:
        return tuple(Evidence(self.name, *self.marks[key]) for key in keys if key in self.marks)

    def said(self, key: str) -> str:
        return str(self.marks[key][1]) if key in self.marks else ""

    def alarm(self, kind: str, message: str, number: int, line: bytes | str, diverging: bool = True) -> None:
        """The first alarm stays; one of divergence replaces one that is none."""
        if self.alarmed is None or (diverging and not self.alarmed[4]):
            self.alarmed = [kind, message, number, shown(line), diverging]

    def residual(self, name: str, x: float, y: float, number: int, line: bytes, floor: float = 1e-6) -> None:
        """A point of a residual series; alarms at NaN, and where it grows past GROWTH times its best value."""
        self.chart.add(name, x, y)
        if not math.isfinite(y):
            self.alarm("nan", f"{name} is not a number", number, line)
            return
        best = self.best.get(name)
        if best is None or y < best:
            self.best[name] = max(y, floor)
        elif y > best * GROWTH:
            self.alarm("growth", f"{name} grew from {best:.3g} to {y:.3g}", number, line)

    def dump(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def load(self, kept: dict[str, Any]) -> None:
        for one in dataclasses.fields(self):
            if one.name in kept:
                setattr(self, one.name, kept[one.name])
        self.chart = Chart(**kept["chart"])


L = TypeVar("L", bound=Log)


def parse(log: L, folder: Files, name: str, start: int = 0) -> L:
    """Feeds a whole file of the folder to a log."""
    log.name = name
    cut, number = Lines(), 1
    for data in chunks(folder, name, start):
        found = cut.push(data)
        log.lines(number, found)
        number += len(found)
    log.lines(number, cut.end())
    log.count = cut.count
    return log


class Live:
    """The follower of every solver: one parser a stream, chosen by the stream's name."""

    def __init__(self, choose: Callable[[str], Log | None]) -> None:
        self._choose = choose
        self._logs: dict[str, Log | None] = {}
        self._cuts: dict[str, Lines] = {}
        self._order: list[str] = []  # streams, the one that spoke last at the end

    def feed(self, stream: str, data: bytes) -> None:
        """The next bytes of a stream, in order. A stream that no parser wants costs nothing."""
        log = self._log(stream)
        if log is None:
            return
        cut = self._cuts[stream]
        first = cut.count + 1
        found = cut.push(data)
        if found:
            self._read(log, stream, first, found)
            log.count = cut.count
            self._order.remove(stream)
            self._order.append(stream)

    def _read(self, log: Log, stream: str, first: int, found: list[bytes]) -> None:
        try:
            log.lines(first, found)
        except (ValueError, LookupError, ArithmeticError, TypeError):
            logger.exception("a line of %s was not understood", stream)  # the rest of the piece is lost, the follower goes on

    def reset(self, stream: str) -> None:
        """The stream began anew (a new generation of its file)."""
        if stream in self._logs:
            del self._logs[stream]
            self._cuts.pop(stream, None)
            self._order = [name for name in self._order if name != stream]

    def progress(self) -> Progress | None:
        found = [log.progress() for log in self._known()]
        known = [progress for progress in found if progress]
        return max(known, key=lambda one: (one.percent is not None, one.percent or 0, one.step or 0), default=None)

    def alarm(self) -> Alarm | None:
        alarms = [(log.alarmed, log.name) for log in self._known() if log.alarmed]
        for (kind, message, number, text, diverging), name in sorted(alarms, key=lambda one: not one[0][4]):
            return Alarm(kind, message, Evidence(name, number, text), diverging)
        return None

    def series(self) -> Sequence[Series]:
        """Each name once: two streams that carry the same output (tee) are shown as one."""
        merged: dict[str, Series] = {}
        for log in self._known():
            for one in log.chart.series(log.X, log.LOGARITHMIC):
                if one.name not in merged or one.points_seen > merged[one.name].points_seen:
                    merged[one.name] = one
        return list(merged.values())[:SERIES]

    def dump(self) -> dict[str, Any]:
        """Everything needed to go on later, as JSON-able values."""
        logs = {name: log.dump() if log else None for name, log in self._logs.items()}
        cuts = {name: [cut.count, cut.rest.decode("latin-1")] for name, cut in self._cuts.items()}
        return json.loads(json.dumps({"logs": logs, "cuts": cuts, "order": self._order}))  # type: ignore[no-any-return]

    def load(self, kept: dict[str, Any]) -> None:
        for stream, facts in kept["logs"].items():
            log = self._log(stream)
            if log is not None and facts is not None:
                log.load(json.loads(json.dumps(facts)))
        for stream, (count, rest) in kept["cuts"].items():
            if stream in self._cuts:
                self._cuts[stream].count, self._cuts[stream].rest = count, rest.encode("latin-1")
        self._order = [name for name in kept["order"] if name in self._cuts]

    def _log(self, stream: str) -> Log | None:
        if stream not in self._logs:
            if len(self._logs) >= STREAMS:
                return None
            log = self._logs[stream] = self._choose(stream)
            if log is not None:
                log.name = stream.removeprefix("file:")
                self._cuts[stream] = Lines()
                self._order.append(stream)
        return self._logs[stream]

    def _known(self) -> list[Log]:
        return [log for name in reversed(self._order) if (log := self._logs.get(name))]

"""The child's answer to "follow": reads on in the streams of a running job, and says how far it is.

One idea: what is known of a job is a pair, the offsets read so far and the facts found up to there. It lies in one file that
is replaced as a whole, seldom; whoever finds an older pair reads on from there and comes to the same. So nothing is lost
and nothing is counted twice, whatever dies when, and two children may even do the same work.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import verdicts
from . import course
from .files import received

PIECE = 256 << 10
FOLLOWERS = 16
"""Jobs whose facts stay in memory; those of the others are read again from their files."""
SELDOM = 8 << 20
"""Bytes, and SECONDS, after which the pair is written again."""
SECONDS = 10.0
GAP = b"\0"
"""Stands for bytes that were not kept: breaks the number that they cut, ends no line."""


@dataclass
class Known:
    """The pair of one job, as this process has it, and what is already on disk."""

    follower: Any
    offsets: dict[str, list[int]] = field(default_factory=dict)  # stream: [generation, offset]
    stamp: tuple[int, ...] | None = None
    unwritten: int = 0
    written_at: float = 0.0
    charted: str = ""


_known: OrderedDict[str, Known] = OrderedDict()


def follow(values: dict[str, Any]) -> dict[str, Any]:
    """Reads at most `limit` bytes further. `values`: folder (of the pair), software, command, files, last (nothing comes
    any more), streams: [name, generation, path, size, gaps] each. The answer carries progress, alarm, series and `behind`."""
    folder = Path(values["folder"])
    known = _find(folder, values)
    share = max(PIECE, values["limit"] // max(len(values["streams"]), 1))
    behind = False
    for name, generation, path, size, gaps in values["streams"]:
        behind |= _read(known, name, generation, path, size, gaps, share)
    answer = _said(known) | {"behind": behind}
    _chart(known, folder)
    if known.unwritten and (values["last"] or known.unwritten >= SELDOM or time.monotonic() - known.written_at > SECONDS):
        _write(known, folder)
    return answer


def _find(folder: Path, values: dict[str, Any]) -> Known:
    """What this process knows, unless the file says that somebody else has gone on."""
    key, path = str(folder), folder / "known.json"
    stamp = _stamp(path)
    if key in _known and _known[key].stamp == stamp:
        _known.move_to_end(key)
        return _known[key]
    known = Known(verdicts.follow(values["software"], received(values["files"]), values["command"]), stamp=stamp)
    if stamp is not None:
        kept = json.loads(path.read_bytes())
        known.offsets = kept["offsets"]
        known.follower.load(kept["facts"])
    _known[key] = known
    while len(_known) > FOLLOWERS:
        old, one = _known.popitem(last=False)
        if one.unwritten:
            _write(one, Path(old))
    return known


def _read(known: Known, name: str, generation: int, path: str, size: int, gaps: list[list[int]], limit: int) -> bool:
    """Feeds what is new of one stream; whether more is there."""
    before, at = known.offsets.get(name, [generation, 0])
    if before != generation:
        known.follower.reset(name)
        at = 0
    end = min(size, at + limit)
    try:
        with open(path, "rb", buffering=0) as file:
            while at < end:
                at = _piece(known, name, file.fileno(), at, end, gaps)
    except FileNotFoundError:
        return False
    known.offsets[name] = [generation, at]
    return at < size


def _piece(known: Known, name: str, fd: int, at: int, end: int, gaps: list[list[int]]) -> int:
    """Feeds the next piece, or the sign of a gap; where the next one begins."""
    for first, last in gaps:
        if first <= at < last:
            known.follower.feed(name, GAP)
            known.unwritten += 1
            return last
    stop = min([end, at + PIECE, *(first for first, _ in gaps if first > at)])
    data = os.pread(fd, stop - at, at)
    if not data:
        raise FileNotFoundError(name)  # shorter than told: the next turn knows more
    known.follower.feed(name, data)
    known.unwritten += len(data)
    return at + len(data)


def _said(known: Known) -> dict[str, Any]:
    """Progress, alarm and the heads of the series, as the row of the job keeps them."""
    progress, alarm, series = known.follower.progress(), known.follower.alarm(), known.follower.series()
    heads = [course.of(one) for one in series if one.points]
    said: dict[str, Any] = {"text": "", "series": heads, "points": sum(one.points_seen for one in series)}
    if progress:
        said |= {"text": progress.text, "step": progress.step, "of": progress.steps}
        said |= {"time": _number(progress.time), "end": _number(progress.end)}
        percent = _number(progress.percent)
        said["percent"] = None if percent is None else round(min(100.0, max(0.0, percent)), 2)
    said["x"] = series[0].x if series else ""
    said["logarithmic"] = bool(series) and series[0].logarithmic
    said["direction"] = course.together(heads) if said["logarithmic"] else ""
    said["alarm"] = alarm and {
        "kind": alarm.kind, "message": alarm.message, "diverging": alarm.diverging,
        "file": alarm.evidence.file, "line": alarm.evidence.line, "text": alarm.evidence.text,
    }  # fmt: skip
    return said


def _number(value: float | None) -> float | None:
    """JSON has no NaN."""
    return value if value is not None and math.isfinite(value) else None


def _chart(known: Known, folder: Path) -> None:
    """The points of all series, for the page; written only when there are new ones."""
    series = known.follower.series()
    if not any(one.points for one in series):
        return
    text = json.dumps(
        {"series": [
            {"name": one.name, "points": one.points, "tolerance": one.tolerance, "x": one.x, "logarithmic": one.logarithmic}
            for one in series if one.points
        ]}
    )  # fmt: skip
    if text != known.charted:
        _replace(folder / "chart.json", text)
        known.charted = text


def _write(known: Known, folder: Path) -> None:
    path = folder / "known.json"
    _replace(path, json.dumps({"offsets": known.offsets, "facts": known.follower.dump()}))
    known.stamp, known.unwritten, known.written_at = _stamp(path), 0, time.monotonic()


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(text)
    part.replace(path)


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        info = path.stat()
    except FileNotFoundError:
        return None
    return info.st_ino, info.st_mtime_ns, info.st_size

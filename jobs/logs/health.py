"""What the nodes say of themselves: one growing file a node, the last record is the last sign of life.

The one idea: a beat costs no database row. The file's time of change is the portal's time of the last
report, so asking "when did we hear of whom" reads no file at all. The list of the job's files, which
is long, is kept apart and only once.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

Record = dict[str, Any]
READ_MOST = 64 << 20  # bytes of history that a chart reads: about a month of one node
PEAKS = ("cpu", "memory")  # the highest in a stretch is what a chart must not lose


def append_beat(directory: Path, node: int, record: Record, now: float | None = None) -> None:
    """Keeps a beat; `at` is added, the portal's clock in unix seconds. OSError when the disk is full."""
    now = time.time() if now is None else now
    record = {**record, "at": now}
    if "files" in record:
        names = {key: record.pop(key) for key in ("files", "files_total", "bytes_total") if key in record}
        _replace(_files(directory, node), names)
    _append(_beats(directory, node), json.dumps(record, separators=(",", ":")) + "\n", now)


def heard(directory: Path, node: int, now: float | None = None) -> None:
    """Notes a sign of life that carries no figures."""
    _append(_beats(directory, node), "", time.time() if now is None else now)


def last_beat(directory: Path, node: int) -> Record | None:
    """The newest record of a node, without its files; None before the first."""
    rows = _tail(_beats(directory, node), 1 << 16)
    return json.loads(rows[-1]) if rows else None


def listing(directory: Path, node: int = 0) -> Record:
    """The job's files as the node last told: {"files": [{"path", "size"}], "files_total", "bytes_total"}."""
    try:
        return json.loads(_files(directory, node).read_text())
    except FileNotFoundError:
        return {"files": [], "files_total": 0, "bytes_total": 0}


def last_heard(directory: Path) -> dict[int, float]:
    """When each node was last heard, in unix seconds of the portal's clock; reads no file."""
    try:
        with os.scandir(directory / "beats") as found:
            return {int(entry.name.split(".", 1)[0]): entry.stat().st_mtime for entry in found if entry.name.endswith(".ndjson")}
    except FileNotFoundError:
        return {}


def beats(directory: Path, node: int, since: float = 0.0, points: int = 300) -> list[Record]:
    """Records after `since`, oldest first, thinned out to `points`.

    Of each stretch the newest record stays, with the highest processor and memory figures in it.
    """
    found = [record for record in _newest(_beats(directory, node), since) if record["at"] > since]
    step = max(1, -(-len(found) // max(1, points)))
    return [_thin(found[first : first + step]) for first in range(0, len(found), step)]


def _newest(path: Path, since: float) -> list[Record]:
    """The end of the history that reaches back to `since`, or a little more: a chart that grows reads little."""
    most = 1 << 16
    while True:
        found = [json.loads(row) for row in _tail(path, most)]
        if not found or found[0]["at"] <= since or most >= min(READ_MOST, path.stat().st_size):
            return found
        most *= 8


def _thin(stretch: list[Record]) -> Record:
    peaks = {
        name: max(record[name] for record in stretch if record.get(name) is not None)
        for name in PEAKS
        if any(record.get(name) is not None for record in stretch)
    }
    return stretch[-1] | peaks


def _beats(directory: Path, node: int) -> Path:
    return directory / "beats" / f"{int(node)}.ndjson"


def _files(directory: Path, node: int) -> Path:
    return directory / "beats" / f"{int(node)}.files.json"


def _append(path: Path, text: str, now: float) -> None:
    fd = _open(path)
    try:
        os.write(fd, text.encode())
        os.utime(fd, (now, now))
    finally:
        os.close(fd)


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def _replace(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
    part.write_text(json.dumps(record, separators=(",", ":")))
    part.replace(path)


def _tail(path: Path, most: int) -> list[bytes]:
    """The last whole records within `most` bytes; one cut short by a full disk is left out."""
    try:
        with path.open("rb") as file:
            start = max(0, os.fstat(file.fileno()).st_size - most)
            file.seek(start)
            rows = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    return [row for row in rows[1 if start else 0 :] if row.startswith(b"{") and row.endswith(b"}")]

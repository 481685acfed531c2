"""Numbers out of CalculiX's result files (.frd, .dat, .sta): sizes, largest displacement, what is not a number, factors.

The one idea: a result may be gigabytes, so only its head (the model) and its last blocks (the result) are read.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from .base import Evidence, Files
from .text import chunks, head, lines, number, shown, tail

WHOLE = 48 << 20
PART = 16 << 20
_STA = re.compile(rb"^\s*(\d+)\s+(\d+)\s+(\d+)([A-Z]?)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)")
_NAN = re.compile(rb"^ -[12] *\d+.*?(?:nan|inf)", re.I | re.M)
_FACTOR = re.compile(rb"^\s*(\d+)\s+(-?\d\.\d+E[+-]\d+)\s*$")


@dataclass
class Results:
    """What a .frd (or .dat) holds. Lengths are in the deck's unit."""

    name: str
    size: float = 0.0  # diagonal of the model's box
    largest: float = 0.0  # largest displacement outside eigenmodes
    at: Evidence | None = None
    hottest: float = 0.0  # largest temperature by amount
    hot_at: Evidence | None = None
    not_a_number: Evidence | None = None
    blocks: int = 0
    complete: bool = False  # ends with its closing record
    low: list[float] = field(default_factory=lambda: [math.inf] * 3)
    high: list[float] = field(default_factory=lambda: [-math.inf] * 3)


@dataclass(frozen=True)
class Row:
    """A line of the .sta file."""

    step: int
    increment: int
    attempt: int
    converged: bool
    iterations: int
    time: float
    line: int
    text: str


def status(folder: Files, name: str) -> list[Row]:
    """The rows of a .sta file, at most the last 5,000."""
    rows: list[Row] = []
    for count, raw in lines(folder, name, WHOLE):
        row = row_of(raw, count)
        if row:
            rows.append(row)
            del rows[:-5000]
    return rows


def row_of(raw: bytes, count: int) -> Row | None:
    match = _STA.match(raw)
    if not match:
        return None
    step, increment, attempt, mark, iterations, _, time, _ = match.groups()
    return Row(int(step), int(increment), int(attempt), not mark, int(iterations), number(time) or 0.0, count, shown(raw))


def results(folder: Files, name: str) -> Results:
    """What the .frd holds; of a file beyond WHOLE only head and tail are read."""
    found = Results(name)
    size = folder.size(name)
    found.complete = tail(folder, name, 4096).rstrip().endswith(b" 9999")
    if size <= WHOLE:
        _blocks(found, head(folder, name, WHOLE), 1)
    else:
        _blocks(found, head(folder, name, PART), 1)
        _blocks(found, tail(folder, name, PART), None)
    found.not_a_number = _nan(folder, name)
    spans = [high - low for low, high in zip(found.low, found.high, strict=True) if high >= low]
    found.size = math.sqrt(sum(span * span for span in spans))
    return found


def printed(folder: Files, name: str) -> Results:
    """The same from a .dat file: largest printed displacement (eigenmodes left out) and what is not a number."""
    found, inside = Results(name), False
    for count, raw in lines(folder, name, WHOLE):
        if raw.startswith(b" displacements"):
            inside = b"time  0.0000000E+00" not in raw
        elif raw.strip() and not raw[:11].strip().isdigit():
            inside = False
        elif inside and raw.strip():
            _largest(found, [number(word) for word in raw[10:].split()[:3]], count, raw)
        if b"nan" in raw.lower() and raw[:11].strip().isdigit():
            found.not_a_number = found.not_a_number or Evidence(name, count, shown(raw))
    return found


def factors(folder: Files, name: str) -> list[tuple[float, Evidence]]:
    """The buckling factors of a .dat file."""
    found: list[tuple[float, Evidence]] = []
    inside = False
    for count, raw in lines(folder, name, WHOLE):
        if b"B U C K L I N G" in raw:
            inside = True
        elif b"E I G E N V A L U E" in raw:
            inside = False
        match = _FACTOR.match(raw) if inside and len(found) < 50 else None
        if match:
            found.append((number(match[2]) or 0.0, Evidence(name, count, shown(raw))))
    return found


def rigid_modes(folder: Files, name: str) -> list[Evidence]:
    """Eigenmodes of a .dat file whose eigenvalue is negative or next to nothing beside the largest: rigid body modes."""
    modes: list[tuple[float, Evidence]] = []
    inside = False
    for count, raw in lines(folder, name, WHOLE):
        inside = b"E I G E N V A L U E   O U T P U T" in raw or (inside and b"P A R T I C I P A T I O N" not in raw)
        said = raw.split()
        value = number(said[1]) if inside and len(said) in (4, 5) and said[0].isdigit() else None
        if value is not None and len(modes) < 500:
            modes.append((value, Evidence(name, count, shown(raw))))
    most = max((abs(value) for value, _ in modes), default=0.0)
    return [told for value, told in modes if value < 1e-6 * most]


def _blocks(found: Results, data: bytes, first: int | None) -> None:
    """Walks the records of a .frd: 2C nodes, -4 DISP values, 100C heads a result."""
    kind, mode = "", False
    for at, raw in enumerate(data.split(b"\n")):
        start = raw[:6]
        if start.startswith(b" -1"):
            if kind:
                _values(found, kind, raw, at + first if first else None)
        elif start.startswith(b" -4"):
            kind = {b"DISP": "disp", b"NDTE": "temp"}.get(raw[5:9], "") if not mode else ""
            found.blocks += 1
        elif start.startswith(b" -3"):
            kind = ""
        elif start == b"    2C":
            kind = "nodes"
        elif start == b"  100C":
            mode = raw.split()[-3:-2] in ([b"2"], [b"4"])  # frequencies, buckling modes: their size means nothing


def _values(found: Results, kind: str, raw: bytes, count: int | None) -> None:
    values = [number(raw[at : at + 12].strip()) for at in (13, 25, 37)]
    if kind == "disp":
        _largest(found, values, count, raw)
        return
    if kind == "temp":
        if values[0] is not None and math.isfinite(values[0]) and abs(values[0]) > found.hottest:
            found.hottest, found.hot_at = abs(values[0]), Evidence(found.name, count, shown(raw))
        return
    for axis, value in enumerate(values):
        if value is not None and math.isfinite(value):
            found.low[axis] = min(found.low[axis], value)
            found.high[axis] = max(found.high[axis], value)


def _largest(found: Results, values: list[float | None], count: int | None, raw: bytes) -> None:
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if known and max(known) > found.largest:
        found.largest = max(known)
        found.at = Evidence(found.name, count, shown(raw))


def _nan(folder: Files, name: str) -> Evidence | None:
    number_of = 1
    for data in chunks(folder, name):
        match = _NAN.search(data) if b"nan" in data.lower() or b"inf" in data.lower() else None
        if match:
            return Evidence(name, number_of + data.count(b"\n", 0, match.start()), shown(match[0]))
        number_of += data.count(b"\n")
    return None

"""What an OpenFOAM case asks for (controlDict, fvSchemes, fvSolution) and which results lie in it.

The one idea: a dictionary entry is read only if it is a plain value; what is computed or included is left unknown.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field

from .base import Evidence, Files
from .text import head, number, shown, tail, words

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_TIME = re.compile(r"^(?:processors?\d+[^/]*/)?(\d+(?:\.\d+)?(?:e[+-]?\d+)?)/(?:[^/]+/)*([^/]+)$")
_RESIDUALS = re.compile(r"residualControl\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", re.S)
_PAIR = re.compile(r'"?([\w.()|*"]+?)"?\s+([-+\d.eE]+)\s*;')
_WHOLE = 500  # bytes; a smaller file is no field with its boundary
STEADY = re.compile(r"(?i)simple|potentialFoam")


@dataclass(frozen=True)
class Case:
    """The folder of a case ("" is the job folder) and its plain entries."""

    folder: str
    entries: dict[str, str] = field(default_factory=dict)
    steady: bool | None = None  # None: not known
    criteria: dict[str, float] = field(default_factory=dict)

    def value(self, name: str) -> float | None:
        return number(self.entries[name]) if name in self.entries else None

    def place(self, name: str) -> str:
        return posixpath.join(self.folder, name)


def cases(folder: Files) -> list[str]:
    """The folders of all cases, the shallowest first."""
    found = [name.removesuffix("system/controlDict").rstrip("/") for name in folder.names() if name.endswith("system/controlDict")]
    return sorted((one for one in found), key=lambda one: (one.count("/") + bool(one), one))


def read(folder: Files, where: str) -> Case:
    control = _plain(folder, posixpath.join(where, "system/controlDict"))
    names = ("application", "startFrom", "startTime", "stopAt", "endTime", "deltaT", "writeControl", "writeInterval", "solver")
    entries = {name: match[1].strip() for name in names if (match := re.search(rf"(?:^|[\s;}}]){name}\s+([^;{{}}]+);", control))}
    schemes = _plain(folder, posixpath.join(where, "system/fvSchemes"))
    scheme = re.search(r"ddtSchemes\s*\{[^}]*default\s+(?:bounded\s+)?(\w+)", schemes)
    steady = scheme[1] in ("steadyState", "localEuler", "none") if scheme else None
    return Case(where, entries, steady, _criteria(_plain(folder, posixpath.join(where, "system/fvSolution"))))


def line_of(folder: Files, name: str, word: str) -> Evidence | None:
    """Where an entry stands, for people."""
    for count, line in enumerate(words(folder, name, 1 << 20).splitlines(), 1):
        if re.match(rf"\s*{word}\b", line):
            return Evidence(name, count, shown(line))
    return None


def written(folder: Files, case: Case, after: float | None) -> tuple[list[float], list[str]]:
    """Times later than `after` with fields in them, and the fields of the last of these that are empty or cut off."""
    prefix = f"{case.folder}/" if case.folder else ""
    fields: dict[float, list[str]] = {}
    for name in folder.names():
        match = _TIME.match(name[len(prefix) :]) if name.startswith(prefix) else None
        if not match or "/uniform/" in name or "/polyMesh/" in name or "/lagrangian/" in name:
            continue
        if after is None or float(match[1]) > after:
            fields.setdefault(float(match[1]), []).append(name)
    times = sorted(time for time, names in fields.items() if any(folder.size(name) for name in names))
    last = fields[max(fields)] if fields else []
    return times, [name for name in sorted(last) if not folder.size(name) or is_cut(folder, name)]


def is_cut(folder: Files, name: str) -> bool:
    """A field whose last bracket is missing: each ends with that of boundaryField, and a line of comment."""
    if name.endswith(".gz") or folder.size(name) < _WHOLE:
        return False
    start = head(folder, name, 4096)
    if b"FoamFile" not in start[:2048] or not re.search(rb"class\s+(vol|surface|point)\w*Field\s*;", start):
        return False
    end = re.sub(rb"//[^\n]*", b"", tail(folder, name, 400)).rstrip()
    return not end.endswith((b"}", b")", b";"))


def _plain(folder: Files, name: str) -> str:
    return _COMMENT.sub(" ", words(folder, name, 1 << 20))


def _criteria(text: str) -> dict[str, float]:
    match = _RESIDUALS.search(text)
    if not match or "{" in match[1]:
        return {}
    return {name.strip('"'): value for name, told in _PAIR.findall(match[1]) if (value := number(told)) is not None}

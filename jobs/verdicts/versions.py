"""Which version of its solver a run used, by the banner of its own output, against the version that was chosen.

The one idea: versions are compared only as far as both sides tell them ("2022" is 2022.5, "29Sep2021" is LAMMPS of that day);
what can't be compared is never called different.
"""

from __future__ import annotations

import re

from .base import Evidence, Files
from .sources import parts, stdout_of
from .text import head, shown

BANNERS = {
    "calculix": re.compile(rb"^.*CalculiX Version (\d[\w.]*)", re.M),
    "openfoam": re.compile(rb"^(?:\|.*\bVersion: +v?|Build *: (?:\S+ )?OPENFOAM=)(\d[\w.]*)", re.M),
    "lammps": re.compile(rb"^LAMMPS \((\d+ \w+ \d+)", re.M),
    "gromacs": re.compile(rb"^.*:-\) GROMACS - gmx [\w-]+, (\d[\d.]*)", re.M),
    "quantum_espresso": re.compile(rb"^ *Program [A-Z-]+ v\.(\d+(?:\.\d+)*)", re.M),
    "nwchem": re.compile(rb"^.*Package \(NWChem\) (\d[\w.]*)", re.M),
}
USUAL = {"lammps": ("log.lammps",), "gromacs": ("md.log",)}
HEAD = 32 << 10
_DAY = re.compile(r"(\d{1,2})[ _-]?([A-Za-z]{3})[a-z]*[ _-]?(\d{4})")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def ran(software: str, folder: Files, command: str, log: str | None) -> tuple[str, Evidence] | None:
    """The version that the run's output names, with its line; None where no output of this run does."""
    banner, names = BANNERS.get(software), set(folder.names())
    if banner is None:
        return None
    written = [part.place(name) for part in parts(command) for name in part.output]
    for name in dict.fromkeys([stdout_of(folder, log), *written, *USUAL.get(software, ())]):
        if name not in names:
            continue
        start = head(folder, name, HEAD)
        if found := banner.search(start):
            line = start.count(b"\n", 0, found.start()) + 1
            return found[1].decode("ascii", "replace"), Evidence(name, line, shown(found[0]))
    return None


def same(one: str, other: str) -> bool:
    """Whether two spellings may mean the same version; True where that can't be said."""
    first, second = _parsed(one), _parsed(other)
    if not first or not second or isinstance(first[0], int) != isinstance(second[0], int):
        return True
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]


def names_one(text: str) -> bool:
    """Whether the text names a version at all ("installed" does not)."""
    return bool(_parsed(text))


def _parsed(text: str) -> tuple[object, ...]:
    if day := _DAY.search(text):
        return f"{int(day[1])} {day[2].lower()} {day[3]}", ""
    found = _NUMBER.search(text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()

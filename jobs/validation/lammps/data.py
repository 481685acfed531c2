"""The head of a data file: counts, sections and the first atom, against the atom style of the script.

The one idea to know: LAMMPS reads exactly as many lines of a section as the header announces, so a line too many is taken for
the name of the next section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error
from ..text import lines
from . import rows
from .script import Command

_READ = 20_000
_HEAD = re.compile(r"^\s*(\d+)\s+(atom|bond|angle|dihedral|improper)(s| types)\s*$")
_SECTIONS = frozenset(
    ["Atoms", "Velocities", "Masses", "Ellipsoids", "Lines", "Triangles", "Bodies", "Bonds", "Angles", "Dihedrals", "Impropers", "Pair Coeffs",
     "PairIJ Coeffs", "Bond Coeffs", "Angle Coeffs", "Dihedral Coeffs", "Improper Coeffs", "BondBond Coeffs", "BondAngle Coeffs",
     "MiddleBondTorsion Coeffs", "EndBondTorsion Coeffs", "AngleTorsion Coeffs", "AngleAngleTorsion Coeffs", "BondBond13 Coeffs",
     "AngleAngle Coeffs", "Atom Type Labels", "Bond Type Labels", "Angle Type Labels", "Dihedral Type Labels", "Improper Type Labels"]
)  # fmt: skip
_COLUMNS = {"atomic": 5, "charge": 6, "bond": 6, "angle": 6, "molecular": 6, "full": 7, "sphere": 7, "dipole": 9}
_COUNTED = {"Masses": "atom", "Pair Coeffs": "atom", "Bond Coeffs": "bond", "Angle Coeffs": "angle", "Dihedral Coeffs": "dihedral"}
_LISTED = {"Atoms": "atom", "Velocities": "atom", "Bonds": "bond", "Angles": "angle", "Dihedrals": "dihedral", "Impropers": "improper"}


@dataclass
class Section:
    line: int
    hint: str = ""  # the style behind `Atoms #`
    first: tuple[int, list[str]] | None = None
    count: int = 0
    rows: list[tuple[int, list[str]]] = field(default_factory=list)  # line, first words
    extra: int = 0  # the first line beyond what was announced
    whole: bool = False  # read to its end


@dataclass
class Data:
    name: str
    counts: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)


def read(inputs: Inputs, name: str) -> Data:
    """The header, and of each section within the first lines its beginning and its length."""
    data, at = Data(name), None
    for line in lines(inputs, name, _READ):
        text, _, comment = line.text.partition("#")
        words = text.split()
        if line.number == 1 or not words or (at and line.number == at.line + 1):
            continue  # the line behind a title is passed over, whatever it holds
        title = " ".join(words)
        if title in _SECTIONS:
            if at:
                at.whole = True
            at = data.sections[title] = Section(line.number, comment.strip())
        elif at is not None:
            at.count += 1
            at.first = at.first or (line.number, words)
            at.rows.append((line.number, words[:6]))
            at.extra = at.extra or (line.number if at.count > _announced(data, at) else 0)
        elif found := _HEAD.match(text):
            (data.counts if found[3] == "s" else data.types)[found[2]] = int(found[1])
    else:
        if at:
            at.whole = line.number < _READ
    return data


def check(data: Data, style: Command | None, plain: bool) -> Iterator[Finding]:
    """`style`: the script's atom_style, if it is plain; `plain`: read_data has no further words."""
    if not plain:
        return
    for title, section in data.sections.items():
        kind = _COUNTED.get(title)
        wanted = data.types.get(kind, 0) if kind else data.counts.get(_LISTED.get(title, ""), -1)
        if wanted < 0 or (title not in _COUNTED and title not in _LISTED):
            continue
        if section.count > wanted or (section.whole and section.count < wanted):
            words = f"{kind} type{'s' * (wanted != 1)}" if kind else f"{_LISTED[title]}s"
            line = section.extra or section.line
            yield error(f"{data.name} line {line}: {title} lists {'more than ' if not section.whole else ''}"
                        f"{section.count if section.whole else wanted}, the header announces {wanted} {words}.", file=data.name, line=line,
                        thing=title, remedy="Make the header and the section agree.")  # fmt: skip
    yield from _columns(data, style)
    yield from rows.check(data, style)


def _columns(data: Data, style: Command | None) -> Iterator[Finding]:
    atoms = data.sections.get("Atoms")
    if atoms is None or atoms.first is None or style is None or style.word(0) not in _COLUMNS or len(style.words) > 1:
        return
    wanted, (line, words) = _COLUMNS[style.word(0)], atoms.first
    if len(words) in (wanted, wanted + 3):
        return
    fits = [name for name, count in _COLUMNS.items() if len(words) in (count, count + 3)]
    named = atoms.hint if atoms.hint in _COLUMNS else (fits[0] if fits else "")
    yield error(f"{data.name} line {line}: an atom of the style {style.word(0)} ({style.where}) has {wanted} or {wanted + 3} numbers, "
                f"this line of Atoms has {len(words)}.", file=data.name, line=line, thing="Atoms",
                remedy=f"Write atom_style {named}, or write the file anew." if named else "Write the file anew for this style.")  # fmt: skip


def _announced(data: Data, section: Section) -> int:
    title = next(name for name, one in data.sections.items() if one is section)
    if title in _COUNTED:
        return data.types.get(_COUNTED[title], 1 << 62)
    return data.counts.get(_LISTED.get(title, ""), 1 << 62)

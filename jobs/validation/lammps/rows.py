"""The rows of a data file: types beyond those of the header, bonds between atoms that are not there.

The one idea to know: only rows that were read are judged, and a missing atom only where all rows of Atoms were.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..base import Finding, error
from .script import Command

if TYPE_CHECKING:
    from .data import Data

_TYPE_AT = {"atomic": 1, "charge": 1, "sphere": 1, "dipole": 1, "bond": 2, "angle": 2, "molecular": 2, "full": 2}
_BONDED = {"Bonds": ("bond", 2), "Angles": ("angle", 3), "Dihedrals": ("dihedral", 4), "Impropers": ("improper", 4)}


def check(data: Data, style: Command | None) -> Iterator[Finding]:
    """`style`: the script's atom_style, None if it is not plain."""
    if style and len(style.words) == 1 and style.word(0) in _TYPE_AT:
        yield from _types(data, "Atoms", "atom", _TYPE_AT[style.word(0)])
    yield from _types(data, "Masses", "atom", 0)
    yield from _twice(data)
    for title, (kind, count) in _BONDED.items():
        yield from _types(data, title, kind, 1)
        yield from _atoms(data, title, kind, count)


def _types(data: Data, title: str, kind: str, at: int) -> Iterator[Finding]:
    section, most = data.sections.get(title), data.types.get(kind)
    for line, words in section.rows if section and most else ():
        word = words[at] if at < len(words) else ""
        if word.lstrip("-").isdigit() and not 1 <= int(word) <= (most or 0):
            yield error(f"{data.name} line {line}: {title} names type {word}, the header announces {most} {kind} type{'s' * (most != 1)}.",
                        file=data.name, line=line, thing=f"type {word}", remedy="Correct the type, or the number in the header.")  # fmt: skip
            return


def _twice(data: Data) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for line, words in data.sections["Atoms"].rows if "Atoms" in data.sections else ():
        if words[0] in seen and words[0].isdigit() and int(words[0]):
            yield error(f"{data.name} line {line}: atom {words[0]} was listed in line {seen[words[0]]} already.", file=data.name, line=line,
                        thing=words[0], remedy="Give each atom a number of its own.")  # fmt: skip
            return
        seen[words[0]] = line


def _atoms(data: Data, title: str, kind: str, count: int) -> Iterator[Finding]:
    atoms, section = data.sections.get("Atoms"), data.sections.get(title)
    if not atoms or not section or not atoms.whole or atoms.count != len(atoms.rows) or atoms.count != data.counts.get("atom"):
        return
    known = {words[0] for _, words in atoms.rows}
    for line, words in section.rows:
        missing = next((word for word in words[2 : 2 + count] if word.isdigit() and word not in known), None)
        if missing:
            yield error(f"{data.name} line {line}: the {kind} {words[0]} is on atom {missing}, which is not in Atoms.", file=data.name,
                        line=line, thing=missing, remedy="Correct the number, or add the atom.")  # fmt: skip
            return

"""Coordinates (.gro, and .pdb as far as atoms are counted): fixed columns, as many atoms as announced, and a box that is wide enough.

The one idea to know: the format goes by columns, so tabs spoil it; and the box stands in the last line, which is read
from the end of a big file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt

from ..base import Finding, Inputs, error
from ..text import lines, not_text
from .parameters import Mdp

_LOOKED_AT = 200_000  # lines of a file that are counted
_NAMED = 20_000  # atoms whose names are kept


@dataclass
class Gro:
    name: str
    atoms: int | None = None
    box: tuple[float, ...] | None = None
    findings: list[Finding] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the first atoms


def read(inputs: Inputs, name: str) -> Gro | None:
    """None for other formats."""
    if name.endswith(".pdb"):
        return _pdb(inputs, name)
    if not name.endswith(".gro"):
        return None
    gro = Gro(name)
    if trouble := not_text(inputs, name):
        gro.findings.append(trouble)
        return gro
    tail = ""
    counted = 0
    for line in lines(inputs, name, _LOOKED_AT):
        counted = line.number
        if line.number == 2:
            gro.findings += _count(gro, line.text)
        elif line.number > 2 and "\t" in line.text:
            gro.findings.append(_tabs(name, line.number))
            return gro
        elif gro.atoms is not None and 2 < line.number <= min(gro.atoms + 2, 1000) \
                and (problem := _columns(name, line.number, line.text, gro.atoms)):  # fmt: skip
            gro.findings.append(problem)
            return gro
        if gro.atoms is not None and line.number == gro.atoms + 3:
            tail = line.text
            break
        if line.number > 2 and len(gro.names) < _NAMED:
            gro.names.append(line.text[10:15].strip())
    _ending(inputs, gro, tail, counted)
    return gro


def _pdb(inputs: Inputs, name: str) -> Gro | None:
    """Atoms of the first model; None where places are given twice over, as nobody knows then which of them count."""
    gro = Gro(name, atoms=0)
    for line in lines(inputs, name, _LOOKED_AT + 1):
        if line.text.startswith(("ATOM  ", "HETATM")):
            if line.number > _LOOKED_AT or line.text[16:17].strip():
                return None
            gro.atoms = (gro.atoms or 0) + 1
        elif line.text.startswith(("ENDMDL", "END")):
            break
    return gro if gro.atoms else None


def _ending(inputs: Inputs, gro: Gro, tail: str, counted: int) -> None:
    if gro.atoms is None:
        return
    if not tail and counted >= _LOOKED_AT:
        tail = _last_line(inputs, gro.name)
    elif not tail or not _box(tail):
        what = f"ends in line {counted}" if not tail else "has another atom there"
        gro.findings.append(
            error(
                f"{gro.name} announces {gro.atoms} atoms in line 2, so line {gro.atoms + 3} must be the box; it {what}.",
                file=gro.name,
                line=2,
                thing=str(gro.atoms),
                remedy="Correct the number in line 2, or the list.",
            )  # fmt: skip
        )
        return
    gro.box = _box(tail)


def _count(gro: Gro, text: str) -> list[Finding]:
    word = text.strip()
    if word.isdigit():
        gro.atoms = int(word)
        if gro.atoms == 0:
            return [error(f"{gro.name} line 2: there are 0 atoms.", file=gro.name, line=2, thing="0", remedy="Add the atoms.")]
        return []
    return [error(f"{gro.name} line 2 must be the number of atoms, not {word[:40]!r}.", file=gro.name, line=2, thing=word[:40],
                  remedy="Line 1 is the title, line 2 the number of atoms.")]  # fmt: skip


def _tabs(name: str, number: int) -> Finding:
    return error(f"{name} line {number} has tabs; the format goes by columns.", file=name, line=number, thing="tab",
                 remedy="Replace the tabs by blanks so that the columns are right.")  # fmt: skip


def _columns(name: str, number: int, text: str, announced: int) -> Finding | None:
    if len(text) >= 39 and text[20:].count(".") >= 3:
        return None
    if _box(text):
        return error(f"{name} announces {announced} atoms in line 2, but {number - 3} come before the box in line {number}.",
                     file=name, line=2, thing=str(number - 3), remedy="Correct the number in line 2, or the list.")  # fmt: skip
    return error(f"{name} line {number} is not in the columns of the format: {text[:40]!r}.", file=name, line=number, thing="columns",
                 remedy="Residue 5+5, atom 5+5, then three positions of 8 columns each.")  # fmt: skip


def _box(text: str) -> tuple[float, ...] | None:
    words = text.split()
    if len(words) not in (3, 9):
        return None
    try:
        return tuple(float(word) for word in words)
    except ValueError:
        return None


def _last_line(inputs: Inputs, name: str) -> str:
    with inputs.open(name) as stream:
        try:
            stream.seek(-min(400, inputs.size(name)), io.SEEK_END)
        except (OSError, ValueError):
            return ""
        text = stream.read().decode("latin-1").strip()
    return re.split(r"[\r\n]+", text)[-1]


def check_box(gro: Gro, mdp: Mdp) -> Iterator[Finding]:
    if mdp.text("pbc", "xyz").lower() != "xyz" or not gro.box:
        return
    vectors = _vectors(gro.box)
    shortest = min(sqrt(sum(value * value for value in vector)) for vector in vectors)
    room = min(shortest / 2, *(gro.box[:3]))
    if min(gro.box[:3]) <= 0:
        yield error(f"{gro.name}: the box {' '.join(f'{value:g}' for value in gro.box[:3])} is empty.", file=gro.name, thing="box",
                    remedy="Set a box: gmx editconf -box.")  # fmt: skip
        return
    cutoffs = {name: mdp.number(name, 1.0) for name in ("rlist", "rcoulomb", "rvdw")}
    name, longest = max(cutoffs.items(), key=lambda item: item[1])
    value = mdp.values.get(name)
    if longest > room:
        yield error(f"The cut-off {name} = {longest:g} nm is longer than half the shortest box vector of {gro.name} ({shortest:g} nm).",
                    file=mdp.name, line=value.line if value else None, thing=name,
                    remedy="Make the box larger or the cut-offs smaller.")  # fmt: skip


def _vectors(box: tuple[float, ...]) -> list[tuple[float, float, float]]:
    if len(box) == 3:
        return [(box[0], 0, 0), (0, box[1], 0), (0, 0, box[2])]
    return [(box[0], box[3], box[4]), (box[5], box[1], box[6]), (box[7], box[8], box[2])]

"""Topology and coordinates side by side: as many atoms, and the same names in the same order.

The one idea to know: grompp takes the atoms of the coordinates in their order, whatever they are called; names that differ are a
warning, which ends it unless -maxwarn allows for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, error, warning
from .coordinates import Gro
from .topology import Topology


def check(top: Topology, gro: Gro, allowed: int) -> Iterator[Finding]:
    known = all(top.kind(name) for name, _, _, _ in top.molecules)
    if not top.counted or not top.molecules or not known or gro.atoms is None or gro.findings:
        return
    total = sum(top.atoms(name) * count for name, count, _, _ in top.molecules)
    if total != gro.atoms:
        yield error(f"{gro.name} has {gro.atoms} atoms, {top.name} makes {total}: the number of coordinates does not match.",
                    file=top.name, line=top.molecules[-1][3], thing=str(total), remedy=_correction(top, gro, total))  # fmt: skip
        return
    yield from _names(top, gro, allowed)


def _correction(top: Topology, gro: Gro, total: int) -> str:
    """The count that would fit, where changing that of one molecule is enough."""
    for name, count, _, line in reversed(top.molecules):
        atoms = top.atoms(name)
        fits, rest = divmod((gro.atoms or 0) - total + atoms * count, atoms) if atoms else (0, 1)
        if not rest and fits > 0:
            return f"Correct the numbers in [ molecules ]; {name} {fits} in line {line} would fit."
    return "Correct the numbers in [ molecules ]."


def _names(top: Topology, gro: Gro, allowed: int) -> Iterator[Finding]:
    make = warning if allowed else error
    for at, (here, (there, molecule, line)) in enumerate(zip(gro.names, _expected(top), strict=False), 1):
        if here and there and here.lower() != there.lower():
            yield make(f"Atom {at} is {here} in {gro.name}, but {there} (molecule {molecule}) in {top.name}: the names do not match.",
                       file=top.name, line=line, thing=molecule,
                       remedy="Put [ molecules ] into the order of the coordinates, or correct the names.")  # fmt: skip
            return


def _expected(top: Topology) -> Iterator[tuple[str, str, int]]:
    """(name of the atom, molecule, line in [ molecules ]) of the first atoms; ends where a molecule is too big to be known whole."""
    for name, count, _, line in top.molecules:
        kind = top.kind(name) or name
        if len(top.names.get(kind, [])) != top.molecule_types.get(kind):
            return
        for _ in range(count if top.names[kind] else 0):
            for atom in top.names[kind]:
                yield atom, name, line

"""Names that a topology uses, against those that it or its force field defines.

The one idea to know: only where everything was read, or is a known file of the installation, can a name be called undefined.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error
from .topology import Topology


def check(top: Topology) -> Iterator[Finding]:
    yield from top.findings
    if top.counted:
        yield from _molecules(top)
    if not top.complete:
        return
    for needed in ("defaults", "moleculetype", "system", "molecules"):
        if not top.directives[needed]:
            yield error(f"{top.name} has no [ {needed} ].", file=top.name, line=1, thing=needed, remedy=f"Add [ {needed} ].")
    for kind, (file, line) in top.used_types.items():
        if top.atom_types and kind not in top.atom_types:
            near = difflib.get_close_matches(kind, list(top.atom_types), 1, 0.5)
            yield error(f"{file} line {line}: the atom type {kind} is not in [ atomtypes ].", file=file, line=line, thing=kind,
                        remedy=f"The nearest is {near[0]}." if near else "Define it.")  # fmt: skip
    if top.molecules and sum(count for _, count, _, _ in top.molecules) == 0:
        yield error(f"{top.name}: [ molecules ] counts 0 molecules.", file=top.name, thing="molecules", remedy="Give their numbers.")


def _molecules(top: Topology) -> Iterator[Finding]:
    """Those of [ molecules ] that nothing defines."""
    for name, _, file, line in top.molecules:
        if top.kind(name) is None:
            near = difflib.get_close_matches(name, [*top.molecule_types, *top.brought], 1, 0.5)
            yield error(f"{file} line {line}: the molecule {name} has no [ moleculetype ].", file=file, line=line, thing=name,
                        remedy=_meant(top, near))  # fmt: skip


def _meant(top: Topology, near: list[str]) -> str:
    known = ", ".join([*top.molecule_types, *top.brought][:6])
    return f"The nearest is {near[0]}." if near else f"Defined are {known}." if known else "Define it, or include its .itp file."

"""Groups that run parameters name, against the index file or the molecules.

The one idea to know: with an index file only its groups exist; without one GROMACS makes groups by itself, of which
those of proteins exist only where there is a protein.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, Inputs, error
from ..text import lines
from .parameters import Mdp
from .topology import Topology

_NAMED = ("tcgrps", "energygrps", "freezegrps", "accgrps", "commgrps", "compressedxgrps", "annealinggrps")
_PROTEIN = {"protein", "protein-h", "c-alpha", "backbone", "mainchain", "mainchain+cb", "mainchain+h", "sidechain", "sidechain-h",
            "prot-masses"}  # fmt: skip
_DEFAULT = {"system", "other", "non-protein", "water", "sol", "non-water", "ion", "water_and_ions", "dna", "rna", "all"}
_WATER = frozenset("sol wat hoh ohh tip t3p t4p t5p t3h tip3 tip4 tip5 h2o spc hw".split())
_AMINO = frozenset("ala arg asn asp cys gln glu gly his hid hie hip ile leu lys met phe pro ser thr trp tyr val ace nme nh2 hisa hisb "
                   "hish lysh cysh cys2 asph gluh hsd hse hsp ash glh lyn cym cyx cyn orn pgl msl dal abu aib nac nma hyp lyp his1 hisa "
                   "qln argn aspp glup lsn cyh".split())  # fmt: skip


def check(inputs: Inputs, mdp: Mdp, index: str | None, has_index: bool, top: Topology | None) -> Iterator[Finding]:
    coupled = mdp.values.get("couplemoltype")
    if (
        coupled
        and top
        and top.complete
        and coupled.text
        and coupled.text.lower() not in {n.lower() for n in (*top.molecule_types, "system")}
    ):
        alike = difflib.get_close_matches(coupled.text, list(top.molecule_types), 1, 0.5)
        yield error(f"{mdp.name} line {coupled.line}: {coupled.name} {coupled.text} is no molecule of the topology.", file=mdp.name,
                    line=coupled.line, thing=coupled.text, remedy=f"The nearest is {alike[0]}." if alike else "Correct the name.")  # fmt: skip
    for key in _NAMED:
        value = mdp.values.get(key)
        for name in value.text.split() if value else ():
            why = _unknown(inputs, name, index, has_index, top)
            if value and why:
                message, near = why
                yield error(f"{mdp.name} line {value.line}: the group {name} of {value.name} {message}.", file=mdp.name,
                            line=value.line, thing=name, remedy=f"The nearest is {near}." if near else "Correct the name.")  # fmt: skip


def _unknown(inputs: Inputs, name: str, index: str | None, has_index: bool, top: Topology | None) -> tuple[str, str | None] | None:
    if has_index:
        names = list(_groups(inputs, index)) if index else []
        if not names or name.lower() in [each.lower() for each in names]:
            return None
        near = difflib.get_close_matches(name, names, 1, 0.5)
        return f"is not in {index}", near[0] if near else None
    if top and name.lower() in {kind.lower() for kind in top.molecule_types}:
        return None
    if top and top.counted and top.molecules and (what := _absent(name.lower(), top, inputs)):
        return f"does not exist, as there is no {what} in the topology, and there is no index file (-n)", "System"
    if top and top.counted and (top.residues or top.brought) and name.lower() not in _DEFAULT | _PROTEIN:
        there = {"System", *top.residues, *top.molecule_types, *top.brought}
        if name.lower() not in {each.lower() for each in there}:
            near = difflib.get_close_matches(name, sorted(there), 1, 0.5)
            return "is neither a default group nor a molecule or residue, and there is no index file (-n)", near[0] if near else None
    return None


def _absent(name: str, top: Topology, inputs: Inputs) -> str | None:
    """What a default group is made of, if the topology has none of it."""
    if any(file.endswith("residuetypes.dat") for file in inputs.names()):
        return None  # says what a protein is, and water
    residues = {residue.lower() for residue in top.residues} | {kind.lower() for name, *_ in top.molecules if (kind := top.kind(name))}
    water, ions = residues & _WATER, residues & {one.lower() for one in top.brought} - _WATER
    if name in _PROTEIN | {"non-protein"}:
        return None if any(_is_protein(residue) for residue in residues) else "protein"
    if name in ("water", "sol", "non-water"):
        return None if water or any(re.match(r"(h2o|tip|spc|opc|wat|hoh|sol|w$)", one) for one in residues) else "water"
    if name in ("ion", "water_and_ions"):
        return None if ions or any(re.fullmatch(r"[a-z]{1,3}\d?[+-]*", one) and one not in _WATER for one in residues) else "ion"
    return None


def _is_protein(residue: str) -> bool:
    """An amino acid, or one at the end of a chain as some force fields call it (NALA, CGLY)."""
    return residue in _AMINO or (len(residue) == 4 and residue[0] in "nc" and residue[1:] in _AMINO)


def _groups(inputs: Inputs, index: str) -> Iterator[str]:
    for line in lines(inputs, index, 2_000_000):
        text = line.text.strip()
        if text.startswith("["):
            yield text.strip("[] \t")

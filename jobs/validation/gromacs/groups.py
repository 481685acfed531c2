"""Groups that run parameters name, against the index file or the molecules.

The one idea to know: with an index file only its groups exist; without one GROMACS makes groups by itself, of which
those of proteins exist only where there is a protein.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, Inputs, error
from ..text import lines
from .parameters import Mdp
from .topology import Topology

_NAMED = ("tcgrps", "energygrps", "freezegrps", "accgrps", "commgrps", "compressedxgrps", "annealinggrps")
_PROTEIN = {"protein", "protein-h", "c-alpha", "backbone", "mainchain", "mainchain+cb", "mainchain+h", "sidechain", "sidechain-h",
            "prot-masses"}  # fmt: skip
_DEFAULT = {"system", "other", "non-protein", "water", "sol", "non-water", "ion", "water_and_ions", "dna", "rna", "all"}
_AMINO = frozenset("ala arg asn asp cys gln glu gly his hid hie hip ile leu lys met phe pro ser thr trp tyr val ace nme nh2 hisa hisb "
                   "hish lysh cysh cys2 asph gluh".split())  # fmt: skip


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
    if top and top.complete and top.residues and name.lower() in _PROTEIN and not {r.lower() for r in top.residues} & _AMINO:
        return "does not exist, as there is no protein in the topology", "System"
    if top and top.complete and top.residues and name.lower() not in _DEFAULT | _PROTEIN:
        there = {"System", *top.residues, *top.molecule_types}
        if name.lower() not in {each.lower() for each in there}:
            near = difflib.get_close_matches(name, sorted(there), 1, 0.5)
            return "is neither a default group nor a molecule or residue, and there is no index file (-n)", near[0] if near else None
    return None


def _groups(inputs: Inputs, index: str) -> Iterator[str]:
    for line in lines(inputs, index, 2_000_000):
        text = line.text.strip()
        if text.startswith("["):
            yield text.strip("[] \t")

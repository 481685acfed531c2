"""What the force fields that come with GROMACS define: molecules by file, with their number of atoms.

The one idea to know: these files are never uploaded, yet [ molecules ] and the coordinates can be judged with them, as a water
model has the same name and sites in every force field and release. Of ions only the names vary.
"""

from __future__ import annotations

import re

_BROUGHT = re.compile(r"(amber(03|94|96|99|99sb|99sb-ildn|GS|14sb|19sb)|charmm27|gromos(43a1|43a2|45a3|53a5|53a6|54a7)|oplsaa)\.ff/.*|"
                      r"(ff\w+|spce?|tip\dp|ions|flexspce?|flexwat-ferguson|sw|tip4pew)\.itp")  # fmt: skip
_MOLECULES = re.compile(r"(.*/)?(spce?|tip\w+|ions)\.itp")  # those of them that bring a [ moleculetype ]
WATER = "SOL"
_SITES = {"spc": 3, "spce": 3, "tip3p": 3, "tips3p": 3, "tip4p": 4, "tip4pew": 4, "tip4p2005": 4, "tip5p": 5, "tip5pe": 5}
_OTHERS = {
    "urea": {"URE": 8}, "ethanol": {"ETH": 9}, "1propanol": {"POL": 12}, "dppc": {"DPPC": 50}, "popc": {"POPC": 52}, "tmcl": {"TMCL": 87},
}  # fmt: skip
_IONS = dict.fromkeys("NA CL K MG CA ZN LI RB CS F BR I CU CU1 IB+ BA SR AL FE".split(), 1)
_FILE = re.compile(r"[\w-]+\.ff/(\w+)\.itp")


def molecules(path: str) -> dict[str, int] | None:
    """Molecules that a file of a force field defines, with their atoms; None if that is not known here."""
    found = _FILE.fullmatch(path)
    word = found[1] if found else ""
    if word == "forcefield":
        return {}
    if word in _SITES:
        return {WATER: _SITES[word]}
    if word == "ions":
        return {**_IONS, "OH": 2} if path.startswith("charmm") else _IONS
    return _OTHERS.get(word)


def is_brought(path: str) -> bool:
    """A file that every installation of GROMACS has."""
    return bool(_BROUGHT.fullmatch(path))


def defines_molecules(path: str) -> bool:
    return is_brought(path) and bool(_MOLECULES.fullmatch(path))

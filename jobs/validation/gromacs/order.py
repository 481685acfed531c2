"""Where a directive of a topology may stand, and the atoms that its rows name.

The one idea to know: grompp reads a topology once, from top to bottom. What a directive needs must stand above it, and an atom is
counted from 1 within its own molecule.
"""

from __future__ import annotations

from collections import Counter

_OF_TYPES = set("""defaults atomtypes bondtypes constrainttypes pairtypes angletypes dihedraltypes nonbond_params
    implicit_genborn_params cmaptypes""".split())  # fmt: skip
# How many words of a row are numbers of atoms; 0: all of them.
_ATOMS = {
    "bonds": 2, "pairs": 2, "pairs_nb": 2, "angles": 3, "dihedrals": 4, "constraints": 2, "settles": 1, "exclusions": 0, "cmap": 5,
    "position_restraints": 1, "distance_restraints": 2, "dihedral_restraints": 4, "angle_restraints": 4, "virtual_sites2": 3,
    "virtual_sites3": 4, "virtual_sites4": 5,
}  # fmt: skip
_NEEDED = {"atomtypes": "defaults", "moleculetype": "atomtypes", "system": "moleculetype", "molecules": "system"}


def too_late(directive: str) -> bool:
    """Whether it may not stand behind a [ moleculetype ]."""
    return directive in _OF_TYPES


def needed(directive: str, above: Counter[str]) -> str | None:
    """The directive that must stand above this one and does not; only sure where all that is above was read."""
    before = _NEEDED.get(directive)
    return before if before and not above[before] else None


def beyond(directive: str, words: list[str], atoms: int) -> str | None:
    """The first number of an atom that a molecule of so many atoms does not have."""
    if directive not in _ATOMS:
        return None
    named = words[: _ATOMS[directive] or len(words)]
    return next((word for word in named if word.isdigit() and not 1 <= int(word) <= atoms), None)

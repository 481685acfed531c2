"""Heavy atoms: basis sets that go with an effective core potential, and those that end before them in the periodic table.

The one idea to know: a basis for the valence electrons names its core potential in a block of its own (ecp). Without it NWChem puts
all electrons into the few functions, and ends in a crash or in an energy that means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .deck import Block, Row

# Basis sets and the first element (by its number) for which they hold valence electrons only.
_VALENCE = tuple(
    (re.compile(pattern), first)
    for pattern, first in (
        (r"(modified_)?lanl(2|08)|hay[-_]wadt", 11), (r"crenbl", 3), (r"crenbs", 21), (r"p?sbkjc", 5), (r"stuttgart_rlc|sdb_rlc", 3),
        (r"stuttgart|sdb|sdd", 19), (r".*-pp(_\w+)?$", 29), (r"(def2|dhf)-(?!ecp)", 37),
    )
)  # fmt: skip
_ENDS = re.compile(r"(6-31|(aug-|d-aug-)?cc-pv\dz|(aug-|d-aug-)?cc-pv[dtq]z)(?!.*-(pp|dk))")  # with krypton, but for iodine in 6-311
_KRYPTON, _IODINE = 36, 53


def check(basis: Block, ecp: Block | None, atoms: dict[str, int]) -> Iterator[Finding]:
    """`atoms`: tag in the geometry -> number of the element."""
    potentials = {row.words[0].lower() for row in ecp.rows} if ecp else set()
    for tag, number in atoms.items():
        row = _row(basis, tag)
        name = (row.after("library") or "").lower() if row else ""
        first = next((first for pattern, first in _VALENCE if pattern.match(name)), None)
        if not row or not name or "file" in (word.lower() for word in row.words):
            continue
        if first and number >= first and not potentials & {"*", *_names(tag)}:
            yield warning(f"{row.where}: {name} for {tag} is a basis for the valence electrons only, but the deck has no ecp block for {tag}.",
                          file=row.file, line=row.line, thing=f"{tag} ecp", remedy=f"Add ecp; {tag} library {_potential(name)}; end.")  # fmt: skip
        elif _ENDS.match(name) and number > _KRYPTON and not (number == _IODINE and name.startswith("6-311")):
            yield error(f"{row.where}: the basis set {name} has no functions for {tag}; it ends with krypton.", file=row.file, line=row.line,
                        thing=tag, remedy="Choose for instance def2-svp for it, with its ecp.")  # fmt: skip


def _row(basis: Block, tag: str) -> Row | None:
    """The row of a basis that is for an atom."""
    own = [row for row in basis.rows if row.words[0].lower() in _names(tag)]
    return next(iter([*own, *(row for row in basis.rows if row.words[0] == "*")]), None)


def _names(tag: str) -> set[str]:
    letters = re.match(r"[a-z]*", tag.lower())
    return {tag.lower(), letters.group() if letters else ""}


def _potential(name: str) -> str:
    return "def2-ecp" if name.startswith("def2") else "dhf-ecp" if name.startswith("dhf") else name

"""The molecule against basis and multiplicity, task by task in the order of the deck.

The one idea to know: a task uses the last geometry and basis above it. An odd number of electrons has no singlet: scf and dft both
stop at it. Atoms that symmetry, a Z-matrix, a file or a restart may bring are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, error
from . import cores
from .deck import Block, Deck, Row

_ELEMENTS = """h he li be b c n o f ne na mg al si p s cl ar k ca sc ti v cr mn fe co ni cu zn ga ge as se br kr rb sr y zr nb mo tc ru rh pd
    ag cd in sn sb te i xe cs ba la ce pr nd pm sm eu gd tb dy ho er tm yb lu hf ta w re os ir pt au hg tl pb bi po at rn""".split()
_NAMES = {
    "hydrogen": "h", "helium": "he", "lithium": "li", "beryllium": "be", "boron": "b", "carbon": "c", "nitrogen": "n", "oxygen": "o",
    "fluorine": "f", "neon": "ne", "sodium": "na", "magnesium": "mg", "aluminum": "al", "aluminium": "al", "silicon": "si",
    "phosphorus": "p", "sulfur": "s", "sulphur": "s", "chlorine": "cl", "argon": "ar", "potassium": "k", "calcium": "ca", "iron": "fe",
    "copper": "cu", "zinc": "zn", "bromine": "br", "iodine": "i", "nickel": "ni", "cobalt": "co", "titanium": "ti", "gold": "au",
    "silver": "ag", "platinum": "pt", "palladium": "pd",
}  # fmt: skip
_GAUSSIAN = {"scf", "dft", "mp2", "direct_mp2", "rimp2", "ccsd", "ccsd(t)", "mcscf", "tce", "sodft", "tddft", "esp", "selci"}
_WORDS = {"singlet": 1, "doublet": 2, "triplet": 3, "quartet": 4, "quintet": 5, "sextet": 6, "septet": 7, "octet": 8}
_FROM_SCF = {"scf", "mp2", "direct_mp2", "ccsd", "ccsd(t)", "mcscf"}
_OPEN = {"load", "system", "crystal", "slab", "polymer", "zmatrix", "zmat", "zmt", "use", "unload"}
_HIGHER = re.compile(r"(?i)(?:symmetry|sym)")


@dataclass
class _Now:
    """What holds at one place of the deck."""

    geometry: Block | None = None
    basis: Block | None = None
    charge: int | None = 0
    ecp: Block | None = None  # takes electrons away
    mult: dict[str, tuple[int, Row] | None] = field(default_factory=lambda: {"scf": None, "dft": None})


def check(deck: Deck) -> Iterator[Finding]:
    if (
        not deck.complete
        or deck.cut
        or any(block.meant or block.name in ("restart", "python", "load_geometry", "set", "rtdb") for block in deck.items)
    ):
        return
    now, told = _Now(), set()
    for block in deck.items:
        if block.name == "task" and len(block.head.words) > 1 and block.head.words[1].lower() in _GAUSSIAN:
            for finding in _task(block.head, now):
                if finding.thing not in told:
                    told.add(finding.thing)
                    yield finding
        else:
            _pass(block, now)


def _pass(block: Block, now: _Now) -> None:
    if block.name == "geometry":
        now.geometry = block
    elif block.name == "basis" and (not _titled(block.head) or "ao basis" in " ".join(block.head.words).lower()):
        now.basis = block
    elif block.name == "charge":
        word = block.head.words[1] if len(block.head.words) > 1 else ""
        now.charge = int(float(word)) if re.fullmatch(r"[-+]?\d+(\.0*)?", word) else None
    elif block.name == "ecp":
        now.ecp = block
    elif block.name == "scf":
        now.mult["scf"] = next((one for row in block.rows if (one := _spin(row))), now.mult["scf"])
    elif block.name == "dft":
        rows = [row for row in block.rows if row.name == "mult" and len(row.words) > 1 and re.fullmatch(r"-?\d+", row.words[1])]
        now.mult["dft"] = (abs(int(rows[0].words[1])), rows[0]) if rows else now.mult["dft"]


def _titled(row: Row) -> bool:
    return len(row.words) > 1 and row.words[1].lower() not in (
        "spherical",
        "cartesian",
        "print",
        "noprint",
        "segment",
        "nosegment",
        "rel",
        "bsse",
    )


def _spin(row: Row) -> tuple[int, Row] | None:
    if row.name in _WORDS:
        return _WORDS[row.name], row
    if row.name == "nopen" and len(row.words) > 1 and row.words[1].isdigit():
        return int(row.words[1]) + 1, row
    return None


def _task(row: Row, now: _Now) -> Iterator[Finding]:
    theory = row.words[1].lower()
    if now.geometry is None:
        yield _wrong(row, "there is no geometry before this task", "geometry", "Add a geometry block above it.")
        return
    atoms = _atoms(now.geometry)
    if atoms is None:
        return
    if now.basis is None:
        yield _wrong(row, "there is no basis before this task", "basis", "Add a basis block above it.")
    else:
        yield from _covered(now.basis, atoms)
        yield from cores.check(now.basis, now.ecp, {tag: _number(tag) for tag in atoms})
    if now.ecp is None and now.charge is not None and theory in (*_FROM_SCF, "dft") and not _has_symmetry(now.geometry):
        yield from _parity(row, theory, now, sum(_number(tag) for tag in atoms) - now.charge)


def _parity(row: Row, theory: str, now: _Now, electrons: int) -> Iterator[Finding]:
    """Electrons and multiplicity are never both odd or both even."""
    given = now.mult["dft" if theory == "dft" else "scf"]
    mult, place = given or (1, row)
    if (electrons + mult) % 2 == 0:
        thing = "mult" if theory == "dft" else "nopen" if place.name == "nopen" else place.name if given else "scf"
        yield _wrong(place, f"{electrons} electrons can't have the multiplicity {mult}" + ("" if given else " (the default)"), thing,
                     "Correct the charge, or the multiplicity (mult, or doublet, triplet... in scf).")  # fmt: skip


def _covered(basis: Block, atoms: list[str]) -> Iterator[Finding]:
    covered: set[str] = set()
    for row in basis.rows:
        tag = row.words[0].lower().strip('"')
        if tag == "*":
            return
        covered |= {tag, _NAMES.get(tag, tag)}
    for tag in dict.fromkeys(atoms):
        if not {tag.lower(), _symbol(tag)} & covered:
            yield _wrong(basis.head, f"the basis has nothing for {tag} of the geometry", tag, f"Add {tag} library NAME.")


def _atoms(geometry: Block) -> list[str] | None:
    """Tags of the atoms; None where they are not all there in plain rows."""
    words = {row.name for row in geometry.rows} | {word.lower() for word in geometry.head.words}
    if words & _OPEN:
        return None
    rows = [row for row in geometry.rows if len(row.words) >= 4 and re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?", row.words[1])]
    tags = [row.words[0] for row in rows if not row.name.startswith("bq")]
    ghosts = len(tags) != len(rows)
    return (
        tags
        if tags and not ghosts and all(_symbol(tag) for tag in tags) and not any("charge" in map(str.lower, row.words) for row in rows)
        else None
    )


def _has_symmetry(geometry: Block) -> bool:
    """Symmetry that makes more atoms of those that are written."""
    rows = [row for row in geometry.rows if _HIGHER.match(row.name)]
    return any(" ".join(row.words[1:]).lower() not in ("c1", "group c1", "") for row in rows)


def _symbol(tag: str) -> str:
    letters = re.match(r"[a-z]*", tag.lower())
    word = letters.group() if letters else ""
    return next((part for part in (word[:2], word[:1]) if part in _ELEMENTS), "")


def _number(tag: str) -> int:
    return _ELEMENTS.index(_symbol(tag)) + 1


def _wrong(row: Row, what: str, thing: str, remedy: str) -> Finding:
    return error(f"{row.where}: {what}.", file=row.file, line=row.line, thing=thing, remedy=remedy)

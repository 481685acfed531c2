"""Electrons of a deck: an odd number of them fills no bands, so fixed occupations can't be.

The one idea to know: the number is the sum over the atoms of what their pseudopotentials say, so it is only known where all of
these are among the inputs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ..base import Finding, Request, error
from ..plan import Step
from ..text import head
from ..tree import resolve
from .deck import Deck

_VALENCE = re.compile(rb"z_valence *= *\"? *([\d.]+(?:[eEdD][-+]?\d+)?)|^ *([\d.]+) +Z valence", re.M)
_READ = 256 << 10


def check(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    yield from _filling(deck)
    yield from _odd(request, step, deck)
    yield from _bands(request, step, deck)


def _filling(deck: Deck) -> Iterator[Finding]:
    """What smearing and spin cannot do without."""
    occupations, spins = deck.value("system", "occupations"), deck.value("system", "nspin")
    kind = (occupations.string or "").lower() if occupations else "fixed"
    if occupations and kind == "smearing" and not deck.number("system", "degauss"):
        yield error(f"{deck.name} line {occupations.line}: occupations='smearing' has no degauss.", file=deck.name, line=occupations.line,
                    thing="degauss", remedy="Add for instance degauss=0.01.")  # fmt: skip
    told = [name for name in ("starting_magnetization", "tot_magnetization") if deck.value("system", name)]
    if (
        spins
        and spins.number == 2
        and not told
        and kind in ("fixed", "smearing")
        and (deck.string("control", "calculation") or "scf") not in ("nscf", "bands")
    ):
        needed = "starting_magnetization" if kind != "fixed" else "tot_magnetization"
        yield error(f"{deck.name} line {spins.line}: nspin=2 has no {needed}.", file=deck.name, line=spins.line, thing=needed,
                    remedy=f"Add for instance {needed}{'(1)=0.3' if kind != 'fixed' else '=0'}.")  # fmt: skip


def _odd(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    occupations = (deck.string("system", "occupations") or "fixed").lower()
    spins = deck.number("system", "nspin") or 1
    noncollinear = deck.value("system", "noncolin")
    if occupations != "fixed" or spins != 1 or (noncollinear and "t" in noncollinear.text.lower()) or deck.value("system", "degauss"):
        return
    count = _count(request, step, deck)
    if count is not None and count % 2:
        line = deck.namelists["system"].line
        yield error(f"{deck.name} line {line}: there are {count} electrons, an odd number, and occupations are fixed: pw.x takes it for a "
                    "metal and stops.", file=deck.name, line=line, thing="occupations",
                    remedy="Set occupations='smearing' with degauss, or nspin=2 with tot_magnetization.")  # fmt: skip


def _bands(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    """Two electrons fill a band, so half as many bands is the least."""
    bands = deck.value("system", "nbnd")
    count = _count(request, step, deck) if bands and bands.number and bands.number > 0 else None
    if bands and bands.number and count is not None and bands.number < -(-count // 2):
        yield error(f"{deck.name} line {bands.line}: nbnd is {bands.text}, but {count} electrons want {-(-count // 2)} bands at least.",
                    file=deck.name, line=bands.line, thing="nbnd", remedy="Give more bands, or leave nbnd out.")  # fmt: skip


def _count(request: Request, step: Step, deck: Deck) -> int | None:
    species, positions = deck.cards.get("ATOMIC_SPECIES"), deck.cards.get("ATOMIC_POSITIONS")
    charge, nat = deck.value("system", "tot_charge"), deck.number("system", "nat")
    if not species or not positions or not positions.whole or not nat or (charge and charge.number is None):
        return None
    valence: dict[str, float | None] = {}
    for _, words in species.rows:
        if len(words) < 3:
            return None
        valence[words[0].lower()] = _valence(request, step, deck, words[2])
    labels = [words[0].lower() for _, words in positions.rows if len(words) >= 4]
    found = [valence.get(label) for label in labels]
    if len(labels) != nat or any(one is None for one in found):
        return None
    total = sum(one or 0.0 for one in found) - (charge.number or 0.0 if charge else 0.0)
    return round(total) if abs(total - round(total)) < 1e-6 and total > 0 else None


def _valence(request: Request, step: Step, deck: Deck, name: str) -> float | None:
    folder = deck.string("control", "pseudo_dir")
    inside = resolve(step.cwd, posixpath.join(folder or ".", name)) if step.cwd is not None and folder else None
    if inside not in step.tree.inputs or inside in step.tree.made:
        return None
    found = _VALENCE.search(head(request.inputs, str(inside), _READ))
    return float((found[1] or found[2]).decode().lower().replace("d", "e")) if found else None

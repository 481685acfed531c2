"""Cards that ccx takes only inside a step, or only before the first; numbers that must stand on the lines of loads and supports.

The one idea to know: each rule was tried with ccx, which ends with exit code 201 at that card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from .abaqus import NAMED
from .cards import Card, Deck

_INSIDE = {"CLOAD", "DLOAD", "TEMPERATURE", "CFLUX", "DFLUX", "FILM", "STATIC", "FREQUENCY", "VISCO", "NODEFILE", "ELFILE", "NODEOUTPUT",
           "ELEMENTOUTPUT", "CONTACTFILE", "CONTACTOUTPUT", "NODEPRINT", "ELPRINT", "SECTIONPRINT", "DYNAMIC", "BUCKLE", "HEATTRANSFER",
           "RADIATE"}  # fmt: skip
_BEFORE = {"SOLIDSECTION", "SHELLSECTION", "BEAMSECTION", "MEMBRANESECTION", "EQUATION", "RIGIDBODY"}
_REAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([EDed]?[-+]?\d+)?\Z")


def check(deck: Deck) -> Iterator[Finding]:
    yield from _places(deck)
    for card in deck.of("BOUNDARY", "CLOAD"):
        yield from _freedoms(card) if not {"SUBMODEL", "USER"} & set(card.parameters) else ()
    for card in deck.of("STEP"):
        if {"PERTURBATION", "NLGEOM"} <= set(card.parameters) and card.parameters["NLGEOM"].upper() != "NO":
            yield error(f"{card.file} line {card.line}: *STEP can't be a PERTURBATION and NLGEOM at once.", file=card.file, line=card.line,
                        thing="PERTURBATION", remedy="Take one of them out.")  # fmt: skip


def sections(deck: Deck) -> Iterator[Finding]:
    """Sections that lack their set, their material or their thickness."""
    for card in deck.of("SOLIDSECTION", "SHELLSECTION", "MEMBRANESECTION"):
        missing = [word for word in ("ELSET", "MATERIAL") if not card.parameters.get(word)]
        if missing and "COMPOSITE" not in card.parameters:
            yield _wrong(card, card.line, f"*{card.name} has no {missing[0]}", missing[0], f"Add {missing[0]}=NAME.")
        elif card.name != "SOLIDSECTION" and not card.data and "NODALTHICKNESS" not in card.parameters:
            yield _wrong(
                card, card.line, f"*{card.name} has no line with the thickness", "thickness", "Write the thickness in the line below."
            )


def _places(deck: Deck) -> Iterator[Finding]:
    first = next(deck.of("STEP"), None)
    told: set[str] = set()
    began = False
    for card in deck.cards:
        began |= card is first
        if card.name in told or first is None:
            continue
        if card.name in _INSIDE and not began:
            told.add(card.name)
            yield _wrong(card, card.line, f"*{card.name} stands before the first *STEP; ccx takes it only inside a step", f"*{card.name}",
                         "Move it between *STEP and *END STEP.")  # fmt: skip
        elif card.name in _BEFORE and began and not {"REMOVE", "REMOVEALL"} & set(card.parameters):
            told.add(card.name)
            yield _wrong(card, card.line, f"*{card.name} stands behind the *STEP of line {first.line}; ccx takes it only before all steps",
                         f"*{card.name}", "Move it above the first *STEP.")  # fmt: skip


def _freedoms(card: Card) -> Iterator[Finding]:
    """Node, first degree of freedom (, last one), value."""
    for line, text in card.data:
        words = text.split(",")
        whole = words[1:3] if card.name == "BOUNDARY" else words[1:2]
        bad = next((word for word in whole if word and not re.fullmatch(r"[-+]?\d+", word)), None)
        real = words[len(whole) + 1 : len(whole) + 2] if bad is None else []
        bad = bad or next((word for word in real if word and not _REAL.match(word)), None)
        if bad is None:
            continue
        kind = "number" if real else "degree of freedom"
        remedy = (
            "Write FIX,1,3 for clamped solids (4 to 6 are rotations)."
            if NAMED.fullmatch(bad)
            else "Write SET, first, last, value: FIX,1,3."
        )
        yield _wrong(card, line, f"{bad[:40]} is no {kind}, as *{card.name} needs it there", bad[:40], remedy)
        return


def _wrong(card: Card, line: int, what: str, thing: str, remedy: str) -> Finding:
    return error(f"{card.file} line {line}: {what}.", file=card.file, line=line, thing=thing, remedy=remedy)

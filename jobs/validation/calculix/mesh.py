"""Nodes, elements and materials of a small deck: what is used but not defined.

The one idea to know: only a deck of which every line was kept is judged; ccx says little of a missing node but
"nonpositive jacobian".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, error
from .cards import Card, Deck

_STIFF = ("ELASTIC", "HYPERELASTIC", "HYPERFOAM", "USERMATERIAL", "DEFORMATIONPLASTICITY", "CONDUCTIVITY", "FLUIDCONSTANTS",
          "MAGNETICPERMEABILITY", "ELECTRICALCONDUCTIVITY", "MOHRCOULOMB", "SPRING", "DASHPOT", "GAP", "SPECIFICHEAT")  # fmt: skip
_SECTIONS = ("SOLIDSECTION", "SHELLSECTION", "BEAMSECTION", "MEMBRANESECTION", "FLUIDSECTION", "BEAMGENERALSECTION", "USERSECTION",
             "SPRING", "DASHPOT", "GAP", "MASS", "DISTRIBUTINGCOUPLING", "SUBSTRUCTUREGENERATE")  # fmt: skip


def check(deck: Deck) -> Iterator[Finding]:
    if any(True for _ in deck.of("RESTART", "SUBMODEL", "REFINEMESH", "USERELEMENT")):
        return
    yield from _sections(deck)
    tables = list(deck.of("NODE", "ELEMENT"))
    if all(card.count == len(card.data) for card in tables):
        nodes = set(_defined(deck))
        yield from _elements(deck, nodes)
        yield from _loads(deck, nodes)


def _sections(deck: Deck) -> Iterator[Finding]:
    elements = next((card for card in deck.of("ELEMENT") if card.count), None)
    if elements and not any(True for _ in deck.of(*_SECTIONS)):
        yield error(f"{deck.name} gives its elements no section and so no material.", file=deck.name, line=elements.line,
                    thing="*SOLID SECTION", remedy="Add *SOLID SECTION, ELSET=..., MATERIAL=...")  # fmt: skip
    solid = next(deck.of("SOLIDSECTION", "SHELLSECTION"), None)
    if solid and any(True for _ in deck.of("STATIC", "FREQUENCY", "DYNAMIC")) and not any(True for _ in deck.of(*_STIFF)):
        yield error(f"{solid.file} line {solid.line}: no material of the deck has elastic constants.", file=solid.file, line=solid.line,
                    thing="*ELASTIC", remedy="Add *ELASTIC to the material.")  # fmt: skip


def _defined(deck: Deck) -> Iterator[int]:
    for card in deck.of("NODE"):
        for _, text in card.data:
            first = text.split(",", 1)[0]
            if first.isdigit():
                yield int(first)


def _elements(deck: Deck, nodes: set[int]) -> Iterator[Finding]:
    for card in deck.of("ELEMENT"):
        if card.parameters.get("TYPE", "").upper().startswith(("U", "D")):
            continue
        goes_on = False
        for line, text in card.data:
            words = text.split(",")
            used = words if goes_on else words[1:]
            goes_on = text.endswith(",")
            missing = next((word for word in used if word.isdigit() and int(word) and int(word) not in nodes), None)
            if missing:
                yield error(f"{card.file} line {line}: the element uses node {missing}, which is not defined.", file=card.file,
                            line=line, thing=missing, remedy="Correct the number, or define the node.")  # fmt: skip
                return


def _loads(deck: Deck, nodes: set[int]) -> Iterator[Finding]:
    for card in deck.of("BOUNDARY", "CLOAD"):
        yield from _load(card, nodes)


def _load(card: Card, nodes: set[int]) -> Iterator[Finding]:
    for line, text in card.data:
        first = text.split(",", 1)[0]
        if first.isdigit() and int(first) not in nodes:
            yield error(f"{card.file} line {line}: *{card.name} is on node {first}, which is not defined.", file=card.file, line=line,
                        thing=first, remedy="Correct the number, or define the node.")  # fmt: skip
            return

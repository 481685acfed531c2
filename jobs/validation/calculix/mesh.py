"""Nodes, elements and materials of a small deck: what is used but not defined.

The one idea to know: only a deck of which every line was kept is judged; ccx says little of a missing node but
"nonpositive jacobian".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, error
from . import members_used
from .cards import Card, Deck
from .members import CORNERS

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
        yield from _rows(deck)
        yield from _elements(deck, nodes)
        yield from _loads(deck, nodes)
        yield from members_used.check(deck, nodes)


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


def _rows(deck: Deck) -> Iterator[Finding]:
    """As many nodes as the type of the element has, over as many lines as that takes; each element once."""
    seen: dict[str, int] = {}
    for card in deck.of("ELEMENT"):
        wanted = CORNERS.get(card.parameters.get("TYPE", "").upper())
        given: list[str] = []
        first = 0
        for line, text in card.data if wanted else ():
            first = first if given else line
            given += [word for word in text.split(",") if word]
            if not all(word.isdigit() for word in given):
                return
            if len(given) > (wanted or 0):
                if given[0] in seen:
                    yield error(f"{card.file} line {first}: element {given[0]} was defined in line {seen[given[0]]} already.", file=card.file,
                                line=first, thing=given[0], remedy="Give it a number of its own.")  # fmt: skip
                    return
                seen[given[0]], given = first, []
        if given:
            yield error(f"{card.file} line {first}: element {given[0]} of type {card.parameters['TYPE']} has {len(given) - 1} nodes; it needs "
                        f"{wanted}.", file=card.file, line=first, thing=given[0], remedy="Add the nodes that are missing.")  # fmt: skip
            return


def _loads(deck: Deck, nodes: set[int]) -> Iterator[Finding]:
    for card in deck.of("BOUNDARY", "CLOAD"):
        yield from _load(card, nodes)
        yield from _span(card) if card.name == "BOUNDARY" else ()
        yield from _freedom(card) if card.name == "CLOAD" else ()
    for card in deck.of("NSET", "ELSET"):
        yield from _ranges(card) if "GENERATE" in card.parameters else ()


def _load(card: Card, nodes: set[int]) -> Iterator[Finding]:
    for line, text in card.data:
        first = text.split(",", 1)[0]
        if first.isdigit() and int(first) not in nodes:
            yield error(f"{card.file} line {line}: *{card.name} is on node {first}, which is not defined.", file=card.file, line=line,
                        thing=first, remedy="Correct the number, or define the node.")  # fmt: skip
            return


def _freedom(card: Card) -> Iterator[Finding]:
    for line, text in card.data:
        word = (text.split(",") + [""])[1]
        if word.isdigit() and int(word) in (7, 8, 9):
            yield error(f"{card.file} line {line}: there is no degree of freedom {word} for *CLOAD.", file=card.file, line=line, thing=word,
                        remedy="Write 1 to 3 for forces, 4 to 6 for moments.")  # fmt: skip
            return


def _span(card: Card) -> Iterator[Finding]:
    for line, text in card.data:
        first, last = [*text.split(","), "", ""][1:3]
        if first.isdigit() and int(first) <= 7 <= int(last if last.isdigit() else first):
            yield error(f"{card.file} line {line}: there is no degree of freedom 7 for *BOUNDARY.", file=card.file, line=line, thing="7",
                        remedy="Write 1 to 3 for displacements, 4 to 6 for rotations, 11 for the temperature.")  # fmt: skip
            return


def _ranges(card: Card) -> Iterator[Finding]:
    for line, text in card.data:
        words = text.split(",")
        if len(words) > 1 and words[0].isdigit() and words[1].isdigit() and int(words[0]) > int(words[1]):
            yield error(f"{card.file} line {line}: *{card.name}, GENERATE runs from {words[0]} to {words[1]}.", file=card.file, line=line,
                        thing=words[0], remedy="Give the smaller number first.")  # fmt: skip
            return

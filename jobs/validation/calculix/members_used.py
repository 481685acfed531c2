"""What loads, sections and constraints of a small deck do with its elements and nodes.

The one idea to know: each rule is one with which ccx itself ends, but for a moment on a solid, over which it passes in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .cards import Card, Deck
from .members import Members, members

_FACES = {"C3D4": 4, "C3D6": 5, "C3D8": 6, "C3D8R": 6, "C3D8I": 6, "C3D10": 4, "C3D10T": 4, "C3D15": 5, "C3D20": 6, "C3D20R": 6}
_LETTER = {"DLOAD": "P", "DFLUX": "S", "FILM": "F", "RADIATE": "R", "SURFACE": "S"}
_SECTIONS = ("SOLIDSECTION", "SHELLSECTION", "BEAMSECTION", "MEMBRANESECTION", "BEAMGENERALSECTION", "USERSECTION", "FLUIDSECTION")
_TURNING = ("RIGIDBODY", "COUPLING", "DISTRIBUTINGCOUPLING", "MPC", "EQUATION", "TRANSFORM", "USERELEMENT", "NETWORKMPC")


def check(deck: Deck, nodes: set[int]) -> Iterator[Finding]:
    """`nodes`: all that are defined."""
    held = members(deck)
    for card in deck.of(*_LETTER):
        yield from _faces(card, held)
    yield from _sections(deck, held)
    for card in deck.of("RIGIDBODY"):
        yield from _rigid(card, nodes)
    for card in deck.of("EQUATION"):
        yield from _equation(card, nodes) if "REMOVE" not in card.parameters else ()
    if held.whole and not any(True for _ in deck.of(*_TURNING)):
        for card in deck.of("CLOAD"):
            yield from _moment(card, held)


def _faces(card: Card, held: Members) -> Iterator[Finding]:
    """A face that the element does not have, an element that is not there."""
    if card.name == "SURFACE" and card.parameters.get("TYPE", "ELEMENT").upper() != "ELEMENT":
        return
    for line, text in card.data:
        word, label = [*text.split(","), ""][:2]
        at = {"file": card.file, "line": line}
        if word.isdigit() and held.whole and int(word) not in held.types and card.name == "DLOAD":
            yield error(f"{card.file} line {line}: *{card.name} is on element {word}, which is not defined.", thing=word,
                        remedy="Correct the number, or define the element.", **at)  # type: ignore[arg-type] # fmt: skip
            return
        face = re.fullmatch(_LETTER[card.name] + r"(\d+)(NU.*)?", label.upper())
        kinds = {held.types.get(number, "") for number in held.elements(word)}
        most = max((_FACES.get(kind, 99) for kind in kinds), default=99)
        if face and not 1 <= int(face[1]) <= most:
            yield error(f"{card.file} line {line}: there is no face {label}; an element of type {' or '.join(sorted(kinds))} has {most}.",
                        thing=label, remedy=f"Write {_LETTER[card.name]}1 to {_LETTER[card.name]}{most}.", **at)  # type: ignore[arg-type] # fmt: skip
            return


def _sections(deck: Deck, held: Members) -> Iterator[Finding]:
    named = [card.parameters.get("ELSET", "").upper() for card in deck.of(*_SECTIONS)]
    covered = [held.sets.get("E:" + name) for name in named]
    rigid = any("ELSET" in card.parameters for card in deck.of("RIGIDBODY"))
    if not named or None in covered or rigid or any(True for _ in deck.of("SUBSTRUCTUREGENERATE")):
        return
    bare = sorted(set(held.types) - set().union(*(numbers or set() for numbers in covered)))
    if bare:
        what = f"element {bare[0]} has" if len(bare) == 1 else f"{len(bare)} elements ({bare[0]}, ...) have"
        card = next(deck.of(*_SECTIONS))
        yield error(f"{card.file} line {card.line}: {what} no section and so no material: no section card holds a set of "
                    f"{'it' if len(bare) == 1 else 'them'}.", file=card.file, line=card.line, thing=f"{bare[0]}",
                    remedy=_remedy(bare[0], held))  # fmt: skip


def _remedy(number: int, held: Members) -> str:
    name = next((name[2:] for name, numbers in held.sets.items() if name[:2] == "E:" and len(name) > 2 and number in (numbers or ())), "")
    return f"Add a section card, ELSET={name}." if name else "Give it a set, and add a section card for that."


def _rigid(card: Card, nodes: set[int]) -> Iterator[Finding]:
    for key in ("REFNODE", "ROTNODE"):
        word = card.parameters.get(key, "")
        if word.isdigit() and int(word) not in nodes:
            yield error(f"{card.file} line {card.line}: *RIGID BODY has the {key[:3]} node {word}, which is not defined.", file=card.file,
                        line=card.line, thing=word, remedy="Define the node, or correct the number.")  # fmt: skip


def _equation(card: Card, nodes: set[int]) -> Iterator[Finding]:
    """A line with the number of terms, then node, freedom and factor of each."""
    rows = [(line, [word for word in text.split(",") if word]) for line, text in card.data]
    if card.count != len(card.data) or any(not words for _, words in rows):
        return
    while rows:
        line, words = rows.pop(0)
        if len(words) != 1 or not words[0].isdigit():
            return
        wanted = int(words[0])
        given: list[str] = []
        while rows and len(given) < 3 * wanted and len(rows[0][1]) > 1:
            given += rows.pop(0)[1]
        if len(given) != 3 * wanted:
            count = f"{len(given) // 3}" + (" and a part" if len(given) % 3 else "")
            yield error(f"{card.file} line {line}: the *EQUATION announces {wanted} terms, {count} follow.", file=card.file, line=line,
                        thing=words[0], remedy="Each term has a node, a degree of freedom and a factor; four terms in a line.")  # fmt: skip
            return
        missing = next((word for word in given[::3] if word.isdigit() and int(word) not in nodes), None)
        if missing:
            yield error(f"{card.file} line {line}: the *EQUATION uses node {missing}, which is not defined.", file=card.file, line=line,
                        thing=missing, remedy="Correct the number, or define the node.")  # fmt: skip
            return


def _moment(card: Card, held: Members) -> Iterator[Finding]:
    turning = {node for number, kind in held.types.items() if kind not in _FACES for node in held.corners[number]}
    for line, text in card.data:
        word, freedom = [*text.split(","), ""][:2]
        on = held.nodes(word)
        if freedom in ("4", "5", "6") and on and not on & turning:
            yield warning(f"{card.file} line {line}: *CLOAD puts a moment (degree of freedom {freedom}) on {word}, but nodes of solid "
                          "elements do not turn: ccx passes over it.", file=card.file, line=line, thing=freedom,
                          remedy="Use pairs of forces, or a *RIGID BODY with a ROT NODE.")  # fmt: skip
            return

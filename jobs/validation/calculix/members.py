"""Which elements and nodes the sets of a small deck hold, and of which type each element is.

The one idea to know: a set that holds anything that is not known here is None, and nothing is said about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .cards import Card, Deck

CORNERS = {"C3D4": 4, "C3D6": 6, "C3D8": 8, "C3D8R": 8, "C3D8I": 8, "C3D10": 10, "C3D10T": 10, "C3D15": 15, "C3D20": 20, "C3D20R": 20,
           "S3": 3, "S4": 4, "S4R": 4, "S6": 6, "S8": 8, "S8R": 8, "CPS3": 3, "CPS4": 4, "CPS6": 6, "CPS8": 8, "CPE3": 3, "CPE4": 4,
           "CPE6": 6, "CPE8": 8, "CAX3": 3, "CAX4": 4, "CAX6": 6, "CAX8": 8, "M3D3": 3, "M3D4": 4, "B31": 2, "B32": 3, "B32R": 3,
           "T3D2": 2, "T3D3": 3}  # fmt: skip
_MOST = 200_000


@dataclass
class Members:
    types: dict[int, str] = field(default_factory=dict)  # by element
    corners: dict[int, list[int]] = field(default_factory=dict)  # nodes by element
    sets: dict[str, set[int] | None] = field(default_factory=dict)
    whole: bool = True  # the nodes of every element are known

    def elements(self, word: str) -> set[int]:
        """Elements that a number or a set means; none where it is not known."""
        return {int(word)} if word.isdigit() else self.sets.get("E:" + word.upper()) or set()

    def nodes(self, word: str) -> set[int]:
        return {int(word)} if word.isdigit() else self.sets.get("N:" + word.upper()) or set()


def members(deck: Deck) -> Members:
    found = Members()
    for card in deck.cards:
        if card.name == "ELEMENT":
            _elements(card, found)
        elif card.name == "NODE":
            numbers = {int(first) for _, text in card.data if (first := text.split(",", 1)[0]).isdigit()}
            _add(found, "N:" + card.parameters.get("NSET", "").upper(), numbers)
        elif card.name in ("NSET", "ELSET"):
            kind = card.name[0]
            _add(found, f"{kind}:{card.parameters.get(card.name, '').upper()}", _listed(card, found, kind))
    return found


def _elements(card: Card, found: Members) -> None:
    kind = card.parameters.get("TYPE", "").upper()
    wanted = CORNERS.get(kind)
    numbers: set[int] = set()
    for row in _rows(card, wanted) if wanted else ():
        numbers.add(row[0])
        found.types[row[0]], found.corners[row[0]] = kind, row[1:]
    found.whole &= wanted is not None
    _add(found, "E:" + card.parameters.get("ELSET", "").upper(), numbers if wanted else None)


def _rows(card: Card, wanted: int) -> Iterator[list[int]]:
    """Number and nodes of each element, over as many lines as they take."""
    row: list[int] = []
    for _, text in card.data:
        row += [int(word) for word in text.split(",") if word.isdigit()]
        if len(row) > wanted:
            yield row[: wanted + 1]
            row = []


def _listed(card: Card, found: Members, kind: str) -> set[int] | None:
    numbers: set[int] = set()
    for _, text in card.data:
        if len(numbers) > _MOST:
            return None
        words = [word for word in text.split(",") if word]
        if "GENERATE" in card.parameters and all(word.isdigit() for word in words) and len(words) in (1, 2, 3):
            first, last, step = [*map(int, words), *([int(words[0])] if len(words) == 1 else []), 1][:3]
            numbers |= set(range(first, min(last, first + _MOST) + 1, step or 1))
            continue
        for word in words:
            more = {int(word)} if word.isdigit() else found.sets.get(f"{kind}:{word.upper()}")
            if more is None:
                return None
            numbers |= more
    return None if card.count != len(card.data) else numbers


def _add(found: Members, name: str, numbers: set[int] | None) -> None:
    before = found.sets.get(name, set())
    found.sets[name] = None if before is None or numbers is None else before | numbers

"""Names that a deck uses against names that it defines: sets, surfaces, materials, amplitudes.

The one idea to know: only a deck that was read completely (every include was there, nothing was cut) can be judged.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, error, warning
from .cards import Card, Deck

# First field of a data line: a node or a node set; an element or an element set.
_NODE_DATA = {"BOUNDARY", "CLOAD", "CFLUX", "TEMPERATURE", "NODALTHICKNESS"}
_ELEMENT_DATA = {"DLOAD", "DFLUX", "FILM", "RADIATE"}
_NAME = re.compile(r"[A-Za-z_]")
_LONGEST = 80  # characters of a name
_SOFT = {"NODEPRINT", "ELPRINT", "NODEFILE", "ELFILE", "NODEOUTPUT", "ELEMENTOUTPUT", "FACEPRINT", "CONTACTPRINT", "SECTIONPRINT"}


@dataclass
class Names:
    nodes: set[str] = field(default_factory=set)
    elements: set[str] = field(default_factory=set)
    surfaces: set[str] = field(default_factory=set)
    materials: set[str] = field(default_factory=set)
    amplitudes: set[str] = field(default_factory=set)
    interactions: set[str] = field(default_factory=set)
    orientations: set[str] = field(default_factory=set)

    def of(self, kind: str) -> set[str]:
        return {
            "node set": self.nodes, "element set": self.elements, "surface": self.surfaces, "material": self.materials,
            "amplitude": self.amplitudes, "surface interaction": self.interactions, "orientation": self.orientations,
            "set": self.nodes | self.elements | self.surfaces,
        }[kind]  # fmt: skip


def check(deck: Deck) -> Iterator[Finding]:
    yield from _too_long(deck)
    names = defined(deck)
    told: set[tuple[str, str]] = set()
    for card in deck.cards:
        for line, kind, name in _used(card):
            if name.upper() not in names.of(kind) and (kind, name.upper()) not in told:
                told.add((kind, name.upper()))
                yield _undefined(card, line, kind, name, names)


def defined(deck: Deck) -> Names:
    names = Names()
    for card in deck.cards:
        get = {key: value.upper() for key, value in card.parameters.items()}
        if card.name in ("NODE", "NSET") or "NSET" in get and card.name == "SUBMODEL":
            names.nodes.add(get.get("NSET", ""))
        elif card.name in ("ELEMENT", "ELSET"):
            names.elements.add(get.get("ELSET", ""))
        elif card.name == "SURFACE":
            names.surfaces.add(get.get("NAME", ""))
        elif card.name in ("MATERIAL", "CHANGEMATERIAL"):
            names.materials.add(get.get("NAME", ""))
        elif card.name == "AMPLITUDE":
            names.amplitudes.add(get.get("NAME", ""))
        elif card.name == "SURFACEINTERACTION":
            names.interactions.add(get.get("NAME", ""))
        elif card.name in ("ORIENTATION", "DISTRIBUTION"):
            names.orientations.add(get.get("NAME", ""))
    return names


def _used(card: Card) -> Iterator[tuple[int, str, str]]:
    """(line, kind, name) for each name that a card uses."""
    yield from _parameters(card)
    if card.name in _NODE_DATA or card.name == "INITIALCONDITIONS" and re.match("TEMP|DISP|VELO", card.parameters.get("TYPE", "").upper()):
        yield from _first_fields(card, "node set")
    elif card.name in _ELEMENT_DATA:
        yield from _first_fields(card, "set" if card.name == "DLOAD" else "element set")
    elif card.name in ("NSET", "ELSET") and "GENERATE" not in card.parameters:
        kind = "node set" if card.name == "NSET" else "element set"
        for line, text in card.data:
            yield from ((line, kind, name) for name in text.split(",") if _NAME.match(name))
    elif card.name == "SURFACE":
        yield from _surface(card)
    elif card.name in ("CONTACTPAIR", "TIE"):
        for line, text in card.data[:1]:
            yield from ((line, "set", name) for name in text.split(",")[:2] if _NAME.match(name))


def _parameters(card: Card) -> Iterator[tuple[int, str, str]]:
    get = card.parameters.get
    if card.name in ("SOLIDSECTION", "SHELLSECTION", "BEAMSECTION", "MEMBRANESECTION", "FLUIDSECTION", "SPRING", "DASHPOT",
                     "GAP", "MASS", "BEAMGENERALSECTION", "USERSECTION", "ELPRINT"):  # fmt: skip
        yield from _given(card, "element set", "ELSET")
        yield from _given(card, "material", "MATERIAL") if card.name.endswith("SECTION") else ()
        yield from _given(card, "orientation", "ORIENTATION")
    elif card.name in ("NODEPRINT", "NODEFILE", "TRANSFORM"):
        yield from _given(card, "node set", "NSET")
    elif card.name in ("BOUNDARY", "CLOAD", "DLOAD", "CFLUX", "DFLUX", "FILM", "TEMPERATURE", "RADIATE"):
        yield from _given(card, "amplitude", "AMPLITUDE")
    elif card.name == "CONTACTPAIR":
        yield from _given(card, "surface interaction", "INTERACTION")
    elif card.name == "RIGIDBODY" and not get("ELSET", ""):
        yield from _given(card, "node set", "NSET")


def _given(card: Card, kind: str, parameter: str) -> Iterator[tuple[int, str, str]]:
    name = card.parameters.get(parameter, "")
    if name:
        yield card.line, kind, name


def _first_fields(card: Card, kind: str) -> Iterator[tuple[int, str, str]]:
    if "SUBMODEL" in card.parameters or "FILE" in card.parameters or "USER" in card.parameters:
        return
    for line, text in card.data:
        name = text.split(",", 1)[0]
        if _NAME.match(name):
            yield line, kind, name


def _surface(card: Card) -> Iterator[tuple[int, str, str]]:
    kind = "node set" if card.parameters.get("TYPE", "").upper() == "NODE" else "element set"
    for line, text in card.data:
        name = text.split(",", 1)[0]
        if _NAME.match(name):
            yield line, kind, name


def _too_long(deck: Deck) -> Iterator[Finding]:
    """ccx keeps 80 characters of a name, and stops at a longer one."""
    for card in deck.cards:
        for key in ("NSET", "ELSET", "NAME", "MATERIAL", "AMPLITUDE", "ORIENTATION"):
            name = card.parameters.get(key, "")
            if len(name) > _LONGEST:
                yield error(f"{card.file} line {card.line}: the name {name[:20]}... has {len(name)} characters; ccx reads {_LONGEST} at most.",
                            thing=name[:40], remedy="Give it a shorter name.", **card.where)  # type: ignore[arg-type] # fmt: skip
                return


def _undefined(card: Card, line: int, kind: str, name: str, names: Names) -> Finding:
    near = difflib.get_close_matches(name.upper(), sorted(names.of(kind) - {""}), 1, 0.6)
    remedy = f"The nearest is {near[0]}." if near else f"Define the {kind}, or correct the name."
    make = warning if card.name in _SOFT else error
    return make(f"{card.file} line {line}: the {kind} {name} is used in *{card.name} but never defined.",
                file=card.file, line=line, thing=name, remedy=remedy)  # fmt: skip

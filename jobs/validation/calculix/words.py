"""Keywords and element types of CalculiX, and numbers where numbers must stand.

The one idea to know: ccx compares only the beginning of a keyword, so *ELASTICXX is good, while *ELASTC is passed over
with a warning and its material stays without stiffness.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .abaqus import ASSEMBLY
from .cards import Card, Deck
from .keywords import KEYWORDS, read_as

# Of Abaqus: ccx passes over them with a warning. No typing mistakes.
_FOREIGN = frozenset(
    """PREPRINT PART ENDPART ASSEMBLY ENDASSEMBLY INSTANCE ENDINSTANCE SYSTEM NGEN NFILL NCOPY ELGEN ELCOPY NMAP MONITOR
    PARAMETER FILEFORMAT ENERGYPRINT ENERGYFILE ENERGYOUTPUT CONTACTCONTROLS INCIDENTWAVE DISPLAY IMPERFECTION ROTARYINERTIA
    CONNECTORSECTION COHESIVESECTION EMBEDDEDELEMENT DSECTION DIAGNOSTICS SOLVERCONTROLS SECTIONCONTROLS""".split()
)
ELEMENTS = re.compile(
    r"(C3D(4|6|8|8R|8I|10|10T|15|20|20R|20RB|20RI|20RL|20RLC|20L)|F3D(4|6|8|8R)|S(3|4|4R|6|8|8R)|M3D(3|4|4R|6|8|8R)|CPS(3|4|4R|6|8|8R)|"
    r"CPE(3|4|4R|6|8|8R)|CAX(3|4|4R|6|8|8R)|B(21|31|31R|32|32R|32RL)|T(2D2|3D2|3D3)|D|DCOUP3D|DGAP|GAPUNI|DASHPOT(A|1|2)|"
    r"SPRING(A|1|2)|MASS|U\w*|DC3D(4|6|8|10|15|20|20R)|C3D\w*L)"
)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([EDQedq]?[-+]?\d+)?\Z")
_NUMERIC = {"DENSITY", "EXPANSION", "CONDUCTIVITY", "SPECIFICHEAT", "NODE", "ELASTIC", "PLASTIC"}


def check(deck: Deck) -> Iterator[Finding]:
    if not deck.cards and deck.complete:
        yield error(f"{deck.name} has no keyword card (*NODE, *ELEMENT...) at all.", file=deck.name, line=1, thing="empty",
                    remedy="Upload the deck itself.")  # fmt: skip
    foreign: set[str] = set()
    parts = any(True for _ in deck.of("PART", "ASSEMBLY", "INSTANCE"))  # said once, in abaqus
    for card in deck.cards:
        if read_as(card.name) is None and card.name not in foreign | (ASSEMBLY if parts else set()):
            foreign.add(card.name)
            yield _unknown(card)
        elif card.name == "ELEMENT":
            yield from _element(card)
        if card.name in _NUMERIC:
            yield from _numbers(card)


def _unknown(card: Card) -> Finding:
    at = {**card.where, "thing": f"*{card.name}"}
    where = f"{card.file} line {card.line}"
    near = difflib.get_close_matches(card.name, KEYWORDS, 1, 0.82)
    if card.name in _FOREIGN or not near:
        return warning(f"{where}: ccx does not know the keyword *{card.name} and passes over it and its data.",
                       remedy="Take it out, or check its spelling.", **at)  # type: ignore[arg-type] # fmt: skip
    return error(f"{where}: ccx does not know the keyword *{card.name}; it would go on without it.",
                 remedy=f"Did you mean *{near[0]}?", **at)  # type: ignore[arg-type] # fmt: skip


def _element(card: Card) -> Iterator[Finding]:
    kind = card.parameters.get("TYPE", "").upper()
    where = f"{card.file} line {card.line}"
    if not kind:
        yield error(f"{where}: *ELEMENT has no TYPE.", thing="*ELEMENT", remedy="Add TYPE=, for instance TYPE=C3D10.",
                    **card.where)  # type: ignore[arg-type] # fmt: skip
    elif not ELEMENTS.fullmatch(kind):
        near = difflib.get_close_matches(kind, ["C3D4", "C3D6", "C3D8", "C3D8R", "C3D8I", "C3D10", "C3D15", "C3D20", "C3D20R",
                                                "S3", "S4", "S6", "S8", "S8R", "B31", "B32", "CPS4", "CPE4", "CAX4"], 1)  # fmt: skip
        yield error(f"{where}: ccx does not know the element type {kind}.", thing=kind,
                    remedy=f"Did you mean {near[0]}?" if near else "Use an element type of CalculiX.",
                    **card.where)  # type: ignore[arg-type] # fmt: skip


def _numbers(card: Card) -> Iterator[Finding]:
    for number, text in card.data[:20]:
        for value in text.split(","):
            if value and not _NUMBER.match(value):
                yield error(f"{card.file} line {number}: {value[:40]!r} is not a number, as *{card.name} needs.",
                            file=card.file, line=number, thing=value[:40],
                            remedy="Write numbers with a point and separate them by commas.")  # fmt: skip
                return

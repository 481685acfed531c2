"""Decks of Abaqus/CAE: parts, an assembly and instances, which ccx does not know.

The one idea to know: ccx passes over these keywords with a warning and reads the rest as if it were flat, until a line stops it.
Many warnings about one thing are one finding here, and it names that line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..base import Finding, error, warning
from .cards import Deck

ASSEMBLY = frozenset(["PART", "ENDPART", "ASSEMBLY", "ENDASSEMBLY", "INSTANCE", "ENDINSTANCE", "PREPRINT"])
_STRUCTURE = ("PART", "ASSEMBLY", "INSTANCE")
NAMED = re.compile(r"ENCASTRE|PINNED|[XYZ](A?SYMM|ASYMM)", re.I)
_REMEDY = (
    "Write it flat: in Abaqus/CAE, Model > Edit Attributes > Do not use parts and assemblies in input files; then use ccx's own cards."
)


def check(deck: Deck) -> Iterator[Finding]:
    first = next(deck.of(*_STRUCTURE), None)
    if first is None:
        return
    at = {"file": first.file, "line": first.line, "thing": f"*{first.name}", "remedy": _REMEDY}
    what = f"{first.file} line {first.line}: this is a deck of Abaqus/CAE with parts and instances (*{first.name}), which ccx does not know"
    stopper = _stopper(deck)
    if stopper:
        yield error(f"{what}; it would stop at {stopper}.", **at)  # type: ignore[arg-type]
    else:
        yield warning(f"{what}; it passes over them and reads the rest as one flat model.", **at)  # type: ignore[arg-type]


def _stopper(deck: Deck) -> str:
    """The line at which ccx ends, in words; "" if none is known."""
    several = all(len(list(islice(deck.of(name), 2))) > 1 for name in ("INSTANCE", "PART"))
    for card in deck.of("BOUNDARY", "CLOAD", "INSTANCE"):
        if card.name == "INSTANCE" and several:
            return f"{card.file} line {card.line} at the latest: the nodes of the parts have the same numbers"
        for line, text in card.data if card.name != "INSTANCE" else ():
            words = [*text.split(","), ""]
            if NAMED.fullmatch(words[1]) or "." in words[0]:
                return f"{card.file} line {line} ({text})"
    return ""

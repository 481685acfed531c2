"""What a verdict asks of a deck of pw.x.

The one idea: a deck is only searched for the few values that the output leaves out.
"""

from __future__ import annotations

import re

from .base import Files
from .sources import parts
from .text import number, words


def force_limit(folder: Files, command: str) -> float:
    """forc_conv_thr of the first deck that moves atoms, in Ry/bohr; its default is 1e-3 (INPUT_PW). 0 where there is none."""
    names = set(folder.names())
    for part in parts(command):
        decks = [
            part.input or "",
            *(part.words[at + 1] for at, word in enumerate(part.words[:-1]) if word in ("-in", "-i", "-inp", "-input")),
        ]
        for name in (part.place(deck) for deck in decks if deck):
            text = words(folder, name, 1 << 20) if name in names else ""
            if re.search(r"calculation\s*=\s*['\"](?:vc-)?relax", text):
                told = re.search(r"^[^!\n]*forc_conv_thr\s*=\s*([-+.\deEdD]+)", text, re.M)
                return (number(told[1]) if told else None) or 1e-3
    return 0.0


def value_of(deck: str, name: str) -> str:
    """The value of a variable as it is written; "" where it is not set."""
    match = re.search(rf"(?im)^[^!\n]*?\b{name}\s*=\s*['\"]?([^'\",\n/][^'\",\n]*)", deck)
    return match[1].strip() if match else ""

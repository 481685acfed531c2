"""What a CalculiX deck asks for: its steps, their length, and which results it wants written.

The one idea: only what the verdict compares with the output is read; unknown cards are passed over.
Source: CalculiX CrunchiX user's manual, input deck format.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from .base import Files
from .text import lines, number

TIMED = ("STATIC", "VISCO", "DYNAMIC", "HEATTRANSFER", "COUPLEDTEMPERATURE-DISPLACEMENT", "UNCOUPLEDTEMPERATURE-DISPLACEMENT", "MODALDYNAMIC", "ELECTROMAGNETICS", "CFD")  # fmt: skip
MODES = (
    "FREQUENCY",
    "BUCKLE",
    "COMPLEXFREQUENCY",
    "GREEN",
    "STEADYSTATEDYNAMICS",
    "SENSITIVITY",
    "NOANALYSIS",
    "CRACKPROPAGATION",
    "SUBSTRUCTUREGENERATE",
)
FILED = ("NODEFILE", "ELFILE", "NODEOUTPUT", "ELEMENTOUTPUT", "CONTACTFILE", "CONTACTOUTPUT")
DEEPEST = 8
LONGEST = 256 << 20


@dataclass
class Step:
    number: int
    kind: str = ""
    period: float = 1.0  # in the deck's unit of time


@dataclass
class Deck:
    name: str
    steps: list[Step] = field(default_factory=list)
    results: bool = False  # asks for a .frd
    prints: bool = False  # asks for a .dat that can't be empty
    boundary: bool = False
    missing: list[str] = field(default_factory=list)
    limits: tuple[float, float] = (0.5, 1.0)  # of residuals and corrections, percent; *CONTROLS, PARAMETERS=FIELD sets others

    def step(self, number: int) -> Step | None:
        return self.steps[number - 1] if 0 < number <= len(self.steps) else None

    @property
    def kinds(self) -> set[str]:
        return {step.kind for step in self.steps}


def read(folder: Files, name: str) -> Deck | None:
    """The deck of that file, or None where it is not in the folder."""
    if not folder.size(name):
        return None
    deck, wanted = Deck(name), ""
    for line in _cards(folder, name, deck, 0):
        if line.startswith("*"):
            wanted = _card(deck, line)
        elif wanted == "CONTROLS":
            _limits(deck, line)
        elif wanted:
            _period(deck.steps[-1], line)
        wanted = wanted if line.startswith("*") else ""
    return deck


def _cards(folder: Files, name: str, deck: Deck, depth: int) -> Iterator[str]:
    """Card lines and the data lines that follow them, includes followed inside the folder; comments left out."""
    after = False
    for _, raw in lines(folder, name, LONGEST):
        if not raw.startswith(b"*") and not after:
            continue
        line = raw.decode("latin-1").strip()
        if line.startswith("**") or not line:
            continue
        after = line.startswith("*")
        if after and line.upper().replace(" ", "").startswith("*INCLUDE"):
            yield from _included(folder, name, line, deck, depth)
        else:
            yield line


def _included(folder: Files, name: str, line: str, deck: Deck, depth: int) -> Iterator[str]:
    target = line.partition("=")[2].strip().strip('"')
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if not target or place.startswith(("..", "/")) or not folder.size(place):
        deck.missing.append(target)
    elif depth < DEEPEST:
        yield from _cards(folder, place, deck, depth + 1)


def _card(deck: Deck, line: str) -> str:
    """Notes a card; its name if its next data line is wanted."""
    name, _, options = line.upper().replace(" ", "").partition(",")
    card = name[1:]
    if card == "STEP":
        deck.steps.append(Step(len(deck.steps) + 1))
    elif card in FILED:
        deck.results = True
    elif card in ("NODEPRINT", "ELPRINT"):
        deck.prints |= "SET=" in options and "FREQUENCY=0" not in options and "TIMEPOINTS" not in options
    elif card.startswith("BOUNDARY"):
        deck.boundary = True
    elif deck.steps and not deck.steps[-1].kind and card in TIMED + MODES:
        deck.steps[-1].kind = card
        return card if card in TIMED else ""
    elif card == "CONTROLS" and "PARAMETERS=FIELD" in options and "RESET" not in options:
        return card
    return ""


def _limits(deck: Deck, line: str) -> None:
    """The first two numbers are ratios: of the largest residual to the average force, of the correction to the increment."""
    values = [number(word.strip()) for word in line.split(",")[:2]]
    first, second = (values[at] if at < len(values) else None for at in (0, 1))
    deck.limits = (100 * first if first else deck.limits[0], 100 * second if second else deck.limits[1])


def _period(step: Step, line: str) -> None:
    values = [number(word.strip()) for word in line.split(",")[:2]]
    if len(values) > 1 and values[1]:
        step.period = values[1]

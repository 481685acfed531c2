"""Reads a deck of pw.x: namelists, then cards.

The one idea to know: Fortran reads the namelists in their fixed order and stops at the first name or value that does
not fit, while a card that it does not know is only "ignored".
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error
from ..scan import Scanner
from ..text import not_text, odd_blank, zeros_behind
from .variables import INTEGERS, REALS

CARDS = {"ATOMIC_SPECIES", "ATOMIC_POSITIONS", "K_POINTS", "ADDITIONAL_K_POINTS", "CELL_PARAMETERS", "CONSTRAINTS", "OCCUPATIONS",
         "ATOMIC_VELOCITIES", "ATOMIC_FORCES", "SOLVENTS", "HUBBARD", "DIPOLE", "ESR", "CLIMBING_IMAGES", "PLOT_WANNIER",
         "REF_CELL_PARAMETERS", "END_POSITIONS", "FIRST_IMAGE", "LAST_IMAGE", "INTERMEDIATE_IMAGE", "END_PATH_INPUT", "TOTAL_CHARGE", "COLLECTIVE_VARS", "AUTOPILOT", "KSOUT", "NEB_POSITIONS"}  # fmt: skip
_KEPT = 50_000  # rows of a card; what stands behind them is passed over up to the next card
_NEXT_CARD = re.compile(rb"\n[ \t]*(?:[&$]|[A-Za-z]{4}|[Kk]_|[Ee][Ss][Rr])")  # a label of an atom is shorter than a card's name
_PAIR = re.compile(
    r"\s*([A-Za-z]\w*)\s*(\([^)]*\))?\s*=\s*('(?:[^']|'')*'|\"[^\"]*\"|[^,=!]*?)\s*(?=,|$|!|\s[A-Za-z]\w*\s*(?:\([^)]*\))?\s*=)"
)


@dataclass(frozen=True)
class Value:
    name: str
    text: str
    line: int
    index: str = ""

    @property
    def string(self) -> str | None:
        """The text in quotes; None if it is not a string."""
        if len(self.text) >= 2 and self.text[0] in "'\"" and self.text[-1] == self.text[0]:
            return self.text[1:-1].strip()
        return None

    @property
    def number(self) -> float | None:
        text = re.sub(r"[dDE]", "e", self.text)
        if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text):
            return None
        return float(text)


@dataclass
class Namelist:
    name: str
    line: int
    values: dict[str, Value] = field(default_factory=dict)
    numbered: dict[str, dict[str, Value]] = field(default_factory=dict)  # name -> index as written ("" for none) -> value


@dataclass
class Card:
    name: str
    option: str
    line: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    whole: bool = True  # False: there are more rows than were kept


@dataclass
class Deck:
    name: str
    namelists: dict[str, Namelist] = field(default_factory=dict)
    cards: dict[str, Card] = field(default_factory=dict)
    strays: list[tuple[int, str]] = field(default_factory=list)  # lines that belong to nothing
    twice: list[tuple[int, str]] = field(default_factory=list)  # cards that were there already
    remarks: list[tuple[int, str]] = field(default_factory=list)  # lines of a namelist that begin with #
    findings: list[Finding] = field(default_factory=list)

    def value(self, namelist: str, name: str) -> Value | None:
        found = self.namelists.get(namelist)
        return found.values.get(name) if found else None

    def number(self, namelist: str, name: str) -> float | None:
        value = self.value(namelist, name)
        return value.number if value else None

    def string(self, namelist: str, name: str) -> str | None:
        value = self.value(namelist, name)
        return value.string if value else None


def read(inputs: Inputs, name: str) -> Deck:
    deck = Deck(name)
    if trouble := not_text(inputs, name):
        deck.findings.append(trouble)
        return deck
    reader = _Reader(deck)
    with contextlib.suppress(OSError, KeyError, ValueError, EOFError), inputs.open(name) as stream:
        reader.read(Scanner(stream, name))
    reader.end()
    return deck


class _Reader:
    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.open: Namelist | None = None
        self.card: Card | None = None
        self.odd = False  # one such blank is told of

    def read(self, scanner: Scanner) -> None:
        while (raw := scanner.line()) is not None:
            text = raw.decode("utf-8", "replace")
            self.line(scanner.number, text.lstrip("\ufeff") if scanner.number == 1 else text)
            if self.open is None and self.card is not None and len(self.card.rows) >= _KEPT:
                self.card.whole &= not scanner.skip_to(_NEXT_CARD)
        self.deck.findings += [zeros_behind(self.deck.name, scanner.number)] if scanner.zeros else []
        if self.card is not None and scanner.cut:
            self.card.whole = False

    def line(self, number: int, text: str) -> None:
        bare = text.strip()
        if not text.isascii() and not self.odd and (blank := odd_blank(self.deck.name, number, bare.split("!")[0])):
            self.odd = True
            self.deck.findings.append(blank)
        if self.open is not None:
            self._inside(number, bare)
        elif bare.startswith(("&", "$")) and bare[1:2].isalpha():
            self._begin(number, bare)
        elif bare and not bare.startswith(("!", "#")):
            self._card(number, bare)

    def end(self) -> None:
        if self.open is not None:
            self._unclosed(self.open)

    def _begin(self, number: int, bare: str) -> None:
        name, _, rest = bare[1:].partition(" ")
        self.open = Namelist(name.lower().rstrip(","), number)
        self.deck.namelists.setdefault(self.open.name, self.open)  # pw.x reads the first one only
        if rest.strip():
            self._inside(number, rest.strip())

    def _inside(self, number: int, bare: str) -> None:
        assert self.open is not None
        if bare.startswith("&") and bare[1:4].lower() != "end" and bare[1:2].isalpha():
            self._unclosed(self.open)
            self.open = None
            self._begin(number, bare)
            return
        if bare.startswith("#"):
            self.deck.remarks.append((number, bare))
            return
        if bare.split("!")[0].count("'") % 2:
            self._unquoted(number, bare)
            return
        text, closed = _until_end(bare)
        for value in _pairs(text, number):
            self.open.values[value.name] = value
            self.open.numbered.setdefault(value.name, {})[value.index] = value
        self._left_over(text, number)
        if closed:
            self.open = None

    def _left_over(self, text: str, number: int) -> None:
        """What stands behind the value of a variable that takes one: a decimal comma, a unit."""
        found = list(_PAIR.finditer(text))
        for match, after in zip(found, [*found[1:], None], strict=False):
            name = match.group(1).lower()
            left = text[match.end() : after.start() if after else len(text)].split("!")[0].strip(" ,\t")
            if left and name in INTEGERS | REALS and not match.group(2) and "$" not in left:
                self.deck.findings.append(error(f"{self.deck.name} line {number}: {name} takes one number, behind {match.group(3).strip()} "
                                                f"stands {left[:40]}.", file=self.deck.name, line=number, thing=name,
                                                remedy="Write a decimal point and no unit."))  # fmt: skip

    def _unquoted(self, number: int, bare: str) -> None:
        assert self.open is not None
        if re.search(r"\w'\w", bare) and bare.lstrip()[:1] != "'" and '"' in bare:
            return  # an apostrophe inside double quotes
        self.deck.findings.append(error(f"{self.deck.name} line {number}: a quote is not closed in &{self.open.name} ({bare[:60]}).",
                                        file=self.deck.name, line=number, thing="'", remedy="Close the quote."))  # fmt: skip
        if bare.endswith("/"):
            self.open = None

    def _unclosed(self, namelist: Namelist) -> None:
        self.deck.findings.append(error(f"{self.deck.name} line {namelist.line}: the namelist &{namelist.name} is not closed by a /.",
                                        file=self.deck.name, line=namelist.line, thing=f"&{namelist.name}",
                                        remedy="End it with a line that holds only a /."))  # fmt: skip

    def _card(self, number: int, bare: str) -> None:
        words = re.sub(r"[({})]", " ", bare).split()
        if words and words[0].upper() in CARDS:
            self.card = Card(words[0].upper(), words[1].lower() if len(words) > 1 else "", number)
            self.deck.twice += [(number, self.card.name)] if self.card.name in self.deck.cards else []
            self.deck.cards[self.card.name] = self.card
        elif self.card is not None:
            self.card.rows.append((number, re.split(r"[!#]", bare)[0].split()))
        elif self.card is None:
            self.deck.strays.append((number, bare))


def _until_end(bare: str) -> tuple[str, bool]:
    """(text before the / that ends the namelist, or before a comment; whether it was ended)."""
    quote = ""
    for at, char in enumerate(bare):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "!":
            return bare[:at], False
        elif char == "/" or bare[at : at + 4].lower() == "&end":
            return bare[:at], True
    return bare, False


def _pairs(text: str, number: int) -> Iterator[Value]:
    for found in _PAIR.finditer(text):
        yield Value(found.group(1).lower(), found.group(3).strip(), number, (found.group(2) or "").strip("() "))

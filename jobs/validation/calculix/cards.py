"""Reads a CalculiX deck into cards, following its includes.

The one idea to know: ccx takes blanks out of each line and reads it without regard to case; a keyword is one line. Long tables of data are
skipped, not kept: of a card at most some hundred data lines are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error, warning
from ..paths import check_read
from ..plan import Step
from ..scan import Scanner
from ..text import MOST_INCLUDES, byte_order_mark, not_text, too_many_includes, zeros_behind
from ..tree import resolve
from .keywords import read_as

_KEPT_LINES = 2_000
_KEPT_CARDS = 40_000
_LEVELS = 9  # ccx cascades includes no deeper
_LONGEST_PATH = 132
_LONGEST_LINE = 1320
_BULK = {"NODE", "ELEMENT"}
_NEXT_CARD = re.compile(rb"\n[ \t]*\*(?!\*)")


@dataclass
class Card:
    name: str  # as ccx reads it, upper case, without blanks: SOLIDSECTION
    parameters: dict[str, str]
    file: str
    line: int
    data: list[tuple[int, str]] = field(default_factory=list)
    count: int = 0  # data lines, those not kept as well

    @property
    def where(self) -> dict[str, object]:
        return {"file": self.file, "line": self.line}


@dataclass
class Deck:
    name: str
    cards: list[Card] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True  # nothing was left out: an unknown name is really unknown
    broken: bool = False

    def of(self, *names: str) -> Iterator[Card]:
        return (card for card in self.cards if card.name in names)


def read_deck(inputs: Inputs, step: Step, name: str) -> Deck:
    deck = Deck(name)
    _Reader(inputs, step, deck).file(name, [])
    return deck


class _Reader:
    def __init__(self, inputs: Inputs, step: Step, deck: Deck) -> None:
        self.inputs, self.step, self.deck = inputs, step, deck
        self.card: Card | None = None
        self.files = 0
        self.too_many = False

    def file(self, name: str, above: list[str]) -> None:
        self.files += 1
        if trouble := not_text(self.inputs, name):
            self.deck.findings.append(trouble)
            self.deck.broken = True
            return
        if mark := byte_order_mark(self.inputs, name, "ccx will misread line 1."):
            self.deck.findings.append(mark)
        try:
            with self.inputs.open(name) as stream:
                self._lines(Scanner(stream, name), name, above)
        except (OSError, EOFError, ValueError, KeyError):
            self.deck.complete = False

    def _lines(self, scanner: Scanner, name: str, above: list[str]) -> None:
        while (raw := scanner.line()) is not None:
            number = scanner.number
            text = raw.decode("latin-1").lstrip("\xef\xbb\xbf" if number == 1 else "")
            flat = re.sub(r"\s", "", text)
            if flat.startswith("**") or not flat:
                continue
            if len(raw) > _LONGEST_LINE:
                self._too_long(name, number)
            if flat.startswith("*"):
                self._keyword(flat, name, number, above)
            elif self.card is not None:
                self._data(flat, scanner, number)
        if scanner.cut:
            self.deck.complete = False
        if scanner.too_long:
            self._too_long(name, scanner.number + 1)
        if scanner.zeros:
            self.deck.findings.append(zeros_behind(name, scanner.number))

    def _keyword(self, flat: str, name: str, number: int, above: list[str]) -> None:
        if flat.upper().startswith("*INCLUDE"):
            self._include(flat, name, number, above)
            return
        head, *rest = flat[1:].split(",")
        pairs = (part.partition("=") for part in rest)
        self.card = Card(read_as(head.upper()) or head.upper(), {key.upper(): value for key, _, value in pairs}, name, number)
        if len(self.deck.cards) < _KEPT_CARDS:
            self.deck.cards.append(self.card)
        else:
            self.deck.complete = False

    def _data(self, flat: str, scanner: Scanner, number: int) -> None:
        card = self.card
        assert card is not None
        if not card.count and number == card.line + 1 and re.match(r"[A-Za-z]+=", flat):
            self.deck.findings.append(
                error(
                    f"{card.file} line {number}: {flat[:60]} continues the keyword *{card.name}, but ccx does not read keywords over "
                    "several lines.",
                    file=card.file,
                    line=number,
                    thing=flat[:60],
                    remedy="Write the keyword in one line.",
                )  # fmt: skip
            )
        card.count += 1
        if len(card.data) < _KEPT_LINES:
            card.data.append((number, flat))
        bulk = card.name in _BULK and card.count >= _KEPT_LINES
        if bulk or card.count >= 20_000:
            card.count += scanner.skip_to(_NEXT_CARD)
        if card.count > _KEPT_LINES and card.name in ("NSET", "ELSET", "SURFACE", "BOUNDARY"):
            card.parameters.setdefault("", "long")

    def _include(self, flat: str, name: str, number: int, above: list[str]) -> None:
        path = flat.partition("=")[2].replace('"', "")
        finding = self._judge(path, name, number, above)
        inside = resolve(self.step.cwd or "", path) if self.step.cwd is not None else None
        if finding:
            self.deck.findings.append(finding)
            self.deck.complete = False
        elif inside not in self.step.tree.inputs or inside in self.step.tree.made:
            self.deck.complete = False
        elif self.files > MOST_INCLUDES:
            self.deck.findings += [] if self.too_many else [too_many_includes(name, number)]
            self.too_many, self.deck.complete = True, False
        else:
            self.file(str(inside), [*above, name])

    def _judge(self, path: str, name: str, number: int, above: list[str]) -> Finding | None:
        at = {"file": name, "line": number, "thing": path[:200]}
        if not path:
            return error(f"{name} line {number} is an *INCLUDE without a file.", remedy="Write *INCLUDE, INPUT=file.", **at)
        if len(path) > _LONGEST_PATH:
            return error(f"{name} line {number} includes a path that is too long: {len(path)} characters, ccx reads 132.",
                         remedy="Put the file into a folder with a shorter name.", **at)  # fmt: skip
        inside = resolve(self.step.cwd or "", path)
        if inside in [*above, name]:
            return error(f"{name} line {number} includes {path}, which includes itself: an endless loop.",
                         remedy="Take one of the *INCLUDE lines out.", **at)  # fmt: skip
        if len(above) >= _LEVELS:
            return error(f"{name} line {number} includes {path} more than {_LEVELS} levels deep; ccx goes no deeper.",
                         remedy="Flatten the includes.", **at)  # fmt: skip
        if self.step.conditional:
            return None
        return check_read(self.step.tree, path, verb="includes", file=name, line=number, cwd=self.step.cwd)

    def _too_long(self, name: str, number: int) -> None:
        if not any(finding.thing == "long line" for finding in self.deck.findings):
            self.deck.findings.append(
                warning(
                    f"{name} line {number} is longer than the {_LONGEST_LINE} characters that ccx reads.",
                    file=name,
                    line=number,
                    thing="long line",
                    remedy="Break the line.",
                )  # fmt: skip
            )

"""What a deck says twice or in the wrong order: namelists, cards, the cell and the places of atoms.

The one idea to know: pw.x reads namelists one after the other and never goes back, and stops at what is given twice rather than
choose.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error
from .deck import Card, Deck, Value

_ORDER = ("control", "system", "electrons", "ions", "cell")
_OPTIONS = {
    "K_POINTS": ("gamma", "automatic", "tpiba", "crystal"),
    "ATOMIC_POSITIONS": ("alat", "bohr", "angstrom", "crystal"),
    "CELL_PARAMETERS": ("alat", "bohr", "angstrom"),
}
_MOST = 100_000  # rows that are compared


def order(deck: Deck, needed: list[str]) -> Iterator[Finding]:
    """Namelists that stand behind one that is read after them."""
    there = [deck.namelists[name] for name in _ORDER if name in needed and name in deck.namelists]
    for before, after in zip(there, there[1:], strict=False):
        if after.line < before.line:
            yield _wrong(deck, after.line, f"&{after.name}", f"&{after.name.upper()} stands before &{before.name.upper()} of line "
                         f"{before.line}", f"The order is {', '.join('&' + name.upper() for name in needed)}.")  # fmt: skip
            return


def check(deck: Deck) -> Iterator[Finding]:
    for line, name in deck.twice:
        yield _wrong(deck, line, name, f"the card {name} is given twice", "Keep one of the two.")
    for line, text in deck.remarks:
        yield _wrong(deck, line, text[:1], f"{text[:40]} is no remark within a namelist", "Write ! before a remark.")
    yield from _options(deck)
    yield from _cell(deck)
    yield from _species(deck)
    yield from _places(deck)
    yield from _spin(deck)


def _options(deck: Deck) -> Iterator[Finding]:
    for name, known in _OPTIONS.items():
        card = deck.cards.get(name)
        if card and card.option and not any(word in card.option for word in known):
            near = difflib.get_close_matches(card.option, known, 1, 0.7)
            if near:
                yield _wrong(deck, card.line, card.option, f"{name} knows no {card.option}", f"Did you mean {near[0]}?")


def _cell(deck: Deck) -> Iterator[Finding]:
    ibrav, card = deck.value("system", "ibrav"), deck.cards.get("CELL_PARAMETERS")
    celldm, a = _length(deck, "celldm"), _length(deck, "a")
    if celldm and a:
        yield _wrong(deck, a.line, "celldm", "celldm and A are both given", "Keep one of the two: celldm(1) is in bohr, A in angstrom.")
    if not card or not ibrav or ibrav.number is None:
        return
    if ibrav.number != 0:
        yield _wrong(deck, card.line, "CELL_PARAMETERS", f"CELL_PARAMETERS is given together with ibrav={ibrav.text}",
                     "Write ibrav=0, or take the card out.")  # fmt: skip
    elif card.option in ("bohr", "angstrom") and (celldm or a):
        yield _wrong(deck, card.line, "CELL_PARAMETERS", f"the vectors are in {card.option}, but {'celldm(1)' if celldm else 'A'} is "
                     "given too", "Take it out, or write CELL_PARAMETERS alat.")  # fmt: skip
    elif card.option == "alat" and "system" in deck.namelists and not {"celldm", "a"} & deck.namelists["system"].values.keys():
        yield _wrong(deck, card.line, "CELL_PARAMETERS", "the vectors are in units of alat, but neither celldm(1) nor A is given",
                     "Add celldm(1) or A, or write CELL_PARAMETERS bohr or angstrom.")  # fmt: skip


def _length(deck: Deck, name: str) -> Value | None:
    given = deck.namelists["system"].numbered.get(name, {}) if "system" in deck.namelists else {}
    value = given.get("1" if name == "celldm" else "")
    return value if value and value.number else None


def _species(deck: Deck) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for line, words in deck.cards["ATOMIC_SPECIES"].rows if "ATOMIC_SPECIES" in deck.cards else ():
        if len(words) >= 3 and words[0] in seen:
            yield _wrong(deck, line, words[0], f"the species {words[0]} is given in line {seen[words[0]]} already", "Keep one of the two.")
        elif words:
            seen[words[0]] = line


def _places(deck: Deck) -> Iterator[Finding]:
    """Atoms with a coordinate too few, and two at one place; in units of the cell a whole number apart is one place too."""
    positions, nat = deck.cards.get("ATOMIC_POSITIONS"), deck.number("system", "nat")
    if not positions or not nat or deck.value("system", "space_group") or positions.option.endswith("_sg"):
        return
    labels = {words[0] for _, words in deck.cards["ATOMIC_SPECIES"].rows if words} if "ATOMIC_SPECIES" in deck.cards else set()
    seen: dict[tuple[float, ...], int] = {}
    for line, words in [row for row in positions.rows[:_MOST] if row[1]][: int(nat)]:
        if len(words) in (2, 3) and words[0] in labels:
            yield _wrong(deck, line, "ATOMIC_POSITIONS", f"the atom {words[0]} has {len(words) - 1} coordinate{'s' * (len(words) > 2)}",
                         "Write x, y and z behind the label.")  # fmt: skip
            return
        place = _place(positions, words)
        if place in seen:
            yield _wrong(deck, line, "ATOMIC_POSITIONS", f"the atom {words[0]} is at the same place as the one of line {seen[place]}",
                         "Correct the coordinates.")  # fmt: skip
            return
        if place:
            seen[place] = line


def _place(card: Card, words: list[str]) -> tuple[float, ...] | None:
    numbers = [Value("", word, 0).number for word in words[1:4]]
    if len(numbers) < 3 or None in numbers:
        return None
    whole = [round(number or 0.0, 6) for number in numbers]
    return tuple(round(number % 1.0, 6) % 1.0 for number in whole) if card.option.startswith("crystal") else tuple(whole)


def _spin(deck: Deck) -> Iterator[Finding]:
    nspin, ntyp = deck.value("system", "nspin"), deck.number("system", "ntyp")
    if nspin and nspin.number is not None and nspin.number not in (1, 2, 4):
        yield _wrong(deck, nspin.line, "nspin", f"nspin is {nspin.text}", "Choose 1, 2 (or 4 for noncollinear spins).")
    given = deck.namelists["system"].numbered.get("starting_magnetization", {}) if "system" in deck.namelists else {}
    if given and ntyp and all(index.isdigit() and int(index) > ntyp for index in given):
        value = next(iter(given.values()))
        yield _wrong(deck, value.line, value.name, f"starting_magnetization({value.index}) is for a species that is not there: ntyp is "
                     f"{ntyp:g}", "The number in brackets is that of the species, from 1 to ntyp.")  # fmt: skip


def _wrong(deck: Deck, line: int, thing: str, what: str, remedy: str) -> Finding:
    return error(f"{deck.name} line {line}: {what}.", file=deck.name, line=line, thing=thing, remedy=remedy)

"""Values and cards of a deck of pw.x.

The one idea to know: counts are said twice (nat and the positions, ntyp and the species), and pw.x stops, or worse
goes on with fewer atoms, where they differ.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..plan import Step
from . import electrons, limits, pseudopotentials, structure
from .deck import CARDS, Deck, Namelist, Value
from .variables import CHOICES, INTEGERS, LOGICALS, NAMELISTS, REALS, STRINGS

_ORDER = ["control", "system", "electrons"]
_TYPOGRAPHIC = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00b4\u0060\u00ab\u00bb\u2032'\""
_FUNCTIONALS = """pz bp pw91 blyp lda pbe revpbe pw86pbe b86bpbe pbesol pbeq2d q2d hcth olyp wc sogga optbk88 optb86b ev93 tpss m06l tb09 scan
    scan0 r2scan rscan pbe0 b86bpbex bhahlyp bhandhlyp hse hf b3lyp b3lyp-v1r x3lyp gaupbe gaup rpbe none oep vdw-df vdw-df2 vdw-df3-opt1
    vdw-df3-opt2 vdw-df-cx vdw-df-c09 vdw-df2-c09 vdw-df-ob86 vdw-df2-b86r vdw-df-obk8 vdw-df-c6 rvv10 rvv10-scan beef beef-vdw""".split()
_POSITIVE = {"ecutwfc": "system", "ecutrho": "system", "nat": "system", "ntyp": "system", "conv_thr": "electrons",
             "electron_maxstep": "electrons", "mixing_beta": "electrons", "dt": "control", "nbnd": "system"}  # fmt: skip


def check(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    broken = bool(deck.findings)
    yield from _namelists(deck)
    for namelist in deck.namelists.values():
        yield from _variables(deck, namelist)
    yield from _numbers(deck)
    yield from limits.check(deck)
    if not broken:
        yield from _cell(deck)
        yield from _cards(deck)
        yield from structure.check(deck)
        yield from _counts(deck)
        yield from _points(deck)
        yield from electrons.check(request, step, deck)
    yield from _release(request, deck)
    yield from _functional(deck)
    yield from pseudopotentials.check(request, step, deck)


def _release(request: Request, deck: Deck) -> Iterator[Finding]:
    """Hubbard's U went from &SYSTEM into a card with release 7.1."""
    found = re.match(r"v?(\d+)\.(\d+)", request.version.strip())
    if not found:
        return
    new = (int(found.group(1)), int(found.group(2))) >= (7, 1)
    value = deck.value("system", "lda_plus_u")
    if new and value:
        yield _wrong(deck, value.line, "lda_plus_u", f"lda_plus_u is not in Quantum ESPRESSO {request.version}", "Write the card HUBBARD.")
    elif not new and "HUBBARD" in deck.cards:
        yield _wrong(deck, deck.cards["HUBBARD"].line, "HUBBARD", f"the card HUBBARD is not in Quantum ESPRESSO {request.version}",
                     "Write lda_plus_u and Hubbard_U into &SYSTEM, or choose release 7.1 or later.")  # fmt: skip


def _functional(deck: Deck) -> Iterator[Finding]:
    """pw.x takes the parts of a name that it knows, and goes on without the rest."""
    value = deck.value("system", "input_dft")
    word = (value.string or "").lower() if value else ""
    near = difflib.get_close_matches(word, _FUNCTIONALS, 1, 0.75) if word and word not in _FUNCTIONALS else []
    if value and near and not re.search(r"[+\s]|xc-|\d{3}", word):
        yield warning(f"{deck.name} line {value.line}: the functional {value.string} is not one that is known here; pw.x may take another "
                      "one without a word.", file=deck.name, line=value.line, thing=str(value.string), remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _namelists(deck: Deck) -> Iterator[Finding]:
    for name, namelist in deck.namelists.items():
        if name not in NAMELISTS:
            near = difflib.get_close_matches(name, list(NAMELISTS), 1, 0.6)
            if near:
                yield _wrong(deck, namelist.line, f"&{name}", f"there is no namelist &{name}", f"Did you mean &{near[0]}?")
    calculation = (deck.string("control", "calculation") or "scf").lower()
    needed = [*_ORDER, *(["ions"] if calculation in ("relax", "md", "vc-relax", "vc-md") else []),
              *(["cell"] if calculation in ("vc-relax", "vc-md") else [])]  # fmt: skip
    for name in needed:
        if name not in deck.namelists and not any(name in difflib.get_close_matches(n, [name], 1, 0.6) for n in deck.namelists):
            yield _wrong(deck, 1, f"&{name}", f"there is no namelist &{name.upper()}, which {calculation} needs",
                         f"Add &{name.upper()} and a / after it.")  # fmt: skip
    yield from structure.order(deck, needed)


def _variables(deck: Deck, namelist: Namelist) -> Iterator[Finding]:
    known = NAMELISTS.get(namelist.name)
    if known is None:
        return
    for value in namelist.values.values():
        if value.name not in known:
            yield _unknown(deck, namelist, value, known)
        elif value.name in STRINGS and value.string is None and "$" not in value.text and not value.text.startswith(("'", '"')):
            yield _unquoted(deck, value)
        elif value.name in LOGICALS and "$" not in value.text and not re.fullmatch(r"\.?[tTfF]\w*\.?", value.text):
            yield _wrong(deck, value.line, value.name, f"{value.name} is yes or no, not {value.text[:40]}", "Write .true. or .false.")
        elif value.name in INTEGERS | REALS and "$" not in value.text:
            yield from _numeric(deck, value)
        if value.name in CHOICES and value.string is not None:
            yield from _choice(deck, value)


def _unquoted(deck: Deck, value: Value) -> Finding:
    """Text without quotes, or in those of a word processor, which Fortran takes for letters."""
    bare = value.text.strip(_TYPOGRAPHIC)[:40]
    what = f"{value.name} wants text in quotes, not {value.text[:40]}"
    if bare != value.text[:40]:
        what = f"the quotes of {value.name}={value.text[:40]} are typographic ones, which Fortran does not know"
    return _wrong(deck, value.line, value.name, what, f"Write {value.name}='{bare}'.")


def _unknown(deck: Deck, namelist: Namelist, value: Value, known: frozenset[str]) -> Finding:
    other = next((name for name, names in NAMELISTS.items() if value.name in names), None)
    near = difflib.get_close_matches(value.name, sorted(known), 1, 0.7)
    guess = f"Did you mean {near[0]}?" if near else "Take it out or correct it."
    remedy = f"It belongs into &{other.upper()}." if other else guess
    make = error if near or other else warning
    return make(f"{deck.name} line {value.line}: &{namelist.name} knows no variable {value.name}.", file=deck.name, line=value.line,
                thing=value.name, remedy=remedy)  # fmt: skip


def _numeric(deck: Deck, value: Value) -> Iterator[Finding]:
    kind = "a whole number" if value.name in INTEGERS else "a number"
    wrong = value.number is None or (value.name in INTEGERS and value.number != int(value.number))
    if wrong and re.match(r"[-+\d.]|[A-Za-z]+$", value.text):
        yield _wrong(deck, value.line, value.name, f"{value.name} wants {kind}, not {value.text[:40]}", f"Write {kind}.")


def _choice(deck: Deck, value: Value) -> Iterator[Finding]:
    text = (value.string or "").lower()
    allowed = [word.lower() for word in CHOICES[value.name].split()]
    if text and text not in allowed and "$" not in text:
        near = difflib.get_close_matches(text, allowed, 1, 0.5)
        yield _wrong(deck, value.line, value.name, f"{value.name}='{value.string}' is not allowed",
                     f"Did you mean '{near[0]}'?" if near else f"Choose one of {', '.join(allowed)}.")  # fmt: skip


def _numbers(deck: Deck) -> Iterator[Finding]:
    for name, namelist in _POSITIVE.items():
        value = deck.value(namelist, name)
        if value and value.number is not None and value.number <= 0 and not (name == "nbnd" and value.number == 0):  # 0: pw.x counts
            never = " and can never be met" if name == "conv_thr" else ""
            yield _wrong(deck, value.line, name, f"{name} is {value.text}{never}", "Give a value above zero.")
    wave, density = deck.number("system", "ecutwfc"), deck.value("system", "ecutrho")
    if wave and density and density.number and 0 < density.number < wave:
        yield _wrong(deck, density.line, "ecutrho", f"ecutrho {density.text} is below ecutwfc {wave:g}", "Give at least 4 times ecutwfc.")
    if "system" in deck.namelists and not deck.findings:
        for name in ("ecutwfc", "nat", "ntyp", "ibrav"):
            if deck.value("system", name) is None and deck.value("system", "space_group") is None:
                line = deck.namelists["system"].line
                near = difflib.get_close_matches(name, list(deck.namelists["system"].values), 1, 0.7)
                yield _wrong(deck, line, name, f"&SYSTEM has no {name}", f"There is {near[0]}." if near else f"Add {name}.")


_LATTICES = {*range(15), -3, -5, -9, -12, -13, 91}
_MORE = {4: ("3",), 6: ("3",), 7: ("3",), 5: ("4",), -5: ("4",), 8: ("2", "3"), 9: ("2", "3"), -9: ("2", "3"), 91: ("2", "3"), 10: ("2", "3"),
         11: ("2", "3"), 12: ("2", "3", "4"), 13: ("2", "3", "4"), -12: ("2", "3", "5"), -13: ("2", "3", "5"),
         14: ("2", "3", "4", "5", "6")}  # fmt: skip


def _lattice(deck: Deck, ibrav: Value) -> Iterator[Finding]:
    given = deck.namelists["system"].numbered.get("celldm", {})
    kind = int(ibrav.number or 0)
    if kind not in _LATTICES:
        yield _wrong(deck, ibrav.line, "ibrav", f"there is no ibrav {ibrav.text}", "Choose one of 0 to 14, -3, -5, -9, -12, -13, 91.")
    first = given.get("1")
    if first and first.number is not None and first.number <= 0:
        yield _wrong(deck, first.line, "celldm", f"celldm(1) is {first.text}", "Give a length above zero, in bohr.")
    missing = [index for index in _MORE.get(kind, ()) if index not in given] if given and "" not in given else []
    if missing:
        yield _wrong(deck, ibrav.line, "celldm", f"ibrav={ibrav.text} needs celldm({missing[0]})", f"Add celldm({missing[0]}).")


def _cell(deck: Deck) -> Iterator[Finding]:
    ibrav = deck.value("system", "ibrav")
    if not ibrav or ibrav.number is None:
        return
    yield from _lattice(deck, ibrav)
    card = deck.cards.get("CELL_PARAMETERS")
    if card and len([words for _, words in card.rows if words]) < 3:
        yield _wrong(deck, card.line, "CELL_PARAMETERS", f"CELL_PARAMETERS has {len(card.rows)} rows of three", "Write the three vectors.")
    if ibrav.number == 0 and "CELL_PARAMETERS" not in deck.cards:
        yield _wrong(deck, ibrav.line, "ibrav", "ibrav=0 needs the card CELL_PARAMETERS", "Add it, or choose an ibrav.")
    elif ibrav.number != 0 and deck.value("system", "celldm") is None and deck.value("system", "a") is None:
        yield _wrong(deck, ibrav.line, "celldm", f"ibrav={ibrav.text} needs celldm(1) or A", "Add the lattice parameter.")


def _cards(deck: Deck) -> Iterator[Finding]:
    for card in deck.cards.values():
        for line, words in card.rows:
            yield from _stray_card(deck, line, words)
    for line, text in deck.strays:
        yield from _stray_card(deck, line, text.split())
    for name in ("ATOMIC_SPECIES", "ATOMIC_POSITIONS"):
        if name not in deck.cards and "control" in deck.namelists and deck.value("system", "space_group") is None:
            yield _wrong(deck, 1, name, f"there is no card {name}", f"Add {name}.")


def _stray_card(deck: Deck, line: int, words: list[str]) -> Iterator[Finding]:
    word = words[0].upper() if words else ""
    if len(word) > 5 and "_" in word and word not in CARDS:
        near = difflib.get_close_matches(word, CARDS, 1, 0.8)
        if near:
            yield _wrong(deck, line, word, f"{words[0]} is no card of pw.x and would be passed over", f"Did you mean {near[0]}?")


def _counts(deck: Deck) -> Iterator[Finding]:
    species = deck.cards.get("ATOMIC_SPECIES")
    positions = deck.cards.get("ATOMIC_POSITIONS")
    labels = {words[0].lower() for _, words in species.rows if words} if species else set()
    ntyp, nat = deck.value("system", "ntyp"), deck.value("system", "nat")
    rows = [(line, words) for line, words in positions.rows if len(words) >= 4 or _symmetric(deck)] if positions else []
    if (
        species
        and species.whole
        and ntyp
        and ntyp.number
        and len(species.rows) != ntyp.number
        and all(len(words) >= 3 for _, words in species.rows)
    ):
        yield _wrong(deck, ntyp.line, "ntyp", f"ntyp is {ntyp.text}, but ATOMIC_SPECIES lists {len(species.rows)}", "Make them agree.")
    if positions and nat and nat.number and rows and len(rows) != nat.number and not _symmetric(deck) \
            and positions.whole and len(rows) == len(positions.rows):  # fmt: skip
        yield _wrong(deck, nat.line, "nat", f"nat is {nat.text}, but ATOMIC_POSITIONS lists {len(rows)} atoms", "Make them agree.")
    for line, words in species.rows if species else ():
        if words and len(words) < 3:
            yield _wrong(deck, line, "ATOMIC_SPECIES", f"the species {words[0]} has no {'pseudopotential' if len(words) == 2 else 'mass'}",
                         "Write label, mass and file.")  # fmt: skip
    for line, words in positions.rows[:100_000] if positions else ():
        comma = next((word for word in words[1:4] if "," in word), None)
        if comma:
            yield _wrong(
                deck, line, comma, f"the coordinate {comma} has a comma in it", "Write a decimal point, and blanks between numbers."
            )
            break
    for line, words in rows[:100_000]:
        if labels and words and words[0].lower() not in labels and not any(finding for finding in deck.findings):
            yield _wrong(deck, line, words[0], f"the species {words[0]} of ATOMIC_POSITIONS is not in ATOMIC_SPECIES",
                         f"Defined are {', '.join(sorted(labels))}.")  # fmt: skip
            return


def _symmetric(deck: Deck) -> bool:
    positions = deck.cards.get("ATOMIC_POSITIONS")
    return deck.value("system", "space_group") is not None or bool(positions and positions.option.endswith("_sg"))


def _points(deck: Deck) -> Iterator[Finding]:
    points = deck.cards.get("K_POINTS")
    if not points:
        return
    if points.option == "automatic":
        words = points.rows[0][1] if points.rows else []
        line = points.rows[0][0] if points.rows else points.line
        if len(words) < 6:
            yield _wrong(
                deck, line, "K_POINTS", f"K_POINTS automatic wants six numbers, not {len(words)}", "Write for instance 4 4 4 0 0 0."
            )
        elif any(re.fullmatch(r"[-+]?\d+", word) and int(word) <= 0 for word in words[:3]):
            yield _wrong(deck, line, "K_POINTS", f"the grid of k points is {' '.join(words[:3])}", "Give at least 1 in each direction.")
        elif any(re.fullmatch(r"[-+]?\d+", word) and int(word) not in (0, 1) for word in words[3:6]):
            yield _wrong(deck, line, "K_POINTS", f"the shifts of the grid of k points are {' '.join(words[3:6])}", "Each is 0 or 1.")
    elif points.option in ("", "tpiba", "crystal", "tpiba_b", "crystal_b") and points.rows and points.rows[0][1]:
        count = points.rows[0][1][0]
        if count.isdigit() and points.whole and len(points.rows) - 1 < int(count):
            yield _wrong(deck, points.rows[0][0], "K_POINTS", f"K_POINTS announces {count} points and lists {len(points.rows) - 1}",
                         "Correct the number.")  # fmt: skip


def _wrong(deck: Deck, line: int, thing: str, what: str, remedy: str) -> Finding:
    return error(f"{deck.name} line {line}: {what}.", file=deck.name, line=line, thing=thing, remedy=remedy)

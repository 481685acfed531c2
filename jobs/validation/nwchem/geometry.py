"""The rows of a geometry: atoms, their places, symmetry, a Z-matrix and its variables, and which geometry is chosen.

The one idea to know: a row that NWChem can't take for an atom ends the input; rows of crystals and of blocks within the geometry are
left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, Inputs, error, warning
from ..plan import Step
from ..text import lines
from ..tree import resolve
from .deck import Block, Deck, Row

SYMBOLS = frozenset(
    """h he li be b c n o f ne na mg al si p s cl ar k ca sc ti v cr mn fe co ni cu zn ga ge as se br kr rb sr y zr nb mo tc ru rh
    pd ag cd in sn sb te i xe cs ba la ce pr nd pm sm eu gd tb dy ho er tm yb lu hf ta w re os ir pt au hg tl pb bi po at rn fr
    ra ac th pa u np pu am cm bk cf es fm md no lr bq x""".split()
)
_ELSEWHERE = {"load", "system", "crystal", "slab", "polymer", "use", "unload"}  # atoms of another kind, or from a file
_MATRIX = {"zmatrix", "zmat", "zmt"}
_POINT_GROUP = re.compile(r"c\d\d?[vh]?|d\d\d?[hd]?|s\d\d?|cs|ci|t[dh]?|oh?|ih?|\d{1,3}|#|group|print|noprint|tol|p.*")


def check(inputs: Inputs, step: Step, deck: Deck) -> Iterator[Finding]:
    for block in deck.of("geometry"):
        if block.closed:
            yield from _geometry(block)
            yield from _loaded(inputs, step, block)
    if deck.complete and not deck.cut and not any(True for _ in deck.of("restart", "python", "load_geometry", "rtdb")):
        yield from _chosen(deck)


def is_number(word: str) -> bool:
    return bool(re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?", word))


def _geometry(block: Block) -> Iterator[Finding]:
    inner = {row.name for row in block.rows}
    words = inner | {word.lower() for word in block.head.words[1:]}
    atoms = [row for row in block.rows if len(row.words) >= 4 and is_number(row.words[1])]
    if not atoms and not inner & (_ELSEWHERE | _MATRIX) and not words & {"load", "bqbq"}:
        yield _wrong(block.head, "the geometry has no atoms", "geometry", "Add lines such as O 0 0 0.")
    if inner & _MATRIX:
        yield from _variables(block)
    elif "zcoord" not in inner:
        yield from _places(atoms)
        yield from _short(block) if not words & _ELSEWHERE else ()
    for row in atoms:
        letters = re.match(r"[a-z]*", row.name)
        symbol = letters.group() if letters else ""
        if symbol and symbol[:2] not in SYMBOLS and symbol[:1] not in SYMBOLS and not symbol.startswith("bq"):
            yield _wrong(row, f"{row.words[0]} is no element", row.words[0], "Begin the tag with the symbol of an element.")
        elif symbol.startswith("x") and symbol not in ("x", "xe", "xenon"):
            yield warning(f"{row.where}: {row.words[0]} is no element; by its x NWChem takes it for a dummy centre.", file=row.file,
                          line=row.line, thing=row.words[0], remedy="Begin the tag with the symbol of an element.")  # fmt: skip
    yield from _symmetry(block) if not words & _ELSEWHERE else ()


def _places(atoms: list[Row]) -> Iterator[Finding]:
    """Coordinates that are no numbers, and two atoms in one place."""
    seen: dict[tuple[float, ...], Row] = {}
    for row in atoms:
        wrong = next((word for word in row.words[1:4] if not is_number(word)), None)
        if wrong:
            yield _wrong(row, f"the coordinate {wrong} of {row.words[0]} is no number", wrong, "Write x, y and z behind the tag.")
            return
        place = tuple(float(re.sub("[dD]", "e", word)) for word in row.words[1:4])
        if place in seen:
            yield _wrong(row, f"{row.words[0]} is at the same place as {seen[place].words[0]} of line {seen[place].line}", row.words[0],
                         "Correct the coordinates.")  # fmt: skip
            return
        seen[place] = row


def _short(block: Block) -> Iterator[Finding]:
    """An atom with a coordinate too few, or a number too many."""
    for row in block.rows:
        letters = re.fullmatch(r"([a-z]{1,2})\d*", row.name)
        if not letters or letters[1] not in SYMBOLS or len(row.words) < 2 or not is_number(row.words[1]):
            continue
        if len(row.words) < 4:
            yield _wrong(row, f"the atom {row.words[0]} of the geometry has {len(row.words) - 1} coordinate{'s' * (len(row.words) > 2)}",
                         "geometry", "Write x, y and z behind the tag.")  # fmt: skip
            return
        if len(row.words) > 4 and is_number(row.words[4]):
            yield _wrong(row, f"behind the coordinates of {row.words[0]} stands {row.words[4]}", row.words[4],
                         "Write x, y and z; a charge or mass has its word before it.")  # fmt: skip
            return


def _symmetry(block: Block) -> Iterator[Finding]:
    heads = [(block.head, word) for word in (block.head.after("symmetry"), block.head.after("sym")) if word]
    rows = [(row, row.after("group") or row.words[1]) for row in block.rows if row.name in ("symmetry", "sym") and len(row.words) > 1]
    for row, word in (*heads, *rows):
        if not _POINT_GROUP.fullmatch(word.lower()):
            yield _wrong(row, f"there is no symmetry group {word}", word, "Write for instance symmetry c2v, or symmetry c1.")


def _variables(block: Block) -> Iterator[Finding]:
    """Names in a Z-matrix that are never given a value; they count with their case."""
    given, used, matrix = set(), [], False
    named = False
    for row in block.rows:
        if row.name in _MATRIX:
            matrix, named = True, False
        elif row.name in ("variables", "constants", "vars", "consts"):
            named = True
        elif row.name == "end":
            matrix = False
        elif matrix and named:
            given.add(row.words[0])
        elif matrix:
            used += [(row, word.lstrip("+-")) for word in row.words[2:7:2] if not is_number(word)]
    missing = next(((row, word) for row, word in used if word not in given), None)
    if missing:
        near = next((f"There is {name}." for name in sorted(given) if re.sub(r"\W|_", "", name.lower()) == missing[1].lower()), "")
        yield _wrong(missing[0], f"the variable {missing[1]} of the Z-matrix is never given a value", missing[1],
                     near or "Give it under variables, with the same case.")  # fmt: skip


def _loaded(inputs: Inputs, step: Step, block: Block) -> Iterator[Finding]:
    """A file of coordinates that announces more atoms than it has."""
    for row in block.rows:
        path = row.words[-1] if row.name == "load" else ""
        inside = resolve(step.cwd, path) if path.lower().endswith(".xyz") and step.cwd is not None else None
        if inside not in step.tree.inputs or inside in step.tree.made:
            continue
        name = str(inside)
        read = list(lines(inputs, name, 20_000))
        first = read[0].text.split() if read else []
        if not first or not first[0].isdigit():
            yield error(f"{name} line 1 must be the number of atoms.", file=name, line=1, thing=" ".join(first)[:40],
                        remedy="Line 1 is the number, line 2 a title; then the atoms.")  # fmt: skip
            continue
        atoms = sum(len(line.text.split()) >= 4 for line in read[2:])
        if len(read) < 20_000 and atoms < int(first[0]):
            yield error(f"{name} announces {first[0]} atoms in line 1, but lists {atoms}.", file=name, line=1, thing=first[0],
                        remedy="Correct the number, or the list.")  # fmt: skip


def _chosen(deck: Deck) -> Iterator[Finding]:
    """`set geometry NAME` and `set "ao basis" NAME` of something that is never given."""
    for block in deck.of("set"):
        words = block.head.words
        kind = {"geometry": "geometry", "ao basis": "basis"}.get(words[1].lower()) if len(words) == 3 else None
        if not kind:
            continue
        heads = {word for other in deck.of(kind) for word in (*other.head.words, kind, "ao basis")}
        if words[2] not in heads:
            yield _wrong(block.head, f"there is no {kind} of the name {words[2]} in the deck", words[2],
                         f"Name it in the head of its block ({kind} {words[2]}), or correct the name.")  # fmt: skip


def _wrong(row: Row, what: str, thing: str, remedy: str) -> Finding:
    return error(f"{row.where}: {what}.", file=row.file, line=row.line, thing=thing, remedy=remedy)

"""Types of atoms: how many there are, and whether each has its mass and its pair coefficients.

The one idea to know: LAMMPS refuses to start a run while a type has no mass or no coefficients; both can be counted where the
number of types is plain and nothing else (a restart, an eam potential) may set them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from .data import Data
from .script import Command, Script, is_known

_BY_TYPE = {"atomic", "charge", "bond", "angle", "molecular", "full"}
_COUNTED = re.compile(
    r"^(lj/(cut|long|charmm|expand|gromacs|smooth|cubic|sf|class2|mdf|sdk)(/(coul/(cut|long|msm|debye|dsf|wolf|charmm|gromacs)|opt|linear))*"
    r"|buck(/coul/(cut|long|msm))?|morse|born(/coul/(long|msm|wolf))?|soft|yukawa|gauss|dpd|mie/cut|table|lj96/cut)(/(omp|gpu|kk|opt|intel))?$"
)
_MIXES = re.compile(r"^(lj/|mie|lj96|soft|yukawa|gauss)")


def check(script: Script, data: Data | None) -> Iterator[Finding]:
    runs = next(script.of("run", "minimize"), None)
    loops = any(True for _ in script.of("if", "jump", "read_restart", "python", "clear", "partition", "rerun"))
    count = count_of_types(script, data)
    if not script.complete or loops or runs is None or not count:
        return
    before = script.commands[: script.commands.index(runs)]
    yield from _masses(before, runs, count, data)
    yield from _coefficients(before, runs, count, data)


def count_of_types(script: Script, data: Data | None) -> int | None:
    """How many types there are; None where it is not plain."""
    boxes = list(script.of("create_box", "read_data"))
    if len(boxes) != 1 or any(command.name == "read_data" and len(command.words) > 1 for command in boxes):
        return None
    if boxes[0].name == "read_data":
        return data.types.get("atom") if data else None
    return int(boxes[0].word(0)) if boxes[0].word(0).isdigit() and int(boxes[0].word(0)) <= 1000 else None


def _masses(before: list[Command], run: Command, count: int, data: Data | None) -> Iterator[Finding]:
    style = next((command.word(0) for command in before if command.name == "atom_style"), "atomic")
    pairs = [command.word(0) + " " + " ".join(command.words) for command in before if command.name == "pair_style"]
    plain = len(pairs) == 1 and _COUNTED.match(pairs[0].split()[1])
    if style not in _BY_TYPE or not plain or (data and "Masses" in data.sections):
        return
    missing = _left([command.word(0) for command in before if command.name == "mass"], count)
    if missing:
        at = next((command for command in before if command.name == "mass"), run)
        yield error(f"{at.where}: there {_are(count)}, but no mass for type {missing[0]}.", file=at.file, line=at.line, thing="mass",
                    remedy=f"Add mass {missing[0]} VALUE.")  # fmt: skip


def _coefficients(before: list[Command], run: Command, count: int, data: Data | None) -> Iterator[Finding]:
    styles = [command for command in before if command.name == "pair_style"]
    if len(styles) != 1 or not _COUNTED.match(styles[0].word(0)) or (data and {"Pair Coeffs", "PairIJ Coeffs"} & set(data.sections)):
        return
    given = [command.words[:2] for command in before if command.name == "pair_coeff"]
    if any(len(pair) < 2 for pair in given):
        return
    covered = [(_range(one, count), _range(two, count)) for one, two in given]
    if any(one is None or two is None for one, two in covered):
        return
    pairs = {tuple(sorted((i, j))) for one, two in covered for i in one or () for j in two or ()}
    wanted = [(i, j) for i in range(1, count + 1) for j in range(i, count + 1) if i == j or not _MIXES.match(styles[0].word(0))]
    missing = next((pair for pair in wanted if pair not in pairs), None)
    if missing:
        at = next((command for command in reversed(before) if command.name == "pair_coeff"), styles[0])
        yield error(f"{at.where}: there {_are(count)}, but no pair_coeff for types {missing[0]} and {missing[1]}.", file=at.file,
                    line=at.line, thing="pair_coeff", remedy=f"Add pair_coeff {missing[0]} {missing[1]} ...")  # fmt: skip


def _left(words: list[str], count: int) -> list[int]:
    """Types that none of the words names; none where a word is not plain."""
    named = [_range(word, count) for word in words]
    if any(one is None for one in named):
        return []
    done = {at for one in named for at in one or ()}
    return [at for at in range(1, count + 1) if at not in done]


def _range(word: str, count: int) -> range | None:
    """Types of `2`, `*`, `2*`, `*3`, `2*3`; None for anything else (a variable, a label)."""
    if not is_known(word) or not (found := re.fullmatch(r"(\d*)(\*?)(\d*)", word)) or not word:
        return None
    first, star, last = found.groups()
    if not star:
        return range(int(word), int(word) + 1)
    return range(int(first or 1), int(last or count) + 1)


def _are(count: int) -> str:
    return f"is {count} type of atoms" if count == 1 else f"are {count} types of atoms"

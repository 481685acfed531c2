"""Elements behind a potential file: as many as there are types, and those of the file.

The one idea to know: `pair_coeff * * FILE Ni Al` names an element for each type; LAMMPS stops if there are more or fewer, or if the file
does not hold one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, Request, error
from ..plan import Step
from ..text import lines
from ..tree import resolve
from .data import Data
from .script import Command, Script, is_known
from .types import count_of_types

_MAPPED = re.compile(
    r"(eam/(alloy|fs|cd|he)|tersoff(/mod|/mod/c|/zbl|/shift)?|sw(/mod)?|vashishta|airebo(/morse)?|rebo|edip(/multi)?|adp|bop|extep|gw(/zbl)?|"
    r"reaxff|reax/c|comb3?|polymorphic|lcbop|nb3b/harmonic)(/(omp|gpu|kk|opt|intel))?"
)
_TABLES = re.compile(r"(eam/(alloy|fs)|adp)(/\w+)?")


def check(request: Request, step: Step, script: Script, data: Data | None) -> Iterator[Finding]:
    styles = list(script.of("pair_style"))
    if len(styles) != 1 or not _MAPPED.fullmatch(styles[0].word(0)) or not script.complete:
        return
    count = count_of_types(script, data)
    for command in script.of("pair_coeff"):
        words = command.words
        if words[:2] != ("*", "*") or len(words) < 4 or not all(map(is_known, words)):
            continue
        named = words[3:]
        if count and len(named) != count and styles[0].word(0) not in ("comb3", "bop"):
            yield error(f"{command.where}: pair_coeff names {len(named)} element{'s' * (len(named) != 1)}, but there "
                        f"{'is 1 type' if count == 1 else f'are {count} types'} of atoms.", file=command.file, line=command.line,
                        thing="pair_coeff", remedy="Name an element for each type, NULL for one that another style takes.")  # fmt: skip
        elif _TABLES.fullmatch(styles[0].word(0)):
            yield from _held(request, step, command, named)


def _held(request: Request, step: Step, command: Command, named: tuple[str, ...]) -> Iterator[Finding]:
    """Line 4 of a table of the setfl kind: how many elements, and which."""
    path = resolve(step.cwd, command.word(2)) if step.cwd is not None else None
    if path not in step.tree.inputs or path in step.tree.made:
        return
    fourth = next((line.text.split() for line in lines(request.inputs, str(path), 4) if line.number == 4), [])
    if not fourth or not fourth[0].isdigit() or int(fourth[0]) != len(fourth) - 1:
        return
    strange = next((word for word in named if word not in fourth[1:] and word != "NULL"), None)
    if strange:
        yield error(f"{command.where}: {path} holds {', '.join(fourth[1:])}, not {strange}.", file=command.file, line=command.line,
                    thing=strange, remedy="Name an element of the file, spelt as there.")  # fmt: skip

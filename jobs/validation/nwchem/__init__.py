"""NWChem: decks whose words, files or memory can't be.

The one idea to know: `memory` is asked for by each process; what counts is that number times the ranks of a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, Request, error
from ..paths import check_read, spot
from ..plan import Plan, Step
from ..solvers import SOLVERS
from ..text import NO_TEXT
from ..tree import resolve
from . import files, geometry, memory, molecule, words
from .deck import read

_PROGRAM = SOLVERS[5].programs


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    for step in plan.steps:
        if re.fullmatch(_PROGRAM, step.program) and None not in step.argv:
            yield from _step(request, step)


def _step(request: Request, step: Step) -> Iterator[Finding]:
    name = next((word for word in step.argv[1:] if word and not word.startswith("-")), None)
    at = {"file": step.file, "line": step.line}
    if name is None and not (step.cwd is not None and step.tree.exists(resolve(step.cwd, "nwchem.nw") or "?") is not False):
        yield error(f"{spot(step.file, step.line)} starts {step.program} without a deck.", thing=step.program,
                    remedy=f"Write {step.program} FILE.nw.", **at)  # type: ignore[arg-type] # fmt: skip
        return
    name = name or "nwchem.nw"
    ends = [end for end in ("", ".nw") if step.cwd is not None and step.tree.exists(resolve(step.cwd, name + end) or "?") is not False]
    if not ends and not step.conditional:
        found = check_read(step.tree, name, verb="runs NWChem on", file=step.file, line=step.line, cwd=step.cwd)
        yield from [found] if found else []
    inside = resolve(step.cwd, name + (ends[0] if ends else "")) if step.cwd is not None else None
    if inside not in step.tree.inputs or inside in step.tree.made:
        return
    deck = read(request.inputs, step, str(inside))
    yield from deck.findings
    if any(finding.thing in NO_TEXT for finding in deck.findings):
        return
    yield from words.check(deck)
    yield from geometry.check(request.inputs, step, deck)
    yield from molecule.check(deck)
    yield from memory.check(request, step, deck)
    yield from files.check(step, deck)

"""Scripts that a later line starts and nobody uploaded, although a program before it might have written anything.

The one idea to know: when all that ran before is among the inputs itself, it can be searched for the name of the script. What does
not name it does not write it, so the script is missing for sure; a program from elsewhere may fetch anything, then nothing is said.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from . import programs, solvers
from .base import Finding, Inputs, Request
from .paths import check_read
from .plan import SHELLS, Plan, Step
from .tree import Tree

_SCRIPT = re.compile(r"\.(sh|bash|py|pl|R|r|jl|rb|m|gp|gnu|plt|awk|tcl|lua)$")
_HARMLESS = {"pip", "pip3", "conda", "mamba", "gnuplot", "gcc", "g++", "gfortran", "mpicc", "mpif90", "mpicxx", "mpifort", "nice"}
_ASKED = 20  # scripts that are asked after
_MOST, _EACH = 16 << 20, 4 << 20  # bytes that are searched


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    asked: set[str] = set()
    for step in plan.steps:
        word = _started(step)
        name = step.path(word) if word else None
        if (
            not name
            or name in asked
            or len(asked) >= _ASKED
            or step.conditional
            or step.before == "||"
            or step.tree.exists(name) is not None
        ):
            continue
        asked.add(name)
        if all(_is_innocent(request.inputs, other, name) for other in _unknown(request.inputs, plan, step)):
            found = check_read(_as_uploaded(step), str(word), verb="runs", file=step.file, line=step.line, cwd=step.cwd)
            yield from [found] if found else []


def _started(step: Step) -> str | None:
    word = programs.script(step)
    if word is None and step.argv and "/" in (step.argv[0] or ""):
        word = step.argv[0]
    if word is None and step.program in ("source", ".") and len(step.argv) > 1:
        word = step.argv[1]
    return word if word and _SCRIPT.search(word) and not word.startswith(("/", "~")) else None


def _unknown(inputs: Inputs, plan: Plan, step: Step) -> list[Step]:
    """The steps before this one that may have made any file; scripts that were read line by line are no steps of their own."""
    return [
        other
        for other in plan.until(step)
        if other.program not in (*SHELLS, *plan.functions) and not _is_read(plan, other) and programs.effects(other, inputs)[1]
    ]


def _is_read(plan: Plan, step: Step) -> bool:
    name = step.path(step.argv[0]) if step.argv and "/" in (step.argv[0] or "") else None
    return name is not None and any(other.file == name for other in plan.steps)


def _is_innocent(inputs: Inputs, step: Step, wanted: str) -> bool:
    if step.program in _HARMLESS or solvers.claims(step.program):
        return True
    word = programs.script(step) or (step.argv[0] if step.argv and "/" in (step.argv[0] or "") else None)
    name = step.path(word) if word else None
    if name not in step.tree.inputs or name in step.tree.made:
        return False
    base, end = posixpath.basename(wanted).encode(), posixpath.splitext(wanted)[1].encode()
    named = re.compile(rb"[\"'/]" + re.escape(base) + rb"\b|" + re.escape(end) + rb"[\"'`\0]")  # the name, or what makes one: f"run_{n}.sh"
    return all(data is not None and not named.search(data) for data in _texts(inputs, str(name)))


def _texts(inputs: Inputs, name: str) -> Iterator[bytes | None]:
    """A program and, as it may use them, the modules beside it; None for what is too big to be searched."""
    left = _MOST
    for each in [name, *(other for other in inputs.names() if other.endswith(".py") and other != name)]:
        left -= inputs.size(each)
        if left < 0 or inputs.size(each) > _EACH:
            yield None
            return
        with inputs.open(each) as stream:
            yield stream.read(_EACH)


def _as_uploaded(step: Step) -> Tree:
    """The tree as if nothing but what is known had been made."""
    tree = step.tree.copy()
    tree.anything = False
    return tree

"""Small input files of programs that nobody here knows: namelists, JSON, YAML, INI.

The one idea to know: what a value means is only guessed by its name, so nothing but a broken syntax is an error; a file of settings
with a path of somebody's own machine, a size below zero or a grid of ranks that is not that of the launcher is warned of.
"""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections.abc import Iterator

from . import solvers, text
from .base import Finding, Request, error, warning
from .elsewhere import HOMES
from .plan import Plan, Step
from .tree import is_windows

_ENDS = (".nml", ".json", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".toml", ".par", ".inp", ".in", ".namelist", ".params", ".prm")
_VALUE = re.compile(
    r"""(?<![\w.%-])["']?([A-Za-z][\w.%-]{0,60})(?:\([\d,: ]*\))?["']?\s*[:=]\s*(?:"([^"]*)"|'([^']*)'|([^\s,;"'!#{}\[\]]+))"""
)
_SIZES = re.compile(r"(nx|imax|n_?cells?|n_?points?|n_?elem\w*|n_?particles?|grid_?size|n_?steps?|num_?steps)$")
_TIMES = re.compile(r"(dt|delta_?t|time_?step|step_?size|t_?end|end_?time|t_?max|t_?final)$")
_TOLERANCES = re.compile(r"(tol|tolerance|eps|epsilon|rel_?tol|abs_?tol|conv\w*_?(tol|thr\w*|crit\w*))$")
_GRIDS = tuple(
    tuple(word.format(axis) for axis in "xyz") for word in ("p{}", "np{}", "nproc{}", "nproc_{}", "nprocs_{}", "n_proc_{}", "proc{}")
)
_FILES, _MOST, _FINEST = 100, 256 << 10, 1e-18


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    told: set[str] = set()
    for step in plan.steps:
        if step.conditional or solvers.claims(step.program) or step.program in ("cp", "mv", "rm", "cat", "echo", "sed", "awk", "grep"):
            continue
        for word in [*step.argv[1:], step.stdin]:
            name = step.path((word or "").rpartition("=")[2] or None)
            if (
                len(told) < _FILES
                and name
                and name.lower().endswith(_ENDS)
                and name not in told
                and name in step.tree.inputs
                and name not in step.tree.made
            ):
                told.add(name)
                yield from _file(request, step, name)


def _file(request: Request, step: Step, name: str) -> Iterator[Finding]:
    if trouble := text.not_text(request.inputs, name):
        yield trouble
        return
    content = text.read_small(request.inputs, name, _MOST)
    if content is None:
        return
    yield from _json(name, content) if name.lower().endswith(".json") else ()
    yield from _namelist(name, content) if re.match(r"\s*&[A-Za-z]\w*\s*(\n|$)", content) else ()
    values: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(content.split("\n"), 1):
        for found in _VALUE.finditer(re.split(r"[!#]", line)[0] if "://" not in line else line):
            value = next(part for part in found.groups()[1:] if part is not None)
            values[found[1].lower()] = (value, number)
            yield from _path(step, name, number, value)
            yield from _number(name, number, found[1], value)
    yield from _ranks(step, name, values)


def _json(name: str, content: str) -> Iterator[Finding]:
    try:
        json.loads(content)
    except ValueError as wrong:
        line = getattr(wrong, "lineno", 1)
        if not re.search(r"^\s*//|/\*", content, re.M):  # some programs take remarks
            yield error(f"{name} line {line} is not valid JSON: {getattr(wrong, 'msg', wrong)}.", file=name, line=line, thing="syntax",
                        remedy="Correct this line: a comma too many or too few, or a quote.")  # fmt: skip
    except RecursionError:
        return


def _namelist(name: str, content: str) -> Iterator[Finding]:
    """A namelist of Fortran that nothing closes: the program ends at the end of the file."""
    opened: tuple[str, int] | None = None
    for number, line in enumerate(content.split("\n"), 1):
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", line).split("!")[0].strip()
        if found := re.match(r"&([A-Za-z]\w*)", bare):
            if found[1].lower() == "end":
                opened = None
                continue
            if opened:
                break
            opened = (found[1], number)
        if opened and "/" in bare:
            opened = None
    if opened:
        yield error(f"{name} line {opened[1]}: the namelist &{opened[0]} is not closed by a /.", file=name, line=opened[1],
                    thing=f"&{opened[0]}", remedy="End it with a line that holds only a /.")  # fmt: skip


def _path(step: Step, name: str, line: int, value: str) -> Iterator[Finding]:
    at = {"file": name, "line": line, "thing": value}
    if is_windows(value.replace("\\\\", "\\")) and "\\" in value or value.startswith(HOMES):
        base = re.split(r"[\\/]", value.rstrip("\\/"))[-1]
        yield warning(f"{name} line {line} names {value}, a path of another machine; it is not there.",
                      remedy=f"Use a name in the job folder: {base}.", **at)  # type: ignore[arg-type] # fmt: skip
    elif re.fullmatch(r"[\w./-]*\w\.[A-Za-z]\w{0,6}", value) and (inside := step.path(value)):
        near = next((other for other in step.tree.inputs if other.lower() == inside.lower() and other != inside), None)
        if near and step.tree.exists(inside) is False:
            yield warning(f"{name} line {line} names {value}, which is not among the uploaded files.",
                          remedy=f"Names are case-sensitive: there is {near}.", **at)  # type: ignore[arg-type] # fmt: skip


def _number(name: str, line: int, key: str, value: str) -> Iterator[Finding]:
    try:
        number = float(re.sub("[dD]", "e", value))
    except ValueError:
        return
    word, at = key.lower().split("%")[-1].split(".")[-1], {"file": name, "line": line, "thing": key}
    if _SIZES.match(word) and (number < -1 or (number == 0 and not word.endswith(("step", "steps")))):
        yield warning(f"{name} line {line}: {key} is {value}; there can't be so few.", remedy="Give a number above zero.", **at)  # type: ignore[arg-type]
    elif _TIMES.match(word) and number < 0 and number != -1:
        yield warning(f"{name} line {line}: {key} is {value}, a time below zero.", remedy="Give a time above zero.", **at)  # type: ignore[arg-type]
    elif _TOLERANCES.match(word) and number < _FINEST and number != -1:
        yield warning(f"{name} line {line}: the tolerance {key} = {value} can never be met.", remedy="Give for instance 1e-8.", **at)  # type: ignore[arg-type]


def _ranks(step: Step, name: str, values: dict[str, tuple[str, int]]) -> Iterator[Finding]:
    """Ranks along the axes (px, py, pz): their product is the number of ranks."""
    ranks = step.launcher.ranks if step.launcher else None
    for axes in _GRIDS:
        given = [values[axis] for axis in axes if axis in values]
        if not ranks or len(given) < 2 or axes[0] not in values or not all(value.isdigit() for value, _ in given):
            continue
        product = math.prod(int(value) for value, _ in given)
        if product != ranks:
            shown = " x ".join(value for value, _ in given)
            yield warning(f"{name} line {given[0][1]} divides the work among {shown} = {product} ranks, but the command starts {ranks}.",
                          file=name, line=given[0][1], thing=posixpath.basename(axes[0]),
                          remedy=f"Start {product} ranks, or change {', '.join(axes[: len(given)])}.")  # fmt: skip

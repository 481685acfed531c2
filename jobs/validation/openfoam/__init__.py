"""OpenFOAM: cases that no step can open, split, or bring to an end.

The one idea to know: the command is read as a row of steps on a case, so that "decomposePar was forgotten" and "the
mesh is made by an earlier step" are both known.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import spot
from ..plan import Plan, Step
from ..solvers import SOLVERS, canonical
from . import control, fields, mesh, parallel, schemes, settings, tools
from .case import Case
from .releases import check as check_release

_PROGRAM = re.compile(SOLVERS[1].programs)
_NO_CASE = {"foamJob", "foamVersion", "foamDictionary", "runApplication", "runParallel", "foamNewCase", "foamCloneCase",
            "foamInstallationTest", "foamInfo", "foamListTimes", "foamHelp", "foamEtcFile"}  # fmt: skip


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    yield from check_release(request, plan)
    for case in _cases(request, plan):
        yield from _case(request, case)


def _cases(request: Request, plan: Plan) -> list[Case]:
    cases: dict[str, Case] = {}
    for step in plan.steps:
        if not _works_on_case(step) or "-help" in step.argv:
            continue
        folder = step.path(step.option("-case") or ".")
        if folder is not None:
            cases.setdefault(folder, Case(request.inputs, folder, version=request.version)).steps.append(step)
    if not cases and canonical(request.software) == "openfoam" and "system/controlDict" in plan.tree.inputs:
        step = plan.steps[-1] if plan.steps else Step((), (), 1, tree=plan.tree)
        return [Case(request.inputs, "", [step], request.version)]
    return list(cases.values())


def _works_on_case(step: Step) -> bool:
    if step.program in _NO_CASE:
        return False
    return bool(_PROGRAM.fullmatch(step.program)) or (not step.program and "getApplication" in " ".join(step.shown))


def _case(request: Request, case: Case) -> Iterator[Finding]:
    found = list(_control_dict(case))
    yield from found
    if not found:
        yield from control.check(case)
        yield from parallel.check(request, case)
        yield from mesh.check(request, case)
        yield from tools.check(case)
        yield from fields.check(case)
        yield from schemes.check(request, case)
        yield from settings.check(case)
        for name in sorted(case.parsed):
            yield from _problems(case, name)
    yield from case.findings


def _control_dict(case: Case) -> Iterator[Finding]:
    step = next((step for step in case.steps if not step.conditional), None)
    if step is None or case.may_have("system/controlDict", step):
        return
    near = next((name for name in sorted(case.first.tree.inputs, key=len) if name.endswith("system/controlDict")), None)
    lower = next((name for name in sorted(case.first.tree.inputs, key=len) if name.lower().endswith("system/controldict")), None)
    if near:
        top = posixpath.dirname(posixpath.dirname(near)) or "."
        remedy = f"The case lies in the folder {top}: begin the command with cd {top}, or upload its content without that folder."
    elif lower:
        remedy = f"Names are case-sensitive: there is {lower}."
    else:
        remedy = "Upload the case with its folders system, constant and 0."
    place = case.path("system/controlDict")
    yield error(f"{spot(step.file, step.line)} runs {step.program or 'a solver'}, but there is no {place}.", file=step.file,
                line=step.line, thing=place, remedy=remedy)  # fmt: skip


def _problems(case: Case, name: str) -> Iterator[Finding]:
    parsed = case.parsed[name]
    plain = parsed is not None and (name.startswith("system/") or parsed.get("FoamFile") is not None)
    for problem in (parsed.problems if parsed and plain else [])[:5]:
        make = error if problem.sure else warning
        path = case.path(name)
        yield make(f"{path} line {problem.line}: {problem.message}.", file=path, line=problem.line, thing=problem.thing,
                   remedy="End each entry with a semicolon and close each bracket.")  # fmt: skip

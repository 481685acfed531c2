"""fvSchemes and fvSolution: sections that a solver needs, and names of linear solvers.

The one idea to know: the lists of linear solvers, smoothers and preconditioners are short and closed, and a linear solver fits one
kind of matrix, symmetric or not.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from . import equations, models, scheme_names
from .case import Case, solves
from .dictionary import Dictionary, Entry

_WORDS = {
    "solver": "PCG PBiCG PBiCGStab GAMG smoothSolver diagonal diagonalSolver ICCG BICCG nthn PBiCCCG FPCG PPCG PPCR petsc",
    "smoother": "GaussSeidel symGaussSeidel DIC DILU DICGaussSeidel DILUGaussSeidel nonBlockingGaussSeidel FDIC",
    "preconditioner": "DIC DILU FDIC GAMG diagonal none distributedDIC distributedDILU",
}
_NEEDED = {"system/fvSchemes": ("gradSchemes", "divSchemes", "laplacianSchemes"), "system/fvSolution": ()}
_ALGORITHM = {"icoFoam": "PISO", "pisoFoam": "PISO", "simpleFoam": "SIMPLE", "pimpleFoam": "PIMPLE", "interFoam": "PIMPLE"}


def check(request: Request, case: Case) -> Iterator[Finding]:
    step = next((step for step in case.steps if solves(step.program) and not step.conditional), None)
    if step is None:
        return
    for name, sections in _NEEDED.items():
        if not case.may_have(name, step):
            near = step.tree.nearest(case.path(name))
            yield error(f"{step.program} reads {case.path(name)}, which is not among the uploaded files.", thing=name,
                        remedy=f"There is {near}." if near else "Upload it.")  # fmt: skip
            continue
        parsed = case.dictionary(name)
        if parsed and not parsed.open and not parsed.problems:
            algorithm = (_ALGORITHM[step.program],) if name.endswith("fvSolution") and step.program in _ALGORITHM else ()
            yield from _sections(case.path(name), parsed, (*sections, *algorithm))
    yield from models.check(case, step.program)
    yield from equations.check(case, step.program)
    yield from _solvers(case)
    yield from scheme_names.check(case)
    yield from _loops(request, case)


def _sections(path: str, parsed: Dictionary, names: tuple[str, ...]) -> Iterator[Finding]:
    keys = [entry.key for entry in parsed.entries]
    for name in names:
        if parsed.get(name) is None:
            near = difflib.get_close_matches(name, keys, 1, 0.75)
            yield error(f"{path} has no section {name}.", file=path, line=1, thing=name,
                        remedy=f"There is {near[0]}." if near else f"Add {name} {{ ... }}.")  # fmt: skip


def _solvers(case: Case) -> Iterator[Finding]:
    plain = any(step.program in ("icoFoam", "simpleFoam", "pisoFoam", "pimpleFoam") for step in case.steps)
    parsed = case.dictionary("system/fvSolution")
    solvers = parsed.sub("solvers") if parsed else None
    path = case.path("system/fvSolution")
    for block in solvers.entries if solvers else ():
        for key, allowed in _WORDS.items():
            entry = block.sub.get(key) if block.sub else None
            if entry and entry.word and entry.word not in allowed.split():
                near = difflib.get_close_matches(entry.word, allowed.split(), 1, 0.6)
                if near:
                    yield _unknown(path, entry, f"the {key} {entry.word}", near[0])
        yield from _matrix(path, block, _kinds(parsed, block)) if plain and parsed else ()
        for key in ("tolerance", "maxIter"):
            entry = block.sub.get(key) if block.sub else None
            if entry and entry.number is not None and entry.number < 0:
                yield error(f"{path} line {entry.line}: {key} is negative, so it can never be met.", file=path, line=entry.line,
                            thing=key, remedy="Give a value above zero.")  # fmt: skip
    yield from _residuals(path, parsed)


_CONVECTED = {"U", "k", "epsilon", "omega", "nuTilda"}  # convection makes their matrices asymmetric
_ONLY_SYMMETRIC = {
    "solver": {"PCG", "ICCG", "FPCG", "PPCG"},
    "preconditioner": {"DIC", "FDIC"},
    "smoother": {"DIC", "DICGaussSeidel", "FDIC"},
}
_ONLY_ASYMMETRIC = {"solver": {"PBiCG", "BICCG"}, "preconditioner": {"DILU"}, "smoother": {"DILU", "DILUGaussSeidel"}}


def _kinds(parsed: Dictionary, block: Entry) -> set[str]:
    """The fields that this block is for, of those of which the kind of matrix is known."""
    solvers = parsed.sub("solvers") or Dictionary()
    found = {name for name in (*_CONVECTED, "p") if block in (solvers.get(name), solvers.get(name + "Final"))}
    predictors = [section.sub.get("momentumPredictor") for section in parsed.entries if section.sub]
    return found - {"U"} if any(entry for entry in predictors) else found


def _matrix(path: str, block: Entry, names: set[str]) -> Iterator[Finding]:
    """A linear solver for the other kind of matrix."""
    if not names or not block.sub or block.sub.open:
        return
    asymmetric = "U" in names or names <= _CONVECTED
    kind, wrong = ("asymmetric", _ONLY_SYMMETRIC) if asymmetric else ("symmetric", _ONLY_ASYMMETRIC)
    for key, words in wrong.items():
        entry = block.sub.get(key) if block.sub else None
        if entry and entry.word in words:
            yield error(f"{path} line {entry.line}: the matrix of {block.key} is {kind}, and {entry.word} is no {key} for it.", file=path,
                        line=entry.line, thing=entry.word,
                        remedy="Write PBiCGStab with DILU, or smoothSolver." if kind == "asymmetric" else "Write PCG with DIC, or GAMG.")  # fmt: skip


def _residuals(path: str, parsed: Dictionary | None) -> Iterator[Finding]:
    for name in ("SIMPLE", "PIMPLE"):
        section = parsed.sub(name) if parsed else None
        control = section.sub("residualControl") if section else None
        for entry in control.entries if control else ():
            if entry.number is not None and entry.number <= 0:
                yield warning(f"{path} line {entry.line}: residualControl of {entry.key} is {entry.text}; it can never be met.",
                              file=path, line=entry.line, thing=entry.key, remedy="Give a value above zero.")  # fmt: skip


def _loops(request: Request, case: Case) -> Iterator[Finding]:
    """Releases v1906... take the residuals of PISO and PIMPLE only as sections, since they end inner loops."""
    parsed = case.dictionary("system/fvSolution")
    for name in ("PISO", "PIMPLE") if parsed and re.match(r"v?\d{4}\b", request.version.strip().lower()) else ():
        section = parsed.sub(name) if parsed else None
        control = section.sub("residualControl") if section else None
        flat = next((entry for entry in control.entries if entry.number is not None), None) if control and not control.open else None
        if flat and any(_ALGORITHM.get(step.program) == name for step in case.steps):
            path = case.path("system/fvSolution")
            yield error(f"{path} line {flat.line}: residualControl of {flat.key} must be a section in {name}, not a number.", file=path,
                        line=flat.line, thing="residualControl", remedy=f"Write {flat.key} {{ tolerance {flat.text}; relTol 0; }}.")  # fmt: skip


def _unknown(path: str, entry: Entry, what: str, near: str) -> Finding:
    return error(f"{path} line {entry.line}: {what} is not known.", file=path, line=entry.line, thing=entry.word or "",
                 remedy=f"Did you mean {near}?")  # fmt: skip

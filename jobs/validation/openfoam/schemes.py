"""fvSchemes and fvSolution: sections that a solver needs, and names of linear solvers.

The one idea to know: the lists of linear solvers, smoothers and preconditioners are short and closed; those of schemes
are long and open, so a strange scheme is only pointed out where it looks like a typing mistake.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error, warning
from .case import Case, solves
from .dictionary import Dictionary, Entry

_WORDS = {
    "solver": "PCG PBiCG PBiCGStab GAMG smoothSolver diagonal diagonalSolver ICCG BICCG nthn PBiCCCG FPCG PPCG PPCR petsc",
    "smoother": "GaussSeidel symGaussSeidel DIC DILU DICGaussSeidel DILUGaussSeidel nonBlockingGaussSeidel FDIC",
    "preconditioner": "DIC DILU FDIC GAMG diagonal none distributedDIC distributedDILU",
}
_SCHEMES = frozenset(
    """Gauss linear upwind linearUpwind linearUpwindV limitedLinear limitedLinearV vanLeer vanLeerV vanAlbada bounded corrected
    uncorrected orthogonal limited unlimited cellLimited faceLimited cellMDLimited Euler backward CrankNicolson steadyState localEuler
    leastSquares meshWave LUST QUICK MUSCL Minmod SuperBee cubic midPoint interfaceCompression none default grad skewCorrected
    harmonic reconstruct pointLinear localBlended blended filteredLinear SFCD Gamma clippedLinear DEShybrid""".split()
)
_NEEDED = {"system/fvSchemes": ("gradSchemes", "divSchemes", "laplacianSchemes"), "system/fvSolution": ()}
_ALGORITHM = {"icoFoam": "PISO", "pisoFoam": "PISO", "simpleFoam": "SIMPLE", "pimpleFoam": "PIMPLE", "interFoam": "PIMPLE"}


def check(case: Case) -> Iterator[Finding]:
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
    yield from _solved(case, step.program)
    yield from _solvers(case)
    yield from _schemes(case)


def _sections(path: str, parsed: Dictionary, names: tuple[str, ...]) -> Iterator[Finding]:
    keys = [entry.key for entry in parsed.entries]
    for name in names:
        if parsed.get(name) is None:
            near = difflib.get_close_matches(name, keys, 1, 0.75)
            yield error(f"{path} has no section {name}.", file=path, line=1, thing=name,
                        remedy=f"There is {near[0]}." if near else f"Add {name} {{ ... }}.")  # fmt: skip


_SOLVED = {"icoFoam": ("p", "pFinal", "U"), "simpleFoam": ("p", "U"), "pisoFoam": ("p", "pFinal", "U")}


def _solved(case: Case, program: str) -> Iterator[Finding]:
    """Entries for the equations that a solver solves."""
    solution, schemes = case.dictionary("system/fvSolution"), case.dictionary("system/fvSchemes")
    solvers = solution.sub("solvers") if solution and not solution.problems else None
    for name in _SOLVED.get(program, ()) if solvers and not solvers.open else ():
        if solvers and solvers.get(name) is None:
            path = case.path("system/fvSolution")
            yield error(f"{path} has no solver for {name}, which {program} needs.", file=path, line=1, thing=name,
                        remedy=f"Add {name} {{ solver ...; }} to solvers.")  # fmt: skip
    divergence = schemes.sub("divSchemes") if schemes and not schemes.problems else None
    default = divergence.get("default") if divergence else None
    if program in _SOLVED and divergence and not divergence.open and (default is None or default.word == "none") \
            and divergence.get("div(phi,U)") is None:  # fmt: skip
        path = case.path("system/fvSchemes")
        yield error(f"{path} has no scheme for div(phi,U), and the default is none.", file=path, line=1, thing="div(phi,U)",
                    remedy="Add div(phi,U) to divSchemes.")  # fmt: skip


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


def _schemes(case: Case) -> Iterator[Finding]:
    parsed = case.dictionary("system/fvSchemes")
    path = case.path("system/fvSchemes")
    for section in parsed.entries if parsed and not parsed.problems else ():
        if not section.key.endswith("Schemes") or section.sub is None:
            continue
        for entry in section.sub.entries:
            for token in entry.values:
                word = token.text
                near = difflib.get_close_matches(word, _SCHEMES, 1, 0.82) if word.isalpha() and word not in _SCHEMES else []
                if near and len(word) > 4:
                    yield warning(f"{path} line {token.line}: the scheme {word} is not one that is known here.", file=path,
                                  line=token.line, thing=word, remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _unknown(path: str, entry: Entry, what: str, near: str) -> Finding:
    return error(f"{path} line {entry.line}: {what} is not known.", file=path, line=entry.line, thing=entry.word or "",
                 remedy=f"Did you mean {near}?")  # fmt: skip

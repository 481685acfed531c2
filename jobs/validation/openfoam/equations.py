"""Schemes and linear solvers for every equation that a solver and its turbulence model solve.

The one idea to know: OpenFOAM looks a scheme up by the name of its term, div(phi,k), when it comes to it, and stops there if there is
neither the name nor a default; a linear solver has no default at all.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error
from . import models
from .case import Case
from .dictionary import Dictionary

_FLOWS = ("simpleFoam", "pisoFoam", "pimpleFoam")
_SOLVED = {"icoFoam": ("p", "pFinal", "U"), "simpleFoam": ("p", "U"), "pisoFoam": ("p", "pFinal", "U"), "pimpleFoam": ("pFinal", "UFinal"),
           "interFoam": ("p_rghFinal",), "laplacianFoam": ("T",), "scalarTransportFoam": ("T",), "potentialFoam": ("Phi",),
           "rhoSimpleFoam": ("p", "U"), "buoyantSimpleFoam": ("p_rgh", "U")}  # fmt: skip
_TERMS: dict[str, dict[str, tuple[str, ...]]] = {
    "icoFoam": {"divSchemes": ("div(phi,U)",), "gradSchemes": ("grad(p)",), "laplacianSchemes": ("laplacian(nu,U)",), "ddtSchemes": ("ddt(U)",)},
    **{name: {"divSchemes": ("div(phi,U)",), "gradSchemes": ("grad(p)", "grad(U)"), "laplacianSchemes": ("laplacian(nuEff,U)",)}
       for name in _FLOWS},
    "scalarTransportFoam": {"divSchemes": ("div(phi,T)",), "laplacianSchemes": ("laplacian(DT,T)",), "ddtSchemes": ("ddt(T)",)},
    "laplacianFoam": {"laplacianSchemes": ("laplacian(DT,T)",), "ddtSchemes": ("ddt(T)",)},
    "interFoam": {"divSchemes": ("div(rhoPhi,U)",)},
}  # fmt: skip
_TURBULENT = (*_FLOWS, "rhoSimpleFoam", "rhoPimpleFoam", "buoyantSimpleFoam", "buoyantPimpleFoam")
_PIMPLE = ("pimpleFoam", "rhoPimpleFoam", "buoyantPimpleFoam")
_STRESS = re.compile(r"div\(\(+nuEff\*dev")
_DIFFUSION = {"k": "DkEff", "epsilon": "DepsilonEff", "omega": "DomegaEff", "nuTilda": "DnuTildaEff"}


def check(case: Case, program: str) -> Iterator[Finding]:
    model = models.model(case) if program in _TURBULENT else None
    fields = models.solved_fields(model)
    yield from _solvers(case, program, fields, model)
    schemes = case.dictionary("system/fvSchemes")
    if schemes is None or schemes.problems or schemes.open:
        return
    if program in _TERMS and schemes.get("ddtSchemes") is None:
        yield _missing(
            case, "system/fvSchemes", "ddtSchemes", f"no section ddtSchemes, which {program} needs", "Add ddtSchemes { default Euler; }."
        )
    for section, terms in _terms(program, fields).items():
        yield from _schemes(case, schemes, section, terms, program, model)
    if program in _FLOWS and models.is_known(model):
        yield from _stress(case, schemes, program)
    if program in _TURBULENT and models.needs_wall_distance(model) and schemes.get("wallDist") is None:
        yield _missing(
            case, "system/fvSchemes", "wallDist", f"no section wallDist, which {model} needs", "Add wallDist { method meshWave; }."
        )


def _terms(program: str, fields: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    terms = dict(_TERMS.get(program, {}))
    terms["divSchemes"] = (*terms.get("divSchemes", ()), *(f"div(phi,{name})" for name in fields))
    if program in _FLOWS:
        diffused = (f"laplacian({_DIFFUSION[name]},{name})" for name in fields if name in _DIFFUSION)
        terms["laplacianSchemes"] = (*terms["laplacianSchemes"], *diffused)
    return terms


def _schemes(case: Case, schemes: Dictionary, section: str, terms: tuple[str, ...], program: str, model: str | None) -> Iterator[Finding]:
    given = schemes.sub(section)
    if given is None or not _names_all(given):
        return
    for term in terms:
        if given.get(term) is None:
            near = difflib.get_close_matches(term, [entry.key for entry in given.entries], 1, 0.7)
            who = f"{program}{f' with {model}' if model and not term.endswith((',U)', '(U)', '(p)')) else ''}"
            yield _missing(case, "system/fvSchemes", term, f"no scheme for {term} in {section}, which {who} needs, and no default",
                           f"There is {near[0]}; add {term}." if near else f"Add {term} to {section}.", schemes, section)  # fmt: skip


def _stress(case: Case, schemes: Dictionary, program: str) -> Iterator[Finding]:
    """The part of the stresses that is not a Laplacian; releases spell it dev or dev2."""
    given = schemes.sub("divSchemes")
    if given is None or given.open or any(entry.pattern or _STRESS.match(entry.key) for entry in given.entries):
        return
    default = given.get("default")
    bounded = default is not None and [token.text for token in default.values][:1] == ["bounded"]
    if bounded or _names_all(given):
        term = "div((nuEff*dev2(T(grad(U)))))"
        why = "the default, bounded, is only for convection" if bounded else "no default"
        yield _missing(case, "system/fvSchemes", term, f"no scheme for {term} in divSchemes, which {program} needs, and {why}",
                       f"Add {term} Gauss linear; to divSchemes.", schemes, "divSchemes")  # fmt: skip


def _names_all(given: Dictionary) -> bool:
    """Every term has to be named: nothing is hidden, and there is no default."""
    default = given.get("default")
    return not given.open and (default is None or default.word == "none")


def _solvers(case: Case, program: str, fields: tuple[str, ...], model: str | None) -> Iterator[Finding]:
    solution = case.dictionary("system/fvSolution")
    solvers = solution.sub("solvers") if solution and not solution.problems and not solution.open else None
    if solution is None or solvers is None or solvers.open:
        return
    final = "Final" if program in _PIMPLE else ""
    names = [name for name in _SOLVED.get(program, ()) if not (name.startswith("U") and _unpredicted(solution))]
    for name in (*names, *(name + final for name in fields)):
        plain = name.removesuffix("Final")
        if solvers.get(name) is None:
            also = plain != name and solvers.get(plain) is not None
            who = f"{program}{f' with {model}' if plain in fields else ''} needs{f'; {plain} alone is not enough' if also else ''}"
            remedy = f"Add {name} {{ ${plain}; relTol 0; }} to solvers." if also else f"Add {name} {{ solver ...; }} to solvers."
            yield _missing(case, "system/fvSolution", name, f"no solver for {name}, which {who}", remedy, solution, "solvers")


def _unpredicted(solution: Dictionary) -> bool:
    """No equation for U is solved, or perhaps not."""
    sections = [solution.sub(name) for name in ("PISO", "PIMPLE", "SIMPLE")]
    return any(section and (section.get("momentumPredictor") or section.open) for section in sections)


def _missing(case: Case, name: str, thing: str, what: str, remedy: str, parsed: Dictionary | None = None, section: str = "") -> Finding:
    path = case.path(name)
    line = next((entry.line for entry in parsed.entries if entry.key == section), 1) if parsed else 1
    return error(f"{path} line {line} has {what}.", file=path, line=line, thing=thing, remedy=remedy)

"""Turbulence models: the fields that a model reads, and the equations that it solves.

The one idea to know: a model that solves for k and epsilon wants a scheme, a linear solver and a start field for each; of a model
that is not listed here nothing is asked.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error
from .case import Case
from .dictionary import Dictionary, Entry

DICTIONARIES = ("constant/turbulenceProperties", "constant/momentumTransport")
_KE, _KO = ("k", "epsilon"), ("k", "omega")
_SOLVES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("kEpsilon", "realizableKE", "RNGkEpsilon", "LaunderSharmaKE", "LienLeschziner", "buoyantKEpsilon"), _KE),
    **dict.fromkeys(("kOmega", "kOmegaSST", "kOmegaSSTSAS", "kOmega2006", "kOmegaSSTDES", "kOmegaSSTDDES", "kOmegaSSTIDDES"), _KO),
    **dict.fromkeys(("SpalartAllmaras", "SpalartAllmarasDES", "SpalartAllmarasDDES", "SpalartAllmarasIDDES"), ("nuTilda",)),
    **dict.fromkeys(("LRR", "SSG"), ("R", "epsilon")), "kOmegaSSTLM": ("k", "omega", "ReThetat", "gammaInt"),
    **dict.fromkeys(("kEqn", "dynamicKEqn"), ("k",)), **dict.fromkeys(("Smagorinsky", "WALE"), ()),
}  # fmt: skip
_READ_ONLY = {"Smagorinsky": ("nut",), "WALE": ("nut",)}
_FROM_WALLS = ("kOmegaSST", "SpalartAllmaras")
SOLVERS = ("simpleFoam", "pisoFoam", "pimpleFoam", "rhoSimpleFoam", "rhoPimpleFoam", "buoyantSimpleFoam", "buoyantPimpleFoam", "interFoam")
_MODELS = {*_SOLVES, "kkLOmega", "v2f", "qZeta", "LamBremhorstKE", "LienCubicKE", "ShihQuadraticKE", "EBRSM", "kL", "kEpsilonPhitF",
           "kEpsilonLopesdaCosta", "kOmegaSSTLM", "kOmegaSSTSato", "NonlinearKEShih", "laminar", "LienCubicKELowRe", "DeardorffDiffStress",
           "dynamicLagrangian"}  # fmt: skip
STOKES = ("", "Stokes", "laminar")


def model(case: Case) -> str | None:
    """The model that the case chooses: "" for laminar flow, None where it is not known."""
    for name in DICTIONARIES:
        parsed = case.dictionary(name) if case.has(name) else None
        kind = parsed.get("simulationType") if parsed else None
        if parsed is None or kind is None or parsed.problems:
            continue
        if kind.word == "laminar":
            return "" if parsed.sub("laminar") is None else None
        part = parsed.sub(kind.word or "") or Dictionary()
        chosen = part.get(f"{kind.word}Model") or part.get("model")
        switch = part.get("turbulence")
        off = switch is not None and (switch.word or "").lower() in ("off", "no", "false", "n", "f", "none")
        return chosen.word if chosen and not part.open and not off else None
    return None


def check(case: Case, program: str) -> Iterator[Finding]:
    """A kind of simulation or a model that there is not, a model that is not named."""
    control = case.dictionary("system/controlDict")
    for name in DICTIONARIES if program in SOLVERS and control and control.get("libs") is None and not control.open else ():
        parsed = case.dictionary(name) if case.has(name) else None
        kind = parsed.get("simulationType") if parsed and not parsed.problems and not parsed.open else None
        if parsed is None or kind is None or not kind.word or kind.word in ("laminar", "twoPhaseTransport"):
            continue
        part = parsed.sub(kind.word)
        if kind.word not in ("RAS", "LES"):
            near = difflib.get_close_matches(kind.word, ["RAS", "LES", "laminar"], 1, 0.5)
            if near and kind.word not in ("RASModel", "LESModel"):
                yield _wrong(case, name, kind, f"simulationType {kind.word} is not known", f"Did you mean {near[0]}?")
        elif part is None:
            yield _wrong(
                case, name, kind, f"simulationType is {kind.word}, but there is no section {kind.word}", f"Add {kind.word} {{ ... }}."
            )
        else:
            yield from _named(case, name, kind, part)


def _named(case: Case, name: str, kind: Entry, part: Dictionary) -> Iterator[Finding]:
    chosen = part.get(f"{kind.word}Model") or part.get("model")
    if part.open:
        return
    if chosen is None:
        yield _wrong(case, name, kind, f"the section {kind.word} names no {kind.word}Model", f"Add {kind.word}Model kEpsilon; or another.")
        return
    near = difflib.get_close_matches(chosen.word or "", sorted(_SOLVES), 1, 0.85) if chosen.word and chosen.word not in _MODELS else []
    if near:
        yield _wrong(case, name, chosen, f"the model {chosen.word} is not known", f"Did you mean {near[0]}?")


def _wrong(case: Case, name: str, entry: Entry, what: str, remedy: str) -> Finding:
    path = case.path(name)
    return error(f"{path} line {entry.line}: {what}.", file=path, line=entry.line, thing=entry.word or entry.key, remedy=remedy)


def read_fields(name: str | None) -> tuple[str, ...]:
    """Fields that must lie in the folder of the start."""
    solved = _SOLVES.get(name or "", ())
    return (*solved, "nut") if solved else _READ_ONLY.get(name or "", ())


def solved_fields(name: str | None) -> tuple[str, ...]:
    """Fields for which the model solves an equation with convection."""
    return _SOLVES.get(name or "", ())


def is_known(name: str | None) -> bool:
    return name in _SOLVES or name in STOKES


def needs_wall_distance(name: str | None) -> bool:
    return (name or "").startswith(_FROM_WALLS)

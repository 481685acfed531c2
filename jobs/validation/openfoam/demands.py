"""What a solver asks for when it starts: its dictionaries of constant, a reference for the pressure.

The one idea to know: a dictionary has had other names in other releases; only where none of them is there, it is missing. The
releases of openfoam.com (v1912) have always kept the first name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from ..plan import Step
from .case import Case
from .dictionary import Dictionary

_TURBULENCE = ("constant/turbulenceProperties", "constant/momentumTransport")
_THERMO = ("constant/thermophysicalProperties", "constant/physicalProperties")
_TRANSPORT = ("constant/transportProperties", "constant/physicalProperties")
_GRAVITY = ("constant/g",)
_READS: dict[str, tuple[tuple[str, ...], ...]] = {
    "icoFoam": (_TRANSPORT,),
    **dict.fromkeys(("simpleFoam", "pisoFoam", "pimpleFoam"), (_TRANSPORT, _TURBULENCE)),
    **dict.fromkeys(("rhoSimpleFoam", "rhoPimpleFoam", "rhoCentralFoam", "sonicFoam"), (_THERMO, _TURBULENCE)),
    **dict.fromkeys(("buoyantSimpleFoam", "buoyantPimpleFoam"), (_THERMO, _TURBULENCE, _GRAVITY)),
    "interFoam": (_TRANSPORT, _TURBULENCE, _GRAVITY),
}
_PRESSURES = {"icoFoam": ("p", "PISO"), "pisoFoam": ("p", "PISO"), "simpleFoam": ("p", "SIMPLE"), "pimpleFoam": ("p", "PIMPLE"),
              "interFoam": ("p_rgh", "PIMPLE")}  # fmt: skip
_FLOATING = {"zeroGradient", "fixedFluxPressure", "empty", "wedge", "symmetry", "symmetryPlane", "cyclic", "slip"}


def check(case: Case, step: Step, folder: str) -> Iterator[Finding]:
    """`step`: the first that solves; `folder`: that of the start time."""
    if "-region" in step.argv or step.tree.anything:
        return
    for known in _READS.get(step.program, ()):
        names = known[:1] if re.match(r"v\d{4}\b", case.version.strip().lower()) else known
        if not any(case.may_have(name, step) for name in names):
            other = next((name for name in known if case.may_have(name, step)), None)
            near = case.path(other) if other else step.tree.nearest(case.path(names[0]))
            yield error(f"{step.program} reads {case.path(names[0])}, which is not among the uploaded files.", thing=names[0],
                        remedy=f"There is {near}." if near else "Upload it.")  # fmt: skip
    if step.program in _PRESSURES:
        yield from _reference(case, step, folder, *_PRESSURES[step.program])


def _reference(case: Case, step: Step, folder: str, field: str, name: str) -> Iterator[Finding]:
    """A pressure that no boundary holds needs a cell that does."""
    pressure, solution = case.dictionary(f"{folder}/{field}"), case.dictionary("system/fvSolution")
    section = solution.sub(name) if solution and not solution.problems and not solution.open else None
    if section is None or section.open or not _floats(pressure):
        return
    if section.get("pRefCell") is None and section.get("pRefPoint") is None:
        path = case.path("system/fvSolution")
        line = next((entry.line for entry in solution.entries if entry.key == name), 1) if solution else 1
        yield error(f"{path} line {line}: no boundary fixes the pressure {field}, so {step.program} wants a pRefCell in {name}.", file=path,
                    line=line, thing="pRefCell", remedy=f"Add pRefCell 0; pRefValue 0; to {name}.")  # fmt: skip


def _floats(pressure: Dictionary | None) -> bool:
    boundary = pressure.sub("boundaryField") if pressure and not pressure.problems and not pressure.open else None
    if boundary is None or boundary.open or not boundary.entries:
        return False
    kinds = [entry.sub.get("type") if entry.sub and not entry.sub.open else None for entry in boundary.entries]
    words = {kind.word if kind else None for kind in kinds}
    return words <= _FLOATING and bool(words - {"empty", "cyclic"})

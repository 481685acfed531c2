"""Entries of controlDict and of the algorithm in fvSolution that nothing reads, and residuals that can't be reached.

The one idea to know: OpenFOAM reads what it knows and passes over the rest without a word, so maxCO is no limit at all. Only a name
that looks like a known one, which is not there itself, is said.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Set

from ..base import Finding, warning
from .case import Case
from .dictionary import Dictionary, Entry

_CONTROL = frozenset(
    """application startFrom startTime stopAt endTime deltaT writeControl writeInterval purgeWrite writeFormat writePrecision
    writeCompression writeVersion timeFormat timePrecision runTimeModifiable adjustTimeStep maxCo maxAlphaCo maxDeltaT maxDi minDeltaT libs
    functions graphFormat maxAcousticCo secondaryWriteControl secondaryWriteInterval secondaryPurgeWrite beginTime solver regionSolvers
    subSolver subApplication OptimisationSwitches DebugSwitches InfoSwitches DimensionedConstants profiling FoamFile maxLiquidCo
    maxSurfaceCo fileHandler userTime""".split()
)
_ALGORITHM = frozenset(
    """nCorrectors nNonOrthogonalCorrectors nOuterCorrectors momentumPredictor pRefCell pRefPoint pRefValue residualControl consistent
    transonic turbOnFinalIterOnly correctPhi checkMeshCourantNo moveMeshOuterCorrectors finalOnLastPimpleIterOnly frozenFlow
    outerCorrectorResidualControl rhoMin rhoMax pMin pMax pMinFactor pMaxFactor nAlphaCorr nAlphaSubCycles cAlpha maxCo rDeltaTSmoothingCoeff
    rDeltaTDampingCoeff maxDeltaT alphaTemp maxDi solveFlow solveEnergy solveSpecies nEnergyCorrectors ddtCorr SIMPLErho simpleRho
    nUCorrectors pressureImplicitPorosity nCorr ddtPhiCoeff oversetAdjustPhi massFluxInterpolation printResidual useInitialResidual
    faceMomentum""".split()
)


def check(case: Case) -> Iterator[Finding]:
    control, solution = case.dictionary("system/controlDict"), case.dictionary("system/fvSolution")
    if control and not control.open and not control.problems:
        yield from _strange(case, "system/controlDict", control, _CONTROL)
    for name in ("SIMPLE", "PISO", "PIMPLE") if solution and not solution.open and not solution.problems else ():
        section = solution.sub(name) if solution else None
        if solution and section and not section.open:
            yield from _strange(case, "system/fvSolution", section, _ALGORITHM)
            yield from _unreachable(case, solution, section) if name == "SIMPLE" else ()


def _strange(case: Case, name: str, given: Dictionary, known: frozenset[str]) -> Iterator[Finding]:
    there = {entry.key for entry in given.entries}
    for entry in given.entries:
        near = _meant(entry.key, known - there) if entry.key not in known and not entry.pattern else None
        if near:
            yield _warned(case, name, entry, f"nothing reads {entry.key}, and {near} is not set", f"Did you mean {near}?")


def _meant(word: str, known: Set[str]) -> str | None:
    same = next((name for name in sorted(known) if name.lower() == word.lower()), None)
    return same or next(iter(difflib.get_close_matches(word, sorted(known), 1, 0.85)), None)


def _unreachable(case: Case, solution: Dictionary, section: Dictionary) -> Iterator[Finding]:
    """A criterion far below the tolerance at which the linear solver does nothing any more."""
    control, solvers = section.sub("residualControl"), solution.sub("solvers")
    for entry in control.entries if control and solvers and not control.open else ():
        block = solvers.sub(entry.key) if solvers and not entry.pattern else None
        tolerance, least = (block.get("tolerance"), block.get("minIter")) if block and not block.open else (None, None)
        if tolerance and tolerance.number and entry.number and not least and 0 < entry.number < 0.1 * tolerance.number:
            yield _warned(case, "system/fvSolution", entry,
                          f"residualControl of {entry.key} is {entry.text}, but its linear solver does nothing below {tolerance.text}, so it may "
                          "never be met", f"Set the tolerance of {entry.key} below {entry.text}.")  # fmt: skip


def _warned(case: Case, name: str, entry: Entry, what: str, remedy: str) -> Finding:
    path = case.path(name)
    return warning(f"{path} line {entry.line}: {what}.", file=path, line=entry.line, thing=entry.key, remedy=remedy)

"""Programs that only some releases of OpenFOAM have, and names that none has.

The one idea to know: there are two families. Releases v1912, v2312... come from openfoam.com, 7, 8, ... 12 from the
Foundation; the same program may be in one and not in the other.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, Request, error
from ..paths import spot
from ..plan import Plan, Step
from ..solvers import canonical

_NEVER = 10**6
# program -> (first Foundation release that has it, first one without it, whether openfoam.com has it)
_RELEASES: dict[str, tuple[int, int, bool]] = {
    "foamRun": (11, _NEVER, False), "foamMultiRun": (11, _NEVER, False), "createNonConformalCouples": (10, _NEVER, False),
    "foamPostProcess": (11, _NEVER, False), "surfaceFeatures": (6, _NEVER, False), "foamToC": (11, _NEVER, False),
    "surfaceFeatureExtract": (1, 6, True), "overPimpleDyMFoam": (_NEVER, _NEVER, True), "overInterDyMFoam": (_NEVER, _NEVER, True),
    "overSimpleFoam": (_NEVER, _NEVER, True), "interIsoFoam": (_NEVER, _NEVER, True), "rhoPorousSimpleFoam": (1, 9, True),
    "PDRFoam": (1, 9, True), "adjointOptimisationFoam": (_NEVER, _NEVER, True), "setExprFields": (_NEVER, _NEVER, True),
    "icoReactingMultiphaseInterFoam": (_NEVER, _NEVER, True), "pimpleDyMFoam": (1, 6, False), "interDyMFoam": (1, 6, False),
    "rhoPimpleDyMFoam": (1, 6, False), "redistributePar": (1, _NEVER, True),
}  # fmt: skip
_INSTEAD = {"foamRun": "the solver itself, for instance icoFoam or simpleFoam", "surfaceFeatures": "surfaceFeatureExtract",
            "surfaceFeatureExtract": "surfaceFeatures", "pimpleDyMFoam": "pimpleFoam", "interDyMFoam": "interFoam",
            "rhoPimpleDyMFoam": "rhoPimpleFoam", "foamPostProcess": "postProcess"}  # fmt: skip
_COMMON = [
    "icoFoam", "simpleFoam", "pisoFoam", "pimpleFoam", "interFoam", "potentialFoam", "laplacianFoam", "scalarTransportFoam",
    "rhoCentralFoam", "rhoSimpleFoam", "rhoPimpleFoam", "buoyantSimpleFoam", "buoyantPimpleFoam", "sonicFoam", "reactingFoam",
    "buoyantBoussinesqSimpleFoam", "buoyantBoussinesqPimpleFoam", "chtMultiRegionFoam", "porousSimpleFoam", "multiphaseInterFoam",
    "nonNewtonianIcoFoam", "twoPhaseEulerFoam", "SRFSimpleFoam", "XiFoam", "fireFoam", "blockMesh", "decomposePar",
    "reconstructPar", "reconstructParMesh", "snappyHexMesh", "setFields", "topoSet", "mapFields", "checkMesh", "renumberMesh",
    "createPatch", "refineMesh", "extrudeMesh", "transformPoints", "postProcess", "surfaceFeatureExtract",
]  # fmt: skip


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    for step in plan.steps:
        if step.program in _RELEASES:
            yield from _release(request, step)
        elif canonical(request.software) == "openfoam" and step.program and not step.conditional:
            yield from _misspelt(plan, step)


def _release(request: Request, step: Step) -> Iterator[Finding]:
    first, last, elsewhere = _RELEASES[step.program]
    version = request.version.strip().lower()
    if re.match(r"v?\d{4}\b", version):
        missing, shown = not elsewhere, f"OpenFOAM v{re.sub(r'[^0-9]', '', version)[:4]}"
    elif found := re.match(r"(?:openfoam|of)?-?(\d{1,2})(\.|\b)", version):
        number = int(found.group(1))
        missing, shown = not first <= number < last, f"OpenFOAM {number}"
    else:
        return
    if not missing:
        return
    came = f" (it came with Foundation release {first})" if 1 < first < _NEVER else ""
    instead = _INSTEAD.get(step.program)
    yield error(f"{spot(step.file, step.line)} runs {step.program}, which is not in {shown}{came}.", file=step.file,
                line=step.line, thing=step.program,
                remedy="Choose a release that has it" + (f", or run {instead}." if instead else "."))  # fmt: skip


def _misspelt(plan: Plan, step: Step) -> Iterator[Finding]:
    """A name that looks like a program of OpenFOAM and is none."""
    word = step.argv[0] or ""
    if "/" in word or step.program in plan.functions or step.program in _COMMON:
        return
    near = difflib.get_close_matches(step.program, _COMMON, 1, 0.84)
    if (
        not near
        or len(step.program) < 6
        or _is_real(step.program)
        or near[0].lower() in step.program.lower().removesuffix(near[0][-1:].lower())
    ):
        return  # a solver of one's own is often named after the one it was made of
    yield error(f"{spot(step.file, step.line)} runs {step.program}, which is no program of OpenFOAM.", file=step.file,
                line=step.line, thing=step.program, remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _is_real(name: str) -> bool:
    real = """rhoReactingFoam reactingFoam SRFPimpleFoam XiDyMFoam XiEngineFoam sonicDyMFoam rhoPorousSimpleFoam overSimpleFoam
    multiphaseEulerFoam interMixingFoam interIsoFoam buoyantFoam multiRegionFoam refineHexMesh mapFieldsPar extrude2DMesh
    overPotentialFoam rhoCentralDyMFoam sonicLiquidFoam overRhoSimpleFoam overLaplacianDyMFoam polyDualMesh attachMesh
    compressibleInterFoam potentialFreeSurfaceFoam coldEngineFoam PDRFoam dnsFoam mdFoam mhdFoam PDRsetFields PDRblockMesh
    transformPoints checkFaMesh chtMultiRegionSimpleFoam snappyRefineMesh icoFoamAdjoint mergeMeshes""".split()
    return name in real or name.endswith(("DyMFoam", "ToFoam")) or name.startswith(("my", "My"))

"""Boundary conditions: names, what each cannot do without, and libraries that bring new ones.

The one idea to know: the list of names is never complete, since a case may bring a library of its own. A strange name is only
an error where it looks like a typing mistake, or where the library that should bring it is not there.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator

from ..base import Finding, error
from .case import Case
from .dictionary import Dictionary, Entry

TYPES = frozenset(
    """activeBaffleVelocity activePressureForceBaffleVelocity adjointFarFieldNuaTilda adjointFarFieldPressure
    adjointFarFieldVelocity adjointInletNuaTilda adjointInletVelocity adjointOutletFlux adjointOutletNuaTilda
    adjointOutletNuaTildaFlux adjointOutletPressure adjointOutletVelocity adjointOutletVelocityFlux
    adjointWallVelocity adjointWallVelocityLowRe adjointZeroInlet advective alphaContactAngle alphaFixedPressure
    alphatFilmWallFunction alphatJayatillekeWallFunction alphatWallFunction angularOscillatingDisplacement
    atmBoundaryLayerInletEpsilon atmBoundaryLayerInletK atmBoundaryLayerInletVelocity basicSymmetry calculated
    cellMotion codedFixedValue codedMixed constantAlphaContactAngle convectiveHeatTransfer copiedFixedValue cyclic
    cyclicACMI cyclicAMI cyclicSlip cylindricalInletVelocity directionMixed dynamicAlphaContactAngle dynamicPressure
    empty energyJump energyJumpAMI entrainmentPressure epsilonmWallFunction epsilonWallFunction exprFixedValue
    exprMixed externalCoupled externalCoupledTemperature externalWallHeatFluxTemperature extrapolatedCalculated fan
    fanPressure filmHeightInletVelocity filmPyrolysisRadiativeCoupledMixed filmPyrolysisTemperatureCoupled
    filmPyrolysisVelocityCoupled fixedEnergy fixedFluxExtrapolatedPressure fixedFluxPressure fixedGradient
    fixedIncidentRadiation fixedInternalValue fixedJump fixedJumpAMI fixedMean fixedMeanOutletInlet
    fixedMultiPhaseHeatFlux fixedNormalInletOutletVelocity fixedNormalSlip fixedPressureCompressibleDensity
    fixedProfile fixedRho fixedShearStress fixedUnburntEnthalpy fixedValue flowRateInletVelocity
    flowRateOutletVelocity fluxCorrectedVelocity freestream freestreamPressure freestreamVelocity
    freeSurfacePressure freeSurfaceVelocity fWallFunction gradientEnergy gradientUnburntEnthalpy
    greyDiffusiveRadiation greyDiffusiveRadiationViewFactor humidityTemperatureCoupledMixed
    inclinedFilmNusseltHeight inclinedFilmNusseltInletVelocity inletOutlet inletOutletTotalTemperature internal
    interstitialInletVelocity JohnsonJacksonParticleSlip JohnsonJacksonParticleTheta kLowReWallFunction
    kqRWallFunction lumpedMassWallTemperature mapped mappedField mappedFixedInternalValue
    mappedFixedPushedInternalValue mappedFlowRate mappedVelocityFlux MarshakRadiation
    MarshakRadiationFixedTemperature matchedFlowRateOutletVelocity maxwellSlipU mixed mixedEnergy
    mixedUnburntEnthalpy movingWallVelocity nonuniformTransformCyclic noSlip nutkAtmRoughWallFunction
    nutkFilmWallFunction nutkRoughWallFunction nutkWallFunction nutLowReWallFunction nutTabulatedWallFunction
    nutUBlendedWallFunction nutURoughWallFunction nutUSpaldingWallFunction nutUTabulatedWallFunction
    nutUWallFunction nutWallFunction omegaWallFunction oscillatingDisplacement outletInlet outletMachNumberPressure
    outletMappedUniformInlet outletMappedUniformInletHeatAddition outletPhaseMeanVelocity outletStabilised overset
    partialSlip phaseFraction phaseHydrostaticPressure plenumPressure porousBafflePressure
    pressureDirectedInletOutletVelocity pressureDirectedInletVelocity pressureInletOutletParSlipVelocity
    pressureInletOutletVelocity pressureInletUniformVelocity pressureInletVelocity pressureNormalInletOutletVelocity
    pressurePIDControlInletVelocity prghPressure prghTotalHydrostaticPressure prghTotalPressure prghUniformPressure
    processor processorCyclic rotatingPressureInletOutletVelocity rotatingTotalPressure rotatingWallVelocity
    scaledFixedValue semiPermeableBaffleMassFraction semiPermeableBaffleVelocity sliced slip smoluchowskiJumpT
    solidBodyMotionDisplacement SRFFreestreamVelocity SRFVelocity SRFWallVelocity supersonicFreestream
    surfaceDisplacement surfaceNormalFixedValue surfaceSlipDisplacement swirlFanVelocity swirlFlowRateInletVelocity
    swirlInletVelocity symmetry symmetryPlane syringePressure temperatureDependentAlphaContactAngle
    timeVaryingAlphaContactAngle timeVaryingMappedFixedValue totalFlowRateAdvectiveDiffusive totalPressure
    totalTemperature tractionDisplacement translatingWallVelocity turbulentDFSEMInlet turbulentDigitalFilterInlet
    turbulentInlet turbulentIntensityKineticEnergyInlet turbulentMixingLengthDissipationRateInlet
    turbulentMixingLengthFrequencyInlet uniformDensityHydrostaticPressure uniformFixedGradient uniformFixedValue
    uniformInletOutlet uniformInterpolatedDisplacement uniformJump uniformJumpAMI uniformNormalFixedValue
    uniformTotalPressure v2WallFunction variableHeightFlowRate variableHeightFlowRateInletVelocity wallHeatTransfer
    waveAlpha waveDisplacement waveMaker waveSurfacePressure waveTransmissive waveVelocity wedge
    wideBandDiffusiveRadiation zeroGradient zeroGradientOutlet""".split()
)
_NEEDS = {
    "fixedValue": "value", "fixedGradient": "gradient", "inletOutlet": "inletValue", "outletInlet": "outletValue", "mixed": "refValue",
    "uniformFixedValue": "uniformValue", "uniformInletOutlet": "uniformInletValue", "surfaceNormalFixedValue": "refValue",
    "fixedMean": "meanValue", "totalPressure": "p0", "freestream": "freestreamValue",
}  # fmt: skip
# Libraries of OpenFOAM whose names say less of what they hold.
_LIBRARIES = frozenset(
    """adjointoptimisation barotropiccompressibilitymodel conversion decompose decompositionmethods distributed
    distributionmodels driftfluxrelativevelocitymodels dsmc engine extrudemodel fileformats finitearea kahipdecomp
    laminarflamespeedmodels laserdtrm masstransfermodels metisdecomp molecularmeasurements molecule multiphasesystem
    ode pairpatchagglomeration phasechangetwophasemixtures phasetemperaturechangetwophasemixtures potential pstream
    ptscotchdecomp pyrolysismodels randomprocesses reactingmultiphasesystem reactingphasesystem reactingtwophasesystem
    reconstruct regioncoupling renumbermethods runtimepostprocessing scotchdecomp semipermeablebaffle sloanrenumber
    solidparticle solidspecie specie surfacefeatureextract tabulatedwallfunctions thermalbafflemodels twophasemixture
    twophaseproperties twophasesurfacetension wavemodels""".split()
)


def check(case: Case, path: str, boundary: Dictionary) -> Iterator[Finding]:
    for entry in boundary.entries:
        kind = entry.sub.get("type") if entry.sub else None
        if entry.sub is None or kind is None or not kind.word:
            continue
        if kind.word in _NEEDS and not entry.sub.open and entry.sub.get(_NEEDS[kind.word]) is None:
            yield _incomplete(path, entry, kind, _NEEDS[kind.word])
        elif kind.word not in TYPES and ":" not in kind.word:
            near = [known for known in difflib.get_close_matches(kind.word, TYPES, 3, 0.9) if not _variant(kind.word, known)]
            if near:
                yield error(f"{path} line {kind.line}: the boundary condition {kind.word} is not known.", file=path,
                            line=kind.line, thing=kind.word, remedy=f"Did you mean {near[0]}?")  # fmt: skip
            else:
                yield from _brought(case, path, kind)


def _variant(word: str, known: str) -> bool:
    """One is the other with a word more in it (nutkWallFunction, nutkFilmWallFunction): then both may well be names."""
    short, long = sorted((re.findall(r"[A-Z]?[^A-Z]+|[A-Z]", name) for name in (word, known)), key=len)
    rest = iter(long)
    return len(short) < len(long) and all(part in rest for part in short)


def _incomplete(path: str, entry: Entry, kind: Entry, needed: str) -> Finding:
    return error(f"{path} line {kind.line}: the patch {entry.key} is {kind.word} without its {needed}.", file=path, line=kind.line,
                 thing=needed, remedy=f"Add {needed} to {entry.key}.")  # fmt: skip


def _brought(case: Case, path: str, kind: Entry) -> Iterator[Finding]:
    """A condition that nobody knows, while a library that controlDict names is neither OpenFOAM's nor there."""
    control = case.dictionary("system/controlDict")
    libs = control.get("libs") if control and not control.open else None
    built = any(step.program in ("wmake", "make", "wmakeAll", "Allwmake") or step.tree.anything for step in case.steps)
    for token in libs.values if libs and not built else ():
        name = posixpath.basename(token.text)
        inputs = case.first.tree.inputs
        here = any(posixpath.basename(one) == name for one in inputs) or any(one.endswith("Make/files") for one in inputs)
        if token.text.strip("()") and not _is_brought(name) and not here and "$" not in token.text:
            where = case.path("system/controlDict")
            yield error(f"{where} line {token.line} loads {token.text}, which is neither uploaded nor part of OpenFOAM; {path} line "
                        f"{kind.line} uses the condition {kind.word}.", file=where, line=token.line, thing=name,
                        remedy="Upload the library, or its source and a wmake step before the solver.")  # fmt: skip
            return


def _is_brought(name: str) -> bool:
    """Libraries of OpenFOAM name what they hold; those of people mostly say that they are theirs."""
    low = name.lower()
    known = """turbulence transport thermophysical radiation fields finitevolume functionobjects lagrangian combustion chemistry mesh
    motion solver sampling forces regionmodels faoptions fvoptions compressible incompressible interfac waves rigidbody sixdof topochange
    overset atmospheric dynamic surfacefilm thermo field libutil user foam""".split()
    return any(word in low for word in known) or low.removeprefix("lib").removesuffix(".so") in _LIBRARIES

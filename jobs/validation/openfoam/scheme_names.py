"""Names of schemes in fvSchemes.

The one idea to know: OpenFOAM stops at a name that it does not know. The lists are long, and a library may add to them, so a name is
an error only where it stands in the place of a scheme and looks like one that there is, and no library is loaded.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error, warning
from .case import Case
from .dictionary import Entry

_SCHEMES = frozenset(
    """Gauss linear upwind linearUpwind linearUpwindV limitedLinear limitedLinearV vanLeer vanLeerV vanAlbada vanAlbadaV bounded
    corrected uncorrected orthogonal limited unlimited cellLimited faceLimited cellMDLimited faceMDLimited Euler backward
    CrankNicolson steadyState localEuler leastSquares pointCellsLeastSquares edgeCellsLeastSquares fourth meshWave LUST LUSTV QUICK
    QUICKV MUSCL MUSCLV Minmod MinmodV SuperBee SuperBeeV cubic midPoint interfaceCompression none default grad skewCorrected harmonic
    reconstruct pointLinear localBlended blended fixedBlended CoBlended cellCoBlended limiterBlended filteredLinear SFCD SFCDV Gamma
    GammaV clippedLinear DEShybrid OSPRE OSPREV UMIST UMISTV Phi biLinearFit cubicUpwindFit deferredCorrection downwind limitWith
    limitedCubic limitedCubicV linearFit linearPureUpwindFit localMax localMin outletStabilised quadraticFit quadraticLinearFit
    quadraticLinearUpwindFit quadraticUpwindFit reverseLinear weighted weightedFlux faceCorrected relaxedNonOrthoGauss iterativeGauss
    SLTS CoEuler boundedBackward steadyInertial backwardDualTime multivariateSelection multivariateIndependent PLIC MPLIC MPLICU
    vanLeer01 noInterfaceCompression wave advectionDiffusion Poisson exactDistance""".split()
)
_IN_FRONT = ("Gauss", "bounded")


def check(case: Case) -> Iterator[Finding]:
    parsed = case.dictionary("system/fvSchemes")
    control = case.dictionary("system/controlDict")
    sure = control is not None and not control.open and control.get("libs") is None
    for section in parsed.entries if parsed and not parsed.problems else ():
        if section.key.endswith("Schemes") and section.sub is not None:
            for entry in section.sub.entries:
                yield from _entry(case, entry, sure and section.key in ("divSchemes", "gradSchemes", "laplacianSchemes"))


def _entry(case: Case, entry: Entry, sure: bool) -> Iterator[Finding]:
    path = case.path("system/fvSchemes")
    for at, token in enumerate(entry.values):
        word = token.text
        if at and entry.values[at - 1].text.startswith(("linearUpwind", "LUST")):
            continue  # the name of a gradient
        near = difflib.get_close_matches(word, sorted(_SCHEMES), 1, 0.82) if word.isalpha() and word not in _SCHEMES else []
        if near and len(word) > 4:
            placed = at == 0 or entry.values[at - 1].text in _IN_FRONT or (at == 2 and entry.values[0].text == "Gauss")
            make = error if sure and placed else warning
            yield make(f"{path} line {token.line}: the scheme {word} is not known; {near[0]} is.", file=path, line=token.line, thing=word,
                       remedy=f"Did you mean {near[0]}?")  # fmt: skip

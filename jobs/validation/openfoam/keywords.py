"""Keywords that begin an entry, so that one in the middle of a value shows a forgotten semicolon."""

from __future__ import annotations

KEYWORDS = frozenset(
    """application startFrom startTime stopAt endTime deltaT writeControl writeInterval purgeWrite writeFormat writePrecision
    writeCompression timeFormat timePrecision runTimeModifiable adjustTimeStep maxCo maxAlphaCo maxDeltaT libs functions
    solver preconditioner smoother tolerance relTol nSweeps maxIter agglomerator nCellsInCoarsestLevel
    nCorrectors nNonOrthogonalCorrectors pRefCell pRefValue nOuterCorrectors momentumPredictor residualControl
    numberOfSubdomains method coeffs simpleCoeffs hierarchicalCoeffs delta order internalField boundaryField dimensions
    value type inletValue inletOutlet gradient default ddtSchemes gradSchemes divSchemes laplacianSchemes
    interpolationSchemes snGradSchemes transportModel nu simulationType RASModel turbulence printCoeffs
    vertices blocks edges boundary mergePatchPairs scale convertToMeters faces castellatedMesh snap addLayers""".split()
)

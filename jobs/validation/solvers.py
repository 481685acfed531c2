"""Which validator reads the decks of which software.

The one idea to know: a validator is chosen by the software of the job and by the programs in the command, so that a
deck is read as well when its solver is started by a plain shell job. A new solver is one line here and its module.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .base import Finding, Request
from .plan import Plan

Check = Callable[[Request, Plan], Iterable[Finding]]


@dataclass(frozen=True)
class Solver:
    code: str
    programs: str  # a pattern for the whole name of the programs whose words this validator judges
    aliases: tuple[str, ...] = ()

    def runs_after_unknown(self, plan: Plan) -> bool:
        """Whether all its programs start behind one that may have made or changed any file."""
        steps = [step for step in plan.steps if re.fullmatch(self.programs, step.program)]
        return bool(steps) and all(step.tree.anything for step in steps)

    def check(self) -> Check:
        return importlib.import_module(f"jobs.validation.{self.code}").check  # type: ignore[no-any-return]


_FOAM = (
    r"\w+Foam|foamRun|foamMultiRun|blockMesh|decomposePar|reconstructPar(Mesh)?|snappyHexMesh|setFields|topoSet|"
    r"createPatch|extrudeMesh|mirrorMesh|createBaffles|changeDictionary|surfaceFeature(s|Extract)|cartesianMesh|mapFields(Par)?|redistributePar|renumberMesh|checkMesh|potentialFoam|foamJob|runApplication|runParallel"
)
SOLVERS = (
    Solver("calculix", r"ccx([._]?\d[\w.]*)?(_(MT|mt|i8|dynamic|static))*(\.exe)?", ("ccx",)),
    Solver("openfoam", _FOAM, ("foam",)),
    Solver("lammps", r"lmp(_\w+)?|lammps", ("lmp",)),
    Solver("gromacs", r"gmx(_mpi|_d|_mpi_d)?|(grompp|mdrun)(_mpi|_d)*", ("gmx",)),
    Solver("quantum_espresso", r"(pw|cp|ph|pp|neb|dos|bands|projwfc|dynmat|q2r|matdyn|epw|hp|turbo_\w+)\.x",
           ("quantumespresso", "qe", "espresso", "pwscf")),
    Solver("nwchem", r"nwchem(\.\w+)?"),
)  # fmt: skip
_CLAIMED = re.compile("|".join(f"(?:{solver.programs})" for solver in SOLVERS))


def claims(program: str) -> bool:
    """Whether some validator judges the words of this program itself."""
    return bool(_CLAIMED.fullmatch(program))


def canonical(software: str) -> str:
    """The code of a software as it is spelt here: "Quantum-ESPRESSO" and "qe" are quantum_espresso."""
    code = re.sub(r"[\s-]+", "_", software.strip().lower())
    return next((solver.code for solver in SOLVERS if code in (solver.code, *solver.aliases)), code)


def chosen(request: Request, plan: Plan) -> list[Solver]:
    code = canonical(request.software)
    programs = {step.program for step in plan.steps}
    return [solver for solver in SOLVERS if solver.code == code or any(re.fullmatch(solver.programs, program) for program in programs)]

"""Names of programs in the command: typing mistakes, and programs that make no sense in a job.

The one idea to know: what is installed on a node is not known here. A name is only held to be wrong where it is very
near to a well-known one, and is not that of a file, a function or another known program.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from .base import Finding, Request, error, warning
from .paths import spot
from .plan import Plan, Step
from .programs import is_known
from .solvers import canonical, claims

_FOAM = "blockMesh decomposePar reconstructPar snappyHexMesh simpleFoam icoFoam pimpleFoam interFoam".split()
_WELL_KNOWN = """mpirun mpiexec python python3 python3.11 bash srun nwchem gnuplot Rscript julia octave gmsh cgx tar unzip gunzip chmod mkdir export source echo sleep
    cat grep sed awk head tail make cmake gcc gfortran mpicc mpif90""".split()
_SCHEDULERS = {"sbatch", "qsub", "bsub", "salloc", "msub"}
_REAL = {"ml", "mpic++", "mpicxx", "pythonw", "pypy3", "ptython", "rsh", "ash", "dash", "car", "cut", "zcat", "egrep", "fgrep", "tac",
         "mawk", "gawk", "read", "lsed", "f77", "gcc-12", "cmake3", "gmake", "rmdir", "mkdirs", "zsh", "csh", "tcsh", "ksh", "fish", "ping",
         "mpif77", "mpiCC", "mpifort", "mpixlc", "orterun", "ipython", "ipython3", "jython", "bpython", "python2", "mpiexec.hydra"}  # fmt: skip


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    foam = [] if canonical(request.software) == "openfoam" else _FOAM  # else its own validator says so
    for step in plan.steps:
        word = step.words[0] if step.words else None
        if not word or "/" in word or step.conditional or word in plan.functions:
            continue
        at = {"file": step.file, "line": step.line, "thing": word}
        where = spot(step.file, step.line)
        if word in _SCHEDULERS:
            yield warning(f"{where} hands a job to a batch system ({word}): this job ends at once, and what was handed on is not "
                          "followed.", remedy="Write the commands of that script here instead.", **at)  # type: ignore[arg-type] # fmt: skip
        elif near := _near(step, word, foam):
            yield error(f"{where} runs {word}, which is no program that is known here.", remedy=f"Did you mean {near}?", **at)  # type: ignore[arg-type]


def _near(step: Step, word: str, foam: list[str]) -> str | None:
    if (
        word in _WELL_KNOWN
        or word in foam
        or word in _REAL
        or is_known(word)
        or claims(word)
        or step.tree.anything
        or word.startswith("python")
    ):
        return None
    for name in [*_WELL_KNOWN, *foam]:
        if name.lower() == word.lower() or (len(word) >= 5 and sorted(name) == sorted(word)):
            return name
    near = difflib.get_close_matches(word, [name for name in _WELL_KNOWN if len(name) >= 6], 1, 0.86) if len(word) >= 6 else []
    return near[0] if near and near[0][0] == word[0] else None

"""The verdict on GROMACS runs.

The one idea: mdrun ends with the same last words whether it did all its steps, none of them, or was told to stop; and a
minimisation says in a sentence of its own whether the force limit was met. So steps, sentence and files are compared.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from .base import Ending, Evidence, Files, Follower, Verdict
from .gromacs_checks import Checks
from .gromacs_log import GmxLog
from .gromacs_words import files_of, mdruns_of
from .live import Live, Log, parse
from .run import Run, alone, tempered, unseen
from .sources import logs, parts

PROGRAM = re.compile(r"^(?:gmx(?:_\w+)?|mdrun(?:_\w+)?|grompp(?:_\w+)?)$")
SIGNATURE = re.compile(
    rb":-\) +GROMACS - gmx|^Program:? +gmx|Log file opened on|^Reading file .*\.tpr, VERSION|^starting mdrun|^(?:WARNING|"
    rb"ERROR|NOTE) \d+ \[file|^Setting the LD random seed|^Compiled SIMD|^Number of degrees of freedom",
    re.M,
)


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    own = [name for part in mdruns_of(run.parts) for name in files_of(part, "-g", ".log", "md.log")] or ["md.log"]
    found = [parse(GmxLog(), folder, name) for name in logs(folder, run.script, log, lambda start: bool(SIGNATURE.search(start)), own)]
    found = [one for one in found if one.runs or one.told or one.program]
    if not found:
        return unseen(run, "GROMACS", [*[name for part in run.using(PROGRAM) for name in part.output], *own])
    starts = [Evidence(one.name, number, "starting mdrun") for one in found if one.name not in own for number in one.begun]
    copies = alone(run, mdruns_of(run.parts), "mdrun", starts, "Use gmx_mpi behind mpirun, or plain gmx mdrun with -ntmpi and -ntomp.")
    if copies and all(one.ranks == 1 for one in found):
        return copies
    seen = Checks(run, found, _merged(found, own))
    return tempered(run, seen.judge(), PROGRAM)


def follow(folder: Files | None, command: str) -> Follower:
    def choose(stream: str) -> Log | None:
        return GmxLog()

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    return {posixpath.basename(name): name for part in mdruns_of(parts(command)) for name in files_of(part, "-g", ".log", "md.log")}


def _merged(found: list[GmxLog], own: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """The mdruns in order, each once: md.log knows the steps, the screen knows the final words."""
    logged = [(one.name, run) for name in own for one in found if one.name == name for run in one.runs]
    rest = [(one.name, run) for one in found if one.name not in own for run in one.runs]
    files = [pair for pair in rest if pair[1]["row"]]
    screen = [pair for pair in rest if not pair[1]["row"]]
    chosen = logged or files
    if not chosen:
        return screen
    if screen:
        for key in ("written", "steps_line", "em", "force", "continued", "signal"):
            chosen[-1][1][key] = chosen[-1][1][key] or screen[-1][1][key]
            if screen[-1][1][key] and chosen[-1][1].get(key) is screen[-1][1][key]:
                chosen[-1][1][f"{key}_in"] = screen[-1][0]
        if chosen[-1][1]["nsteps"] is None or "override" in screen[-1][1]:
            chosen[-1][1]["nsteps"] = screen[-1][1]["nsteps"]
    return chosen

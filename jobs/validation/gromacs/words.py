"""Words of a call of GROMACS that its tools do not take: files without their option, names of old releases, grids of ranks.

The one idea to know: a tool takes no word without an option in front of it and ends at once; what stands right behind its name, or
behind a switch that has no value, is such a word.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterator

from ..base import Finding, Request, error
from ..paths import spot
from ..plan import Plan, Step
from ..solvers import canonical

_OPTIONS = {".tpr": "-s", ".mdp": "-f", ".gro": "-c", ".pdb": "-c", ".g96": "-c", ".top": "-p", ".ndx": "-n", ".cpt": "-cpi", ".xtc": "-f",
            ".trr": "-f", ".edr": "-f"}  # fmt: skip
_SWITCHES = {"-v", "-nov", "-h", "-quiet", "-noquiet", "-copyright", "-nocopyright", "-backup", "-nobackup", "-append", "-noappend", "-reprod",
             "-noreprod", "-confout", "-noconfout", "-cpnum", "-nocpnum", "-tunepme", "-notunepme", "-ignh", "-noignh", "-inter", "-nointer"}  # fmt: skip
_TOOLS = "editconf genbox genconf genion grompp make_ndx pdb2gmx tpbconv trjcat trjconv eneconv genrestr".split()
_RENAMED = {"genbox": "solvate", "tpbconv": "convert-tpr", "g_dist": "distance", "g_sas": "sasa", "g_traj": "traj"}
_FEW = 19  # ranks below which none is set aside for PME by itself


def old_names(request: Request, plan: Plan) -> Iterator[Finding]:
    """Since release 5 all tools are words of gmx."""
    if canonical(request.software) != "gromacs" or not re.match(r"v?(20[12]\d|[5-9])\b", request.version.strip()):
        return
    for step in plan.steps:
        old = step.program in _TOOLS or re.fullmatch(r"g_[a-z]\w+", step.program)
        if old and (step.words[0] or "") == step.program and not step.conditional and not _brought(plan, step):
            new = f"gmx {_RENAMED.get(step.program, step.program.removeprefix('g_'))}"
            yield error(f"{spot(step.file, step.line)} runs {step.program}, which is not in GROMACS {request.version}: its tools are words "
                        "of gmx.", file=step.file, line=step.line, thing=step.program, remedy=f"Write {new}.")  # fmt: skip


def _brought(plan: Plan, step: Step) -> bool:
    """The command itself may bring such a program: a function, an alias, a module, a path of its own."""
    before = plan.until(step)
    return step.program in plan.functions or any(
        other.program in ("alias", "module", "ml", "source", ".", "spack", "conda") or any("PATH=" in word for word in other.shown)
        for other in before
    )


def stray(step: Step, tool: str) -> Finding | None:
    """A word that belongs to no option."""
    words = list(step.argv)
    at = words.index(tool) if tool in words else -1
    for before, word in zip(words[at:], words[at + 1 :], strict=False) if at > 0 else ():
        if word and not word.startswith("-") and (before == tool or before in _SWITCHES) and at + 1 not in step.globs:
            option = _OPTIONS.get(posixpath.splitext(word)[1], "-s" if tool == "mdrun" else "-f")
            return error(f"{spot(step.file, step.line)} gives {word} to gmx {tool} without an option in front of it; it takes no such word.",
                         file=step.file, line=step.line, thing=word, remedy=f"Write {option} {word}.")  # fmt: skip
        if before != tool and not (before or "").startswith("-"):
            return None
    return None


def grid(step: Step, ranks: int | None) -> Iterator[Finding]:
    """The grid of -dd, and the simulations of -multidir, against the ranks that are started."""
    numbers = _behind(step, "-dd")[:3]
    where, at = spot(step.file, step.line), {"file": step.file, "line": step.line}
    own = step.option("-npme") or ""
    pme = int(own) if own.isdigit() else 0
    if ranks and len(numbers) == 3 and all(word.isdigit() and int(word) for word in numbers) and (own.isdigit() or ranks < _FEW):
        cells = math.prod(int(word) for word in numbers)
        if cells + pme != ranks:
            yield error(f"{where}: -dd {' '.join(numbers)} makes {cells} domains, but {ranks - pme} rank{'s' * (ranks - pme != 1)} would take "
                        "one.", thing="-dd", remedy="Choose three numbers whose product is the ranks, or leave -dd out.", **at)  # type: ignore[arg-type] # fmt: skip
    elif ranks and pme >= ranks:
        yield error(f"{where}: -npme {pme} sets aside all {ranks} ranks for PME; none is left for the particles.", thing="-npme",
                    remedy="Give fewer, or leave -npme out.", **at)  # type: ignore[arg-type] # fmt: skip
    folders = _behind(step, "-multidir")
    launched = step.launcher.ranks if step.launcher else None
    if launched and len(folders) > 1 and not any(set("*?$[{") & set(word) for word in folders) and launched % len(folders):
        yield error(f"{where} runs {len(folders)} simulations (-multidir) on {launched} ranks; each must get as many.", thing="-multidir",
                    remedy=f"Start a multiple of {len(folders)} ranks.", **at)  # type: ignore[arg-type] # fmt: skip


def _behind(step: Step, option: str) -> list[str]:
    words = list(step.argv)
    at = words.index(option) + 1 if option in words else len(words)
    end = next((n for n in range(at, len(words)) if (words[n] or "-").startswith("-")), len(words))
    return [word or "" for word in words[at:end]]

"""Trajectories that a run of the command does not write.

The one idea to know: mdrun writes a compressed trajectory only where nstxout-compressed is above 0, and 0 is the default; whatever
reads it afterwards stops, when the run is paid for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, error
from ..paths import spot
from ..plan import Step
from ..tree import resolve
from .parameters import Mdp


@dataclass
class Runs:
    """What the steps so far have made, by names in the job folder."""

    prepared: dict[str, Mdp] = field(default_factory=dict)  # run file -> its parameters
    unwritten: dict[str, Mdp] = field(default_factory=dict)  # trajectory -> the parameters that leave it out

    def prepare(self, step: Step, mdp: Mdp | None) -> None:
        name = _name(step, step.option("-o") or "topol.tpr", ".tpr")
        self.prepared.pop(name or "", None)
        if name and mdp:
            self.prepared[name] = mdp

    def run(self, step: Step) -> None:
        stem = step.option("-deffnm")
        mdp = self.prepared.get(_name(step, step.option("-s") or stem or "topol.tpr", ".tpr") or "")
        name = _name(step, step.option("-x") or (f"{stem}.xtc" if stem else "traj_comp.xtc"), ".xtc")
        self.unwritten.pop(name or "", None)
        if name and mdp and not (mdp.number("nstxoutcompressed", 0) or mdp.number("nstxtcout", 0)):
            self.unwritten[name] = mdp

    def read(self, step: Step, tool: str) -> Iterator[Finding]:
        name = _name(step, step.option("-f") or "", ".xtc")
        mdp = self.unwritten.get(name or "")
        if mdp and not step.conditional and name not in step.tree.inputs and name not in step.tree.made:
            yield error(f"{spot(step.file, step.line)} runs gmx {tool}: it reads {name}, but nstxout-compressed is 0 in {mdp.name}, so "
                        "mdrun writes no such file.", file=step.file, line=step.line, thing=name,
                        remedy=f"Add nstxout-compressed = 100 to {mdp.name}, for instance.")  # fmt: skip


def _name(step: Step, path: str, end: str) -> str | None:
    return resolve(step.cwd, path if path.endswith(end) else path + end) if path and step.cwd is not None else None

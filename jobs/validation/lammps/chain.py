"""Scripts of LAMMPS that run one after another: what the first writes, the next may read.

The one idea to know: a program may have made any file, but of a script that was read to its end all writing commands are known. Where
nothing else that is unknown ran before, the next script's files are either among the inputs, or written by them, or missing.
"""

from __future__ import annotations

from dataclasses import replace

from ..base import Inputs
from ..plan import Plan, Step
from ..programs import effects
from .script import Script, is_known
from .written import RUNS_OTHERS, written

_WRITING_FIXES = ("ave/", "print", "reaxff", "ipi", "phonon", "plumed", "colvars", "saed", "bond/react")


class Chain:
    def __init__(self, plan: Plan, inputs: Inputs) -> None:
        self.plan, self.inputs = plan, inputs
        self.scripts: list[tuple[Step, Script]] = []

    def add(self, step: Step, script: Script) -> None:
        """`step`: as it stands in the plan."""
        self.scripts.append((step, script))

    def known(self, step: Step) -> Step:
        """The step with a tree in which nothing is open any more, if the scripts before it explain all that was."""
        explained = [each for each, _ in self.scripts]
        others = [other for other in self.plan.until(step) if not any(other is each for each in explained)]
        if not step.tree.anything or not explained or any(effects(other, self.inputs)[1] for other in others):
            return step
        names = [name for each, script in self.scripts for name in _made(each, script)]
        if None in names:
            return step
        tree = step.tree.copy()
        tree.anything = False
        tree.make(*(name for name in names if name))
        return replace(step, tree=tree)


def _made(step: Step, script: Script) -> list[str | None]:
    """Names that a script writes; None among them where it may write others."""
    found: list[str | None] = [step.path(word) for word in ("log.*", step.option("-log", "-l"), "tmp.*") if word]
    if not script.complete or not script.whole or script.findings:
        return [None]
    for command in script.commands:
        calls = command.name in RUNS_OTHERS - {"run", "info"} or (command.name == "run" and "every" in command.words)
        if calls or (command.name == "fix" and command.word(2).startswith(_WRITING_FIXES)):
            return [None]
        for path in written(command):
            found.append(step.path(path.replace("%", "*")) if is_known(path) else None)
    return found

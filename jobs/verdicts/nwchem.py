"""The verdict on NWChem runs.

The one idea: a task that failed may be followed by others (`ignore`), and a shell line after NWChem hides its exit code; so
each task asked for must have its times printed, no cycle may have failed, and the closing "Total times" must be there.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Any

from .base import Ending, Evidence, Files, Follower, Label, Verdict
from .live import Live, Log, parse
from .nwchem_log import NwLog
from .run import Run, alone, bad, tempered, unseen, worst
from .sources import logs, parts
from .text import shown, words

PROGRAM = re.compile(r"^nwchem[\w.+-]*$", re.I)
SIGNATURE = re.compile(rb"Northwest Computational Chemistry Package|^ argument +1 = .*\n", re.M)
_SCANTY = re.compile(r"(?i)insufficient|not enough|ma_(?:push|alloc|get)|stack|heap")
UNMET = re.compile(
    r"(?i)converge|scf (?:energy|gradient|optimize|frequencies) failed|(?:dft|mp2|ccsd|tce|driver|tddft).*(?:failed|not "
    r"converged)|optimize failed|energy failed"
)


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    found: dict[tuple[Any, ...], tuple[str, dict[str, Any]]] = {}
    for name in logs(folder, run.script, log, lambda start: bool(SIGNATURE.search(start))):
        read = parse(NwLog(), folder, name)
        starts = [Evidence(name, number, "NWChem starts") for number in read.banners]
        copies = alone(run, run.using(PROGRAM), "NWChem", starts, "This mpirun does not fit the MPI that NWChem was built with.")
        if copies and read.ranks == 1:
            return copies
        for one in read.runs:
            energy = one["energy"][1] if one["energy"] else ""
            key = (tuple(one["tasks"]), energy, one["done"], bool(one["total"]), str([text for _, text in one["errors"][:1]]))
            found.setdefault(key, (name, one))
    if not found:
        return unseen(run, "NWChem", [name for part in run.using(PROGRAM) for name in part.output])
    return tempered(run, worst([_Seen(run, *pair).judge() for pair in found.values()]), PROGRAM)


def follow(folder: Files | None, command: str) -> Follower:
    def choose(stream: str) -> Log | None:
        return NwLog()

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    using = [part for part in parts(command) if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)]
    return {posixpath.basename(name): part.place(name) for part in using for name in part.output}


@dataclass
class _Seen:
    """One start of NWChem."""

    run: Run
    log: str
    one: dict[str, Any]

    def judge(self) -> Verdict:
        return self._nan() or self._unmet() or self._error() or self._cut() or self._idle() or self._good()

    def line(self, *keys: str) -> list[Evidence]:
        return [Evidence(self.log, *self.one[key][:2]) for key in keys if self.one.get(key)]

    @property
    def tasks(self) -> list[str]:
        """What was asked for, as echoed; without an echo, as the input says."""
        return self.one["tasks"] or self._deck()

    @property
    def errors(self) -> list[Evidence]:
        return [Evidence(self.log, number, text) for number, text in self.one["errors"]]

    def _nan(self) -> Verdict | None:
        if not self.one["nan"]:
            return None
        return bad(
            self.run,
            Label.DIVERGED,
            "NWChem diverged: an energy is not a number (nan)",
            self.line("nan"),
            "Check the geometry (atoms too close) and the basis set.",
        )

    def _unmet(self) -> Verdict | None:
        """A cycle that failed: scf, dft, or the optimisation that ran out of steps."""
        failed = [Evidence(self.log, number, text) for number, text in self.one["failed"]]
        stopped = [one for one in self.errors if UNMET.search(one.text)]
        if not failed and not stopped:
            return None
        steps = next((one for one in failed if "maximum number of steps" in one.text), None)
        task = self._task(stopped)
        if steps:
            reason = f"The geometry optimisation did not converge within its maximum number of steps{task}"
            advice = "Raise maxiter in the driver block, or go on from the last geometry (restart)."
        else:
            method = re.search(r"(?i)\b(scf|dft|mp2|ccsd|tce|tddft)\b", " ".join([*[one.text for one in [*failed, *stopped]], *self.tasks]))
            went_on = " The run went on because of `ignore`." if any("ignore" in task for task in self.tasks) else ""
            reason = f"{(method[1] if method else 'scf').upper()} did not converge{task}.{went_on}"
            advice = "Raise maxiter, loosen thresh, or begin from better vectors."
        return bad(self.run, Label.NOT_CONVERGED, reason, [*failed[:4], *stopped, *self.line("input", "step", "energy")], advice)

    def _task(self, stopped: list[Evidence]) -> str:
        if self.one["input"]:
            return f" (input line {self.one['input'][1]})"
        return f" ({stopped[0].text})" if stopped else ""

    def _error(self) -> Verdict | None:
        if self.one["memory"]:
            advice = "Lower the memory line of the input, or choose a coretype with more memory."
            if _SCANTY.search(self.one["memory"][1]):  # of what the input grants, not of what the machine has
                advice = "Raise the memory line of the input, for instance memory total 2000 mb: it grants each process too little."
            return bad(self.run, Label.INCOMPLETE, f"NWChem ran out of memory: {self.one['memory'][1]}", self.line("memory"), advice)
        if not self.errors:
            return None
        place = f" (input line {self.one['input'][1]})" if self.one["input"] else ""
        file = f" File: {posixpath.basename(self.one['file'][1])}." if self.one["file"] else ""
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"NWChem stopped: {shown(self.errors[0].text, 160)}{place}.{file}",
            [*self.errors, *self.line("input", "file")],
            "Correct that line of the input.",
        )

    def _cut(self) -> Verdict | None:
        asked, done = len(self.tasks), self.one["done"]
        if self.one["total"] and done >= asked:
            return None
        if self.one["total"] and not asked:
            return None
        what = f"{done} of {asked} tasks were done" if asked else "its last words (Total times) are missing"
        return bad(
            self.run, Label.INCOMPLETE, f"NWChem ended early: {what}. {self.run.told}", [*self.line("step", "energy"), *self.run.troubles]
        )

    def _idle(self) -> Verdict | None:
        if self.one["done"] or self.one["energy"]:
            return None
        return bad(
            self.run,
            Label.INCOMPLETE,
            "NWChem did nothing: the input has no task",
            [Evidence(self.log, self.one["total"], "Total times")],
            "Add a task line, such as `task scf energy`.",
        )

    def _good(self) -> Verdict:
        evidence = (*self.line("optimised", "energy"), Evidence(self.log, self.one["total"], "Total times"))
        done = f"{self.one['done']} of {max(len(self.tasks), self.one['done'])} tasks done"
        if self.one["optimised"]:
            return Verdict(Label.CONVERGED, f"The geometry converged ({done}).", evidence)
        if self.one["energy"]:
            return Verdict(Label.CONVERGED, f"All cycles converged ({done}): {self.one['energy'][1]}.", evidence)
        return Verdict(Label.FINISHED, f"NWChem came to its end: {done}.", evidence)

    def _deck(self) -> list[str]:
        named = [
            part.place(word) for part in self.run.using(PROGRAM) for word in part.words if word.endswith((".nw", ".nwi", ".inp", ".in"))
        ]
        names = [name for name in named if name in self.run.names] or [name for name in self.run.names if name.endswith(".nw")][:1]
        text = words(self.run.folder, names[0], 1 << 20) if names else ""
        return [match.strip() for match in re.findall(r"(?im)^\s*task\s+([^#\n]+)", text)]

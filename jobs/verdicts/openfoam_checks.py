"""The questions that a finished run of an OpenFOAM solver must answer: blown up, broken off, idle, short, unwritten.

The one idea: each question gives a verdict or None; the first that gives one holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .base import Evidence, Label, Verdict
from .openfoam_case import STEADY, Case, cases, line_of, written
from .run import Run, bad
from .text import brief, shown

BLOWN = re.compile(
    r"(?i)maximum number of iterations exceeded|negative (?:initial )?temperature|word '[-+]?(?:nan|inf)'|floating point|"
    r"Wrong token type.*nan"
)
ADVICE = {
    "nan": "Smaller deltaT (Courant number below 1), more relaxation, a better mesh (checkMesh), and a look at the boundary conditions.",
    "criteria": "Raise endTime and go on from latestTime, or look why the residuals stall (mesh, relaxation, schemes).",
}  # fmt: skip


_PATH = re.compile(r"/[^\s\"]*?/((?:system|constant|processor\d+|\d[\d.e-]*)/)")


@dataclass
class Checks:
    """One run of a solver set against its case."""

    run: Run
    one: dict[str, Any]
    case: Case

    def judge(self) -> Verdict:
        return self._blown() or self._stopped() or self._idle() or self._short() or self._unwritten() or self._good()

    @property
    def name(self) -> str:
        return self.one["exec"] or "the solver"

    @property
    def at(self) -> str:
        return f"time {brief(self.one['time'])}" if self.one["time"] is not None else "the start"

    @property
    def end(self) -> float | None:
        return self.case.value("endTime")

    @property
    def criteria(self) -> dict[str, float]:
        return dict(self.one["criteria"] or (self.case.criteria if self.steady else {}))

    @property
    def steady(self) -> bool:
        if self.case.steady is not None:
            return self.case.steady
        return bool(self.one["criteria"] or self.one["no_criteria"] or STEADY.search(self.name))

    def line(self, key: str) -> list[Evidence]:
        return [Evidence(self.one["file"], *self.one[key][:2])] if self.one[key] else []

    def _blown(self) -> Verdict | None:
        one = self.one
        said = one["fatal"][0][1] if one["fatal"] else ""
        if one["nan"]:
            reason = f"{self.name} diverged: a residual is not a number (nan) at {self.at}"
        elif one["trap"] and one["steps"]:
            reason = f"{self.name} diverged: floating point exception (division by zero or overflow) at {self.at}, step {one['steps']}"
        elif BLOWN.search(said) and one["steps"]:
            reason = f"{self.name} diverged at {self.at}: {shown(said, 120)}"
        elif not one["end"] and one["courant"] > 1e3 and not one["fatal"]:
            reason = f"{self.name} blew up: it broke off at {self.at} with a Courant number of {one['courant']:.3g}"
        elif one["huge"]:
            reason = f"{self.name} diverged: {one['huge'][2]} of {one['huge'][3]:.3g} at {self.at}"
        else:
            return None
        return bad(
            self.run,
            Label.DIVERGED,
            reason,
            [*self.line("nan"), *self._huge(), *errors_of(one), *self.line("last"), *self.line("fastest")],
            ADVICE["nan"],
            self.at,
        )

    def _huge(self) -> list[Evidence]:
        return [Evidence(self.one["file"], *self.one["huge"][:2])] if self.one["huge"] else []

    def _stopped(self) -> Verdict | None:
        """An error message, a crash, or no last words."""
        one = self.one
        if one["fatal"] or one["crash"] or one["trap"]:
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"{self.name} stopped at {self.at}: {told_of(one)}",
                [*errors_of(one), *self.run.troubles],
                "Correct the file and entry that the message names.",
            )
        if one["end"]:
            return None
        of = f" of endTime {brief(self.end)}" if self.end is not None else ""
        reason = f"{self.name} ended early, at {self.at}{of} (step {one['steps']}): its last word End is missing. {self.run.told}"
        return bad(self.run, Label.INCOMPLETE, reason, [*self.line("last"), *self._asked("endTime"), *self.run.troubles], at=self.at)

    def _idle(self) -> Verdict | None:
        if self.one["steps"] or not self.one["loop"] or self.name == "potentialFoam":
            return None
        start, end = brief(self.one["start"]), brief(self.end)
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"No time step was done: start time {start}, endTime {end}, so there was nothing to do",
            [Evidence(self.one["file"], self.one["end"], "End"), *self._asked("endTime"), *self._asked("startFrom")],
            "Raise endTime, or begin at startTime instead of latestTime.",
        )

    def _short(self) -> Verdict | None:
        """Ended by itself, but with criteria unmet or before endTime."""
        if self.steady and not self.one["converged"] and not self.one["stopped"] and (unmet := self._unmet()):
            return unmet
        one, end = self.one, self.end
        if one["converged"] or one["stopped"] or end is None or one["time"] is None:
            return None
        step = one["deltaT"] or self.case.value("deltaT") or 0.0
        if one["time"] >= end - max(0.51 * step, 1e-4 * abs(end)):
            return None
        asked = self.case.entries.get("stopAt", "endTime")
        why = "" if asked == "endTime" else f": it was asked to stop (stopAt {asked})"
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"{self.name} ended at {self.at}, before endTime {brief(end)}{why}",
            [*self.line("last"), *self._asked("endTime"), *(self._asked("stopAt") if why else [])],
            "Set stopAt back to endTime, and go on from latestTime.",
            self.at,
        )

    def _unmet(self) -> Verdict | None:
        unmet, seen = [], []
        for name, (value, number, text) in self.one["residuals"].items():
            limit = _limit(self.criteria, name)
            if limit is not None and value > limit:
                unmet.append(f"{name} {value:.3g} (wanted {limit:g})")
                seen.append(Evidence(self.one["file"], number, text))
            elif not self.criteria and value > 1e-2:
                unmet.append(f"{name} {value:.3g}")
                seen.append(Evidence(self.one["file"], number, text))
        if not unmet:
            return None
        steps = f"after {self.one['steps']} iterations at {self.at} (endTime {brief(self.end)})"
        what = "residualControl is not met" if self.criteria else "no residualControl is set, and the residuals are still large"
        return bad(
            self.run,
            Label.NOT_CONVERGED,
            f"{self.name} stopped {steps}, {what}: {', '.join(unmet[:4])}",
            [*seen, *self._asked("endTime")],
            ADVICE["criteria"],
            self.at,
        )

    def _unwritten(self) -> Verdict | None:
        if self.name == "potentialFoam":
            return None
        times, empty = written(self.run.folder, self.case, self.one["start"])
        interval = self.case.entries.get("writeInterval", "?")
        if empty:
            zero = not self.run.folder.size(empty[0])
            more = f" (and {len(empty) - 1} more)" if len(empty) > 1 else ""
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"{self.name} came to its end, but {empty[0]}{more} is {'empty' if zero else 'cut off'}: the disk may be full",
                [Evidence(name, None, "cut off" if self.run.folder.size(name) else "0 bytes") for name in empty[:3]],
                "Make room, and go on from the last time whose fields are whole.",
            )
        if times or not cases(self.run.folder):
            return None
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"{self.name} reached its end, but wrote no results: no time folder later than {brief(self.one['start'])} "
            f"(writeInterval {interval}, {self.one['steps']} steps done)",
            [*self._asked("writeInterval"), *self.line("last")],
            "Make writeInterval smaller than the run, or set writeControl and stopAt so that the last step is written.",
        )

    def _good(self) -> Verdict:
        one = self.one
        evidence = (*self.line("converged"), *self.line("stopped"), Evidence(one["file"], one["end"], "End"))
        if one["converged"]:
            return Verdict(Label.CONVERGED, f"{self.name} converged in {one['converged'][2]} iterations: residualControl is met.", evidence)
        if one["stopped"]:
            return Verdict(Label.FINISHED, f"{self.name} ended itself at {self.at}: {one['stopped'][1]}.", evidence)
        if self.steady and self.criteria:
            return Verdict(
                Label.CONVERGED,
                f"{self.name} reached endTime {brief(self.end)} with all residuals below residualControl.",
                (*self.line("last"), *evidence),
            )
        worst = max(((value, name) for name, (value, _, _) in one["residuals"].items()), default=None)
        told = f" Largest last residual: {worst[1]} {worst[0]:.3g}; no residualControl is set." if self.steady and worst else ""
        steps = one["steps"]
        if not steps:
            return Verdict(Label.FINISHED, f"{self.name} came to its end; it makes no time steps.", evidence)
        return Verdict(
            Label.FINISHED,
            f"{self.name} reached {self.at}{'' if one.get('headless') else f' in {steps} steps'}, and results are written.{told}",
            (*self.line("last"), *evidence),
        )

    def _asked(self, word: str) -> list[Evidence]:
        told = line_of(self.run.folder, self.case.place("system/controlDict"), word)
        return [told] if told else []


def _limit(criteria: dict[str, float], name: str) -> float | None:
    """The criterion for a field: by its name, by its vector (Ux -> U), or by a pattern."""
    for word in (name, name[:-1] if name[-1:] in "xyz" else name):
        for key, value in criteria.items():
            try:
                if key == word or re.fullmatch(key, word):
                    return value
            except re.error:
                continue
    return None


def errors_of(one: dict[str, Any]) -> list[Evidence]:
    file = one.get("told_in", one["file"])
    found = [Evidence(file, number, shown(f"FOAM FATAL ERROR: {text}", 300)) for number, text in one["fatal"]]
    found += [Evidence(file, *one[key]) for key in ("trap", "crash") if one[key]]
    return found


def told_of(one: dict[str, Any]) -> str:
    if one["fatal"]:
        return shown(_PATH.sub(r"\1", one["fatal"][0][1]).replace("file: ", "in "), 240)
    return "it crashed (floating point exception)" if one["trap"] else "it crashed (segmentation fault)"

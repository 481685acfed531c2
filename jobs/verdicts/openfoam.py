"""The verdict on OpenFOAM runs.

The one idea: "End" is printed by a run that converged, by one that hit endTime, and by one that had nothing to do. So the
program runs found in the logs are set against the case: criteria against residuals, last time against endTime, results written.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .base import Ending, Evidence, Files, Follower, Label, Verdict
from .live import Live, Log, parse
from .openfoam_case import STEADY, Case, cases, line_of, read, written
from .openfoam_log import SIGNATURE, SOLVER, FoamLog
from .run import Run, bad, tempered, unseen
from .sources import logs, parts
from .text import brief, shown

PROGRAM = re.compile(r"^(?!.*ToFoam$)(?:\w+Foam|foamRun|foamMultiRun|decomposePar|reconstructPar|blockMesh|snappyHexMesh)$")
BLOWN = re.compile(r"(?i)maximum number of iterations exceeded|negative (?:initial )?temperature|word '[-+]?(?:nan|inf)'|floating point|Wrong token type.*nan")
MESHERS = re.compile(r"^(?:blockMesh|snappyHexMesh|cartesianMesh|extrudeMesh|\w+ToFoam|decomposePar|setFields|mapFields|refineMesh|topoSet|createPatch|createBaffles|mirrorMesh)$")
_PATH = re.compile(r"/[^\s\"]*?/((?:system|constant|processor\d+|\d[\d.e-]*)/)")
ADVICE = {
    "nan": "Smaller deltaT (Courant number below 1), more relaxation, a better mesh (checkMesh), and a look at the boundary conditions.",
    "criteria": "Raise endTime and go on from latestTime, or look why the residuals stall (mesh, relaxation, schemes).",
}  # fmt: skip


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    found = _runs(run)
    if not found:
        return unseen(run, "OpenFOAM", [name for part in run.using(PROGRAM) for name in part.output])
    main = next((one for one in reversed(found) if SOLVER.search(one["exec"]) and _counts(one)), None)
    if main is None:
        return tempered(run, _without_solver(run, found), PROGRAM)
    earlier = [one for one in found[: found.index(main)] if MESHERS.match(one["exec"]) and (one["fatal"] or one["crash"])]
    seen = _Seen(run, main, read(folder, _case_of(folder, main)))
    verdict = seen.judge()
    if earlier:
        return _failed_before(run, earlier, verdict)
    return tempered(run, verdict, SOLVER)


def follow(folder: Files | None, command: str) -> Follower:
    end = None
    if folder is not None and (found := cases(folder)):
        end = read(folder, found[0]).value("endTime")

    def choose(stream: str) -> Log | None:
        return FoamLog(end=end)

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    return {name: part.place(name) for part in parts(command) for name in part.output if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)}


def _runs(run: Run) -> list[dict[str, Any]]:
    """All program runs of all logs, each once, in the order in which they began."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for name in logs(run.folder, run.script, run.log, lambda start: bool(SIGNATURE.search(start))):
        for at, one in enumerate(parse(FoamLog(), run.folder, name).runs):
            one["file"] = name
            key = (one["exec"], one["date"], one["clock"], one["pid"]) if one["pid"] else (name, str(at))
            if key in found:
                _merge(found[key], one)
            else:
                found[key] = one
    return _adopted(sorted(found.values(), key=_began))


def _merge(kept: dict[str, Any], copy: dict[str, Any]) -> None:
    """The same run in a second file (tee): that one may also hold what went to stderr."""
    for key in ("fatal", "trap", "crash"):
        if copy[key] and not kept[key]:
            kept[key], kept["told_in"] = copy[key], copy["file"]


def _adopted(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages that went to another file than the program's header (stderr beside a log) belong to the last broken run."""
    strays = [one for one in found if not one["exec"] and not one["steps"]]
    broken = [one for one in found if one["exec"] and not one["end"] and not one["fatal"] and not one["trap"]]
    if not strays or not broken:
        return found
    for key in ("fatal", "trap", "crash"):
        told = next((one[key] for one in strays if one[key]), None)
        if told:
            broken[-1][key], broken[-1]["told_in"] = told, strays[0]["file"]
    return [one for one in found if one not in strays]


def _began(one: dict[str, Any]) -> tuple[datetime, int]:
    for style in ("%b %d %Y %H:%M:%S", "%d %b %Y %H:%M:%S", "%Y-%m-%d %H:%M:%S"):
        try:
            return datetime.strptime(f"{one['date']} {one['clock']}", style), int(one["pid"] or 0)
        except ValueError:
            continue
    return datetime.max, 0


def _counts(one: dict[str, Any]) -> bool:
    return bool(one["loop"] or one["fatal"] or one["trap"] or one["crash"] or one["exec"] not in ("potentialFoam",))


def _case_of(folder: Files, one: dict[str, Any]) -> str:
    """The case of a program run: the one whose folder the header's Case line ends with, else the shallowest."""
    found = cases(folder)
    path = one["case"].rstrip("/")
    fitting = [case for case in found if case and path.endswith(f"/{case}")]
    return max(fitting, key=len) if fitting else (found[0] if found else "")


def _without_solver(run: Run, found: list[dict[str, Any]]) -> Verdict:
    """Only utilities ran: meshing, decomposing, converting."""
    failed = [one for one in found if one["fatal"] or one["crash"] or one["trap"]]
    if failed:
        return bad(run, Label.INCOMPLETE, f"{failed[0]['exec'] or 'OpenFOAM'} failed: {_told(failed[0])}", [one for bad_run in failed for one in _fatal(bad_run)] + list(run.troubles), "Correct the entry that the message names.")
    wanted = [word for part in run.parts for word in part.words if SOLVER.search(posixpath.basename(word))]
    if wanted or run.troubles:
        left = run.troubles or (Evidence(found[-1]["file"], found[-1]["end"] or None, f"{found[-1]['exec']} was the last program that spoke"),)
        reason = run.told if not run.ending.clean else (run.troubles[0].text if run.troubles else run.told)
        return bad(run, Label.INCOMPLETE, f"{posixpath.basename(wanted[-1]) if wanted else 'The solver'} left no output: {reason}", left)
    last = found[-1]
    if not last["end"] and not run.ending.clean:
        return bad(run, Label.INCOMPLETE, f"{last['exec']} did not come to its end. {run.told}", run.troubles)
    names = ", ".join(dict.fromkeys(one["exec"] for one in found))
    return Verdict(Label.FINISHED, f"Finished: {names}. No solver was asked for.", (Evidence(last["file"], last["end"] or last["line"], "End" if last["end"] else last["exec"]),))


def _failed_before(run: Run, earlier: list[dict[str, Any]], verdict: Verdict) -> Verdict:
    names = " and ".join(dict.fromkeys(one["exec"] for one in earlier))
    evidence = [told for one in earlier for told in _fatal(one)[:2]]
    return bad(run, Label.INCOMPLETE if verdict.good else verdict.verdict, f"{names} failed before the solver started ({shown(_told(earlier[0]), 120)}). Then: {verdict.reason}", [*evidence, *verdict.evidence, *run.troubles], "Let the script end at the first error (`set -e` or &&), and correct that step first.")


def _fatal(one: dict[str, Any]) -> list[Evidence]:
    file = one.get("told_in", one["file"])
    found = [Evidence(file, number, shown(f"FOAM FATAL ERROR: {text}", 300)) for number, text in one["fatal"]]
    found += [Evidence(file, *one[key]) for key in ("trap", "crash") if one[key]]
    return found


def _told(one: dict[str, Any]) -> str:
    if one["fatal"]:
        return shown(_PATH.sub(r"\1", one["fatal"][0][1]).replace("file: ", "in "), 240)
    return "it crashed (floating point exception)" if one["trap"] else "it crashed (segmentation fault)"


@dataclass
class _Seen:
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
        return bad(self.run, Label.DIVERGED, reason, [*self.line("nan"), *self._huge(), *_fatal(one), *self.line("last"), *self.line("fastest")], ADVICE["nan"], self.at)

    def _huge(self) -> list[Evidence]:
        return [Evidence(self.one["file"], *self.one["huge"][:2])] if self.one["huge"] else []

    def _stopped(self) -> Verdict | None:
        """An error message, a crash, or no last words."""
        one = self.one
        if one["fatal"] or one["crash"] or one["trap"]:
            return bad(self.run, Label.INCOMPLETE, f"{self.name} stopped at {self.at}: {_told(one)}", [*_fatal(one), *self.run.troubles], "Correct the file and entry that the message names.")
        if one["end"]:
            return None
        of = f" of endTime {brief(self.end)}" if self.end is not None else ""
        reason = f"{self.name} ended early, at {self.at}{of} (step {one['steps']}): its last word End is missing. {self.run.told}"
        return bad(self.run, Label.INCOMPLETE, reason, [*self.line("last"), *self._asked("endTime"), *self.run.troubles], at=self.at)

    def _idle(self) -> Verdict | None:
        if self.one["steps"] or not self.one["loop"] or self.name == "potentialFoam":
            return None
        start, end = brief(self.one["start"]), brief(self.end)
        return bad(self.run, Label.INCOMPLETE, f"No time step was done: start time {start}, endTime {end}, so there was nothing to do", [Evidence(self.one["file"], self.one["end"], "End"), *self._asked("endTime"), *self._asked("startFrom")], "Raise endTime, or begin at startTime instead of latestTime.")

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
        return bad(self.run, Label.INCOMPLETE, f"{self.name} ended at {self.at}, before endTime {brief(end)}{why}", [*self.line("last"), *self._asked("endTime"), *(self._asked("stopAt") if why else [])], "Set stopAt back to endTime, and go on from latestTime.", self.at)

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
        return bad(self.run, Label.NOT_CONVERGED, f"{self.name} stopped {steps}, {what}: {', '.join(unmet[:4])}", [*seen, *self._asked("endTime")], ADVICE["criteria"], self.at)

    def _unwritten(self) -> Verdict | None:
        if self.name == "potentialFoam":
            return None
        times, empty = written(self.run.folder, self.case, self.one["start"])
        interval = self.case.entries.get("writeInterval", "?")
        if empty and not times:
            return bad(self.run, Label.INCOMPLETE, f"{self.name} came to its end, but {empty[0]} is empty: the disk may be full", [Evidence(name, None, "empty") for name in empty[:3]])
        if times or not cases(self.run.folder):
            return None
        return bad(self.run, Label.INCOMPLETE, f"{self.name} reached its end, but wrote no results: no time folder later than {brief(self.one['start'])} (writeInterval {interval}, {self.one['steps']} steps done)", [*self._asked("writeInterval"), *self.line("last")], "Make writeInterval smaller than the run, or set writeControl and stopAt so that the last step is written.")

    def _good(self) -> Verdict:
        one = self.one
        evidence = (*self.line("converged"), *self.line("stopped"), Evidence(one["file"], one["end"], "End"))
        if one["converged"]:
            return Verdict(Label.CONVERGED, f"{self.name} converged in {one['converged'][2]} iterations: residualControl is met.", evidence)
        if one["stopped"]:
            return Verdict(Label.FINISHED, f"{self.name} ended itself at {self.at}: {one['stopped'][1]}.", evidence)
        if self.steady and self.criteria:
            return Verdict(Label.CONVERGED, f"{self.name} reached endTime {brief(self.end)} with all residuals below residualControl.", (*self.line("last"), *evidence))
        worst = max(((value, name) for name, (value, _, _) in one["residuals"].items()), default=None)
        told = f" Largest last residual: {worst[1]} {worst[0]:.3g}; no residualControl is set." if self.steady and worst else ""
        if not one["steps"]:
            return Verdict(Label.FINISHED, f"{self.name} came to its end; it makes no time steps.", evidence)
        return Verdict(Label.FINISHED, f"{self.name} reached {self.at} in {one['steps']} steps, and results are written.{told}", (*self.line("last"), *evidence))

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

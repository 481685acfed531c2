"""controlDict: times that can't be, and results that would never be written.

The one idea to know: a run whose end lies before its start, or whose write interval is longer than the run, ends with
exit code 0 and without a result.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .case import Case, solves, times
from .dictionary import Dictionary, Entry
from .mesh import patches

_FILE = "system/controlDict"
_WORDS = {
    "startFrom": ["startTime", "firstTime", "latestTime"],
    "stopAt": ["endTime", "writeNow", "noWriteNow", "nextWrite"],
    "writeControl": ["none", "timeStep", "runTime", "adjustable", "adjustableRunTime", "clockTime", "cpuTime"],
    "timeFormat": ["general", "fixed", "scientific"],
    "writeFormat": ["ascii", "binary"],
}
_SWITCH = {"adjustTimeStep", "runTimeModifiable"}
_SWITCHES = {"yes", "no", "on", "off", "true", "false", "y", "n", "t", "f", "none", "any"}


def check(case: Case) -> Iterator[Finding]:
    control = case.dictionary(_FILE)
    if control is None:
        return
    yield from _words(case, control)
    runs = any(solves(step.program) or not step.program for step in case.steps if not step.conditional)
    if runs and not control.open and not any(problem.sure for problem in control.problems):
        yield from _numbers(case, control)
        yield from _span(case, control)
    yield from _functions(case, control)


def _functions(case: Case, control: Dictionary) -> Iterator[Finding]:
    """Patches that a function object works on, and that the mesh does not have."""
    functions, there = control.sub("functions"), patches(case)
    if functions is None or there is None:
        return
    groups = {
        token.text for patch in there.values() for entry in patch.entries if entry.key in ("type", "inGroups") for token in entry.values
    }
    for entry in functions.entries:
        if entry.sub is None:
            continue
        kind, region = entry.sub.get("type"), entry.sub.get("regionType")
        name = entry.sub.get("name") if region and region.word == "patch" else None
        listed = entry.sub.get("patches") if kind and kind.word in ("forces", "forceCoeffs") else None
        for token in [*(name.values if name else ()), *(listed.values if listed else ())]:
            if re.fullmatch(r"\w+", token.text) and not token.quoted and token.text not in groups | set(there):
                near = difflib.get_close_matches(token.text, list(there), 1, 0.6)
                make = error if name else warning  # forces on no patch are nought, without a word
                yield make(f"{case.path(_FILE)} line {token.line}: the function {entry.key} works on the patch {token.text}, which the mesh "
                           "does not have.", file=case.path(_FILE), line=token.line, thing=token.text,
                           remedy=f"Did you mean {near[0]}?" if near else f"The patches are {', '.join(sorted(there))}.")  # fmt: skip


def _words(case: Case, control: Dictionary) -> Iterator[Finding]:
    for key, allowed in _WORDS.items():
        entry = control.get(key)
        if entry and entry.word and entry.word not in allowed:
            near = difflib.get_close_matches(entry.word, allowed, 1, 0.5)
            yield _wrong(case, entry, f"{key} {entry.word} is not known", f"Write {near[0] if near else ' or '.join(allowed)}.")
    for key in _SWITCH:
        entry = control.get(key)
        if entry and entry.word and entry.word.lower() not in _SWITCHES:
            yield _wrong(case, entry, f"{key} {entry.word} is no yes or no", "Write yes or no.")
    if control.open or control.problems:
        return
    for key in ("deltaT", "endTime"):
        entry = control.get(key)
        if entry is None and not (key == "endTime" and _word(control, "stopAt") not in (None, "endTime")):
            near = difflib.get_close_matches(key, [entry.key for entry in control.entries], 1, 0.75)
            path = case.path(_FILE)
            yield error(f"{path} has no entry {key}.", file=path, line=1, thing=key,
                        remedy=f"There is {near[0]}." if near else f"Add {key}.")  # fmt: skip


def _numbers(case: Case, control: Dictionary) -> Iterator[Finding]:
    step, interval = control.get("deltaT"), control.get("writeInterval")
    if step and step.number is not None and step.number <= 0:
        yield _wrong(case, step, f"the time step deltaT is {step.text}", "Give a time step above zero.")
    if interval and interval.number is not None and interval.number <= 0:
        yield _wrong(case, interval, f"writeInterval is {interval.text}", "Give an interval above zero.")
    for key in ("maxCo", "maxDeltaT"):
        entry = control.get(key)
        if entry and entry.number is not None and entry.number <= 0:
            yield _wrong(case, entry, f"{key} is {entry.text}", "Give a value above zero.")
    for key in ("deltaT", "endTime", "startTime", "writeInterval"):
        entry = control.get(key)
        if entry and entry.word and entry.number is None and not entry.word[0].isalpha():
            yield _wrong(case, entry, f"{key} {entry.word} is no number", "Write a number with a point.")


def _span(case: Case, control: Dictionary) -> Iterator[Finding]:
    """Start against end, and what is written in between."""
    end, step = control.get("endTime"), control.get("deltaT")
    start = _start(case, control)
    if not end or end.number is None or start is None or _word(control, "stopAt") not in (None, "endTime"):
        return
    if end.number < start:
        yield _wrong(case, end, f"endTime {end.text} lies before the start at {start:g}", "Give an end behind the start.")
    elif end.number == start and step is not None:
        yield warning(f"{case.path(_FILE)} line {end.line}: the run starts at {start:g} and ends at {end.text}: no time step "
                      "would be done.", file=case.path(_FILE), line=end.line, thing="endTime",
                      remedy="Give a later endTime.")  # fmt: skip
    elif step and step.number and step.number > 0:
        yield from _written(case, control, end.number - start, step.number)


def _written(case: Case, control: Dictionary, span: float, step: float) -> Iterator[Finding]:
    interval = control.get("writeInterval")
    if not interval or not interval.number or interval.number <= 0:
        return
    kind = _word(control, "writeControl") or "timeStep"
    steps = span / step
    path = case.path(_FILE)
    at = {"file": path, "line": interval.line, "thing": "writeInterval"}
    if step > span * 1.000001:
        yield warning(f"{path}: deltaT {step:g} is longer than the whole run ({span:g}).", remedy="Give a smaller deltaT.", **at)  # type: ignore[arg-type]
    elif _may_write_by_itself(case, control):
        return
    elif kind == "timeStep" and interval.number > steps * 1.001 + 0.5 and not _adjusts(control):
        yield warning(f"{path} line {interval.line}: writeInterval {interval.text} is more than the {steps:.0f} time steps of "
                      "the run: no results would be written.", remedy="Give a smaller writeInterval.", **at)  # type: ignore[arg-type] # fmt: skip
    elif kind in ("runTime", "adjustable", "adjustableRunTime") and interval.number > span * 1.001:
        yield warning(f"{path} line {interval.line}: writeInterval {interval.text} is longer than the run of {span:g}: no "
                      "results would be written.", remedy="Give a smaller writeInterval.", **at)  # type: ignore[arg-type] # fmt: skip


_ENDS = ("runTimeControl", "writeObjects", "abort", "stopAtFile", "systemCall", "coded", "timeActivatedFileUpdate", "writeAndEnd")


def _may_write_by_itself(case: Case, control: Dictionary) -> bool:
    """A steady solver writes when its residuals are low enough, a function when it ends the run; or it can't be known."""
    functions = control.sub("functions")
    for entry in functions.entries if functions else ():
        kind = entry.sub.get("type") if entry.sub else None
        if entry.sub is None or entry.sub.open or kind is None or kind.word in _ENDS:
            return True
    if functions and functions.open:
        return True
    solution = case.dictionary("system/fvSolution")
    section = solution.sub("SIMPLE") if solution else None
    judged = section.sub("residualControl") if section else None
    steady = any(_judges_residuals(step.program) for step in case.steps)
    return steady and (
        solution is None or solution.open or bool(section and section.open) or bool(judged and (judged.entries or judged.open))
    )


def _judges_residuals(program: str) -> bool:
    """Solvers that end by residualControl in SIMPLE; those of PISO and PIMPLE only end their inner loops by theirs."""
    return not re.match(r"(?i)(ico|piso|.*pimple|inter|rhoCentral|sonic|compressibleInter)\w*Foam", program)


def _adjusts(control: Dictionary) -> bool:
    return (_word(control, "adjustTimeStep") or "no").lower() in ("yes", "on", "true", "y", "t")


def _start(case: Case, control: Dictionary) -> float | None:
    """The time at which the run starts, where it is known."""
    start_from = _word(control, "startFrom") or "latestTime"
    if start_from == "startTime":
        entry = control.get("startTime")
        return entry.number if entry else None
    there = times(case)
    if not there or any(step.tree.anything for step in case.steps):
        return None
    return there[0] if start_from == "firstTime" else there[-1]


def _word(control: Dictionary, key: str) -> str | None:
    entry = control.get(key)
    return entry.word if entry else None


def _wrong(case: Case, entry: Entry, what: str, remedy: str) -> Finding:
    path = case.path(_FILE)
    return error(f"{path} line {entry.line}: {what}.", file=path, line=entry.line, thing=entry.key, remedy=remedy)


start_time = _start

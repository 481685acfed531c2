"""The verdict on OpenFOAM runs.

The one idea: "End" is printed by a run that converged, by one that hit endTime, and by one that had nothing to do. So the
program runs found in the logs are set against the case: criteria against residuals, last time against endTime, results written.
"""

from __future__ import annotations

import posixpath
import re
from datetime import datetime
from typing import Any

from .base import Ending, Evidence, Files, Follower, Label, Verdict
from .live import Live, Log, parse
from .openfoam_case import cases, read
from .openfoam_checks import Checks, errors_of, told_of
from .openfoam_log import SIGNATURE, SOLVER, FoamLog
from .run import Run, alone, bad, tempered, unseen
from .sources import logs, parts
from .text import shown

PROGRAM = re.compile(r"^(?!.*ToFoam$)(?:\w+Foam|foamRun|foamMultiRun|decomposePar|reconstructPar|blockMesh|snappyHexMesh)$")
MESHERS = re.compile(
    r"^(?:blockMesh|snappyHexMesh|cartesianMesh|extrudeMesh|\w+ToFoam|decomposePar|setFields|mapFields|refineMesh|"
    r"topoSet|createPatch|createBaffles|mirrorMesh)$"
)


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    found = _runs(run)
    if not found:
        return unseen(run, "OpenFOAM", [name for part in run.using(PROGRAM) for name in part.output])
    single = _not_parallel(run, found)
    if single:
        return single
    main = next((one for one in reversed(found) if SOLVER.search(one["exec"]) and _counts(one)), None)
    if main is None:
        return tempered(run, _without_solver(run, found), PROGRAM)
    earlier = [one for one in found[: found.index(main)] if MESHERS.match(one["exec"]) and (one["fatal"] or one["crash"])]
    seen = Checks(run, main, read(folder, _case_of(folder, main)))
    verdict = seen.judge()
    if earlier:
        return _failed_before(run, earlier, verdict)
    return tempered(run, verdict, SOLVER)


def _not_parallel(run: Run, found: list[dict[str, Any]]) -> Verdict | None:
    """mpirun without -parallel: every rank runs the whole case and writes the same files."""
    starts = [
        Evidence(one["file"], one["line"], f"Exec : {one['exec']} (nProcs : 1)")
        for one in found
        if SOLVER.search(one["exec"]) and one["ranks"] == 1
    ]
    if any("-parallel" in part.words for part in run.using(SOLVER)) or any(one["ranks"] > 1 for one in found):
        return None
    return alone(run, run.using(SOLVER), "OpenFOAM", starts, "Add -parallel behind the solver (and decomposePar before it).")


def follow(folder: Files | None, command: str) -> Follower:
    end = None
    if folder is not None and (found := cases(folder)):
        end = read(folder, found[0]).value("endTime")

    def choose(stream: str) -> Log | None:
        return FoamLog(end=end)

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    return {
        name: part.place(name)
        for part in parts(command)
        for name in part.output
        if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)
    }


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
    return _adopted(_named(run, sorted(found.values(), key=_began)))


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


def _named(run: Run, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The end of a solver's output alone: a copy where its whole log is there, else the output of the solver of the command."""
    headless = [one for one in found if not one["exec"] and one["steps"]]
    if not headless:
        return found
    rest = [one for one in found if one not in headless]
    if any(SOLVER.search(one["exec"]) for one in rest if one["exec"]):
        return rest
    words = [posixpath.basename(word) for part in run.using(SOLVER) for word in part.words]
    headless[-1]["headless"] = True
    headless[-1]["exec"] = next((word for word in reversed(words) if SOLVER.search(word)), "OpenFOAM solver")
    return [*rest, headless[-1]]


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
        return bad(
            run,
            Label.INCOMPLETE,
            f"{failed[0]['exec'] or 'OpenFOAM'} failed: {told_of(failed[0])}",
            [one for bad_run in failed for one in errors_of(bad_run)] + list(run.troubles),
            "Correct the entry that the message names.",
        )
    wanted = [word for part in run.parts for word in part.words if SOLVER.search(posixpath.basename(word))]
    if wanted or run.troubles:
        left = run.troubles or (
            Evidence(found[-1]["file"], found[-1]["end"] or None, f"{found[-1]['exec']} was the last program that spoke"),
        )
        reason = run.told if not run.ending.clean else (run.troubles[0].text if run.troubles else run.told)
        return bad(run, Label.INCOMPLETE, f"{posixpath.basename(wanted[-1]) if wanted else 'The solver'} left no output: {reason}", left)
    if meshes := [one for one in found if one["mesh"]]:
        return _faulty_mesh(run, meshes[-1])
    last = found[-1]
    if not last["end"] and not run.ending.clean:
        return bad(run, Label.INCOMPLETE, f"{last['exec']} did not come to its end. {run.told}", run.troubles)
    names = ", ".join(dict.fromkeys(one["exec"] for one in found))
    return Verdict(
        Label.FINISHED,
        f"Finished: {names}. No solver was asked for.",
        (Evidence(last["file"], last["end"] or last["line"], "End" if last["end"] else last["exec"]),),
    )


def _faulty_mesh(run: Run, one: dict[str, Any]) -> Verdict:
    told = Evidence(one["file"], *one["mesh"])
    advice = "Look at the faults that checkMesh names before you compute on this mesh."
    return bad(run, Label.INCOMPLETE, f"checkMesh found faults: {told.text}", [told], advice)


def _failed_before(run: Run, earlier: list[dict[str, Any]], verdict: Verdict) -> Verdict:
    names = " and ".join(dict.fromkeys(one["exec"] for one in earlier))
    evidence = [told for one in earlier for told in errors_of(one)[:2]]
    return bad(
        run,
        Label.INCOMPLETE if verdict.good else verdict.verdict,
        f"{names} failed before the solver started ({shown(told_of(earlier[0]), 120)}). Then: {verdict.reason}",
        [*evidence, *verdict.evidence, *run.troubles],
        "Let the script end at the first error (`set -e` or &&), and correct that step first.",
    )

"""The verdict on LAMMPS runs.

The one idea: "Total wall time" ends nearly every run, also one that lost all its atoms, ran out of time or had no run line.
So steps done are set against steps asked, atoms at the end against atoms at the start, and minimisations against their criterion.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from .base import Ending, Evidence, Files, Follower, Label, Verdict
from .lammps_checks import PROGRAM, Checks
from .lammps_deck import read
from .lammps_log import LmpLog
from .live import Live, Log, parse
from .run import Run, bad, tempered, unseen, worst
from .sources import Part, logs, parts

_WORLD = re.compile(r"(?:^|/)(?:screen|[^/]*log[^/]*)\.(\d+)$")
SIGNATURE = re.compile(rb"^LAMMPS \(|^ERROR(?: on proc \d+)?: .*\.cpp:\d+\)", re.M)


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    found = [
        parse(LmpLog(), folder, name) for name in logs(folder, run.script, log, lambda start: bool(SIGNATURE.search(start)), _own_logs(run))
    ]
    found = [one for one in found if one.starts]
    if not found:
        return unseen(run, "LAMMPS", [*[name for part in run.using(PROGRAM) for name in part.output], *_own_logs(run)])
    worlds = _worlds(found) if _has_partitions(run) else []
    if worlds:
        return tempered(run, worst([verdict for one in worlds for verdict in _each(run, one, [one])]), PROGRAM)
    main = max(found, key=lambda one: (len(one.starts), -found.index(one)))
    return _copies(run, main) or tempered(run, worst(_each(run, main, found)), PROGRAM)


def _worlds(found: list[LmpLog]) -> list[LmpLog]:
    """Of several runs beside each other, each with a screen and a log of its own, the one that tells more of each."""
    told: dict[str, LmpLog] = {}
    for one in found:
        if match := _WORLD.search(one.name):
            told[match[1]] = max(told.get(match[1], one), one, key=lambda log: (bool(log.starts[-1]["wall"]), log.count))
    return list(told.values())


def _each(run: Run, main: LmpLog, found: list[LmpLog]) -> list[Verdict]:
    """A verdict for every start in the log."""
    using = run.using(PROGRAM) or [Part(())]
    parts_of = [using[min(at, len(using) - 1)] for at in range(len(main.starts))]
    decks = [read(run.folder, *_input(run, part)) for part in parts_of]
    return [Checks(run, _filled_up(one, found, main), main.name, deck).judge() for one, deck in zip(main.starts, decks, strict=True)]


def follow(folder: Files | None, command: str) -> Follower:
    names = [_named(part) for part in parts(command) if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)]
    deck = read(folder, names[0]) if folder is not None and names else None
    asked = [action.steps for action in deck.actions] if deck and not deck.branches else []

    def choose(stream: str) -> Log | None:
        return LmpLog(asked=list(asked))

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    using = [part for part in parts(command) if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)]
    return {posixpath.basename(name): name for part in using for name in _logged(part)}


def _logged(part: Part) -> list[str]:
    said = part.words
    given = [said[at + 1] for at, word in enumerate(said[:-1]) if word in ("-log", "-l")]
    return [part.place(name) for name in (given or ["log.lammps"]) if name != "none"]


def _own_logs(run: Run) -> list[str]:
    worlds = sorted(name for name in run.names if _WORLD.search(name)) if _has_partitions(run) else []
    return [*worlds, *([name for part in run.using(PROGRAM) for name in _logged(part)] or ["log.lammps"])]


def _has_partitions(run: Run) -> bool:
    using = run.using(PROGRAM)
    return any({"-partition", "-p"} & set(part.words) for part in using) or (not using and {"log.lammps.0", "screen.0"} <= run.names)


def _named(part: Part) -> str:
    said = part.words
    given = [said[at + 1] for at, word in enumerate(said[:-1]) if word in ("-in", "-i")]
    name = given[0] if given else part.input
    return part.place(name) if name else ""


def _input(run: Run, part: Part) -> tuple[str, dict[str, str]]:
    """The input's name and the variables given on the command line; without a command, the only file that looks like one."""
    name, said = _named(part), part.words
    variables = {said[at + 1]: said[at + 2] for at, word in enumerate(said[:-2]) if word in ("-var", "-v")}
    if not name:
        fitting = [one for one in sorted(run.names) if re.search(r"(?:^|/)(?:in\.[^/]+|(?!log\.)[^/]+\.(?:in|lmp|lammps))$", one)]
        name = fitting[0] if len(fitting) == 1 else ""
    return name, variables


def _filled_up(one: dict[str, Any], found: list[LmpLog], main: LmpLog) -> dict[str, Any]:
    """What only log.lammps holds (echoed commands) or only stdout does (errors), from the same start in another log."""
    for other in found:
        for twin in other.starts if other is not main else []:
            same = [loop[:2] for loop in twin["loops"]] == [loop[:2] for loop in one["loops"]]
            if same and twin["step"] == one["step"] and not one["echo"]:
                one["echo"] = [[*action[:3], action[3]] for action in twin["echo"]]
    return one


def _copies(run: Run, main: LmpLog) -> Verdict | None:
    """Ranks that do not know of each other: each prints its own banner and runs the whole model."""
    several = len(main.starts) > max(1, len(run.using(PROGRAM))) if run.command else main.overlaps > 0
    mpi = any(re.match(r"^(?:mpirun|mpiexec|srun|orterun)", posixpath.basename(word)) for part in run.using(PROGRAM) for word in part.words)
    if not several or not (mpi or main.overlaps) or any(one["ranks"] > 1 for one in main.starts):
        return None
    starts = [Evidence(main.name, one["line"], "LAMMPS starts (1 by 1 by 1 MPI processor grid)") for one in main.starts[:4]]
    return bad(
        run,
        Label.INCOMPLETE,
        f"{len(main.starts)} independent runs on 1 rank each instead of one parallel run: the ranks do not know of each "
        f"other, and all wrote the same files",
        starts,
        "This mpirun does not fit the MPI that this LAMMPS was built with, or the MPI environment was removed.",
    )

"""The verdict on CalculiX runs.

The one idea: ccx ends with exit code 0 and even "Job finished" after many faults, so a run is believed only when log, .sta,
deck and .frd agree: no *ERROR, every step at its full length, results written to their end, displacements that can be.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from .base import Ending, Evidence, Files, Follower, Label, Progress, Verdict
from .calculix_checks import Checks
from .calculix_deck import Deck, read
from .calculix_live import USUAL, Cvg, Sta
from .calculix_results import results, status
from .live import Live, Log, parse
from .run import Run, bad, tempered, unseen, worst
from .sources import Part, logs, parts
from .text import NOT_A_NUMBER, shown

PROGRAM = re.compile(r"^(?:ccx|calculix)[\w.+-]*$", re.I)
SIGNATURE = re.compile(
    rb"CalculiX Version|CalculiX COMES WITH ABSOLUTELY|You are using an executable made on|^ \*ERROR in (?:readinput|calinput|openfile)",
    re.M,
)
WRAPPED = re.compile(r"^(?:mpirun|mpiexec|orterun|srun|mpiexec\.\w+)$")
LIMIT = 12


@dataclass
class CcxLog(Log):
    """stdout of ccx: one dictionary of facts a run, since several may stand in one log."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    overlaps: int = 0
    open: bool = False  # the last line belongs to an error message
    increment: int = 0
    period: float = 0.0

    def line(self, number: int, line: bytes) -> None:
        text = line.strip()
        if self.open:
            self._continue(line)
        if text.startswith(b"CalculiX Version") or (text.startswith(b"You are using an executable") and not self.runs):
            self._begin(number)
        elif text.startswith(b"*ERROR"):
            self._error(number, line)
        elif text == b"Job finished" or text.startswith(b"Total CalculiX Time"):
            self._run()["finished"] = number
        elif text.startswith((b"largest residual force", b"average force", b"largest correction")):
            self._force(number, text)
        elif text[:5] == b"STEP " and text[5:].strip().isdigit():
            self._run()["step"] = int(text[5:])
        elif text.startswith(b"increment ") and b"attempt" in text:
            self.increment = int(text.split()[1]) if text.split()[1].isdigit() else self.increment

    def progress(self) -> Progress | None:
        return Progress(f"increment {self.increment}", self.increment) if self.increment else None

    def _run(self) -> dict[str, Any]:
        if not self.runs:
            self.runs.append({"errors": [], "finished": 0, "nan": None, "line": 1, "step": 0})
        return self.runs[-1]

    def _begin(self, number: int) -> None:
        if self.runs and not self.runs[-1]["finished"] and not self.runs[-1]["errors"]:
            self.overlaps += 1
        if len(self.runs) < 50:
            self.runs.append({"errors": [], "finished": 0, "nan": None, "line": number, "step": 0})

    def _error(self, number: int, line: bytes) -> None:
        errors = self._run()["errors"]
        if len(errors) < LIMIT:
            errors.append([number, shown(line)])
            self.open = True

    def _continue(self, line: bytes) -> None:
        self.open = line.startswith(b"   ") and b"*ERROR" not in line and len(self._run()["errors"][-1][1]) < 200
        if self.open:
            self._run()["errors"][-1][1] += " " + shown(line)

    def _force(self, number: int, text: bytes) -> None:
        if NOT_A_NUMBER.search(text):
            self._run()["nan"] = self._run()["nan"] or [number, shown(text)]
            self.alarm("nan", "the residual is not a number", number, text)


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    jobs = _jobs(run)
    found = [parse(CcxLog(), folder, name) for name in logs(folder, run.script, log, lambda start: bool(SIGNATURE.search(start)))]
    found = [one for one in found if one.runs]
    if not found and not any(run.filled(f"{job}.sta") or run.filled(f"{job}.frd") for job in jobs):
        return unseen(run, "CalculiX", [name for part in run.using(PROGRAM) for name in part.output])
    copies = _copies(run, jobs, found)
    if copies:
        return copies
    verdicts = [_job(run, job, log_of, facts) for job, log_of, facts in _paired(jobs, found)]
    return tempered(run, worst(verdicts), PROGRAM)


def follow(folder: Files | None, command: str) -> Follower:
    deck = _deck_of(folder, command)

    def choose(stream: str) -> Log | None:
        if stream.endswith("cvg"):
            return Cvg(limits=deck.limits if deck else USUAL)
        return Sta(periods=[step.period for step in deck.steps] if deck else []) if stream.endswith("sta") else CcxLog()

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    jobs = [_name(part) for part in parts(command) if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)]
    return {f"{posixpath.basename(job)}.{kind}": f"{job}.{kind}" for job in jobs if job for kind in ("sta", "cvg")}


def _deck_of(folder: Files | None, command: str) -> Deck | None:
    names = [path.removesuffix(".sta") for path in streams(folder, command).values() if path.endswith(".sta")]
    return read(folder, f"{names[0]}.inp") if folder is not None and names else None


def _name(part: Part) -> str:
    """The job's name: the word behind -i, or the first that is no option."""
    rest: list[str] = []
    for at, word in enumerate(part.words):
        if PROGRAM.match(posixpath.basename(word)):
            rest = list(part.words[at + 1 :])
            break
    given = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word == "-i"]
    name = next(iter(given or [word for word in rest if not word.startswith("-")]), "")
    return part.place(name.removesuffix(".inp")) if name and "$" not in name else ""


def _jobs(run: Run) -> list[str]:
    named = [name for part in run.using(PROGRAM) if (name := _name(part))]
    if not named:
        named = sorted(name.removesuffix(".sta") for name in run.names if name.endswith(".sta"))
    if not named:
        named = sorted(name.removesuffix(".inp") for name in run.names if name.endswith(".inp"))[:1]
    return list(dict.fromkeys(named)) or ["job"]


def _paired(jobs: list[str], found: list[CcxLog]) -> list[tuple[str, CcxLog | None, dict[str, Any] | None]]:
    """Each job with the part of a log that is its own, in the order of the command."""
    runs = [(one, facts) for one in found for facts in one.runs]
    if len(jobs) == 1:
        unfinished = [pair for pair in runs if not pair[1]["finished"] or pair[1]["errors"]]
        chosen = (unfinished or runs)[-1] if runs else (None, None)
        return [(jobs[0], *chosen)]
    padded: list[Any] = [*runs[: len(jobs)], *[(None, None)] * (len(jobs) - len(runs))]
    return [(job, *pair) for job, pair in zip(jobs, padded, strict=True)]


def _copies(run: Run, jobs: list[str], found: list[CcxLog]) -> Verdict | None:
    """Several ccx at once on one job: mpirun in front of a program that knows no MPI."""
    wrapped = [part for part in run.using(PROGRAM) if any(WRAPPED.match(posixpath.basename(word)) for word in part.words)]
    for one in found:
        several = len(one.runs) > max(1, len(run.using(PROGRAM)))
        if several and (wrapped or one.overlaps or not run.command):
            frd = f"{jobs[0]}.frd"
            starts = [Evidence(one.name, facts["line"], "CalculiX starts") for facts in one.runs[:4]]
            result = [Evidence(frd, None, f"{run.folder.size(frd)} bytes, written by {len(one.runs)} processes")] if run.filled(frd) else []
            return bad(
                run,
                Label.INCOMPLETE,
                f"ccx does not use MPI: the same job was run {len(one.runs)} times at once, and all copies wrote into the same file {frd}",
                [*starts, *result],
                "Start ccx without mpirun; for more cores set OMP_NUM_THREADS.",
            )
    return None


def _job(run: Run, job: str, log: CcxLog | None, facts: dict[str, Any] | None) -> Verdict:
    deck = read(run.folder, f"{job}.inp")
    rows = status(run.folder, f"{job}.sta") or status(run.folder, f"{job.split(' ')[0]}.sta")
    frd = results(run.folder, f"{job}.frd")
    seen = Checks(run, job, deck, rows, frd, facts or {}, log.name if log else "")
    return seen.error() or seen.nan() or seen.short() or seen.idle() or seen.unwritten() or seen.too_far() or seen.good()

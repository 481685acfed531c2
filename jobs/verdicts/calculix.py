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
from .calculix_deck import Deck, read
from .calculix_live import Cvg, Sta
from .calculix_results import Results, Row, factors, printed, results, status
from .live import Live, Log, parse
from .run import Run, bad, tempered, unseen, worst
from .sources import Part, logs, parts
from .text import NOT_A_NUMBER, brief, shown

PROGRAM = re.compile(r"^(?:ccx|calculix)[\w.+-]*$", re.I)
SIGNATURE = re.compile(rb"CalculiX Version|CalculiX COMES WITH ABSOLUTELY|You are using an executable made on|^ \*ERROR in (?:readinput|calinput|openfile)", re.M)
STALLED = re.compile(r"(?i)cutbacks|smaller than minimum|max(?:\.|imum)? # of increments|too many iterations|no convergence|not converge")
BLOWN = re.compile(r"(?i)diverge")
FAR = 10.0  # displacements beyond so many model sizes cannot be
HOT = 1e7  # no temperature, in kelvin or degrees
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
        elif text.startswith(b"increment ") and b"attempt" in text:
            self.increment = int(text.split()[1]) if text.split()[1].isdigit() else self.increment

    def progress(self) -> Progress | None:
        return Progress(f"increment {self.increment}", self.increment) if self.increment else None

    def _run(self) -> dict[str, Any]:
        if not self.runs:
            self.runs.append({"errors": [], "finished": 0, "nan": None, "line": 1})
        return self.runs[-1]

    def _begin(self, number: int) -> None:
        if self.runs and not self.runs[-1]["finished"] and not self.runs[-1]["errors"]:
            self.overlaps += 1
        if len(self.runs) < 50:
            self.runs.append({"errors": [], "finished": 0, "nan": None, "line": number})

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
    def choose(stream: str) -> Log | None:
        if stream.endswith("cvg"):
            return Cvg()
        return Sta(periods=_periods(folder, command)) if stream.endswith("sta") else CcxLog()

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    jobs = [_name(part) for part in parts(command) if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)]
    return {f"{posixpath.basename(job)}.{kind}": f"{job}.{kind}" for job in jobs if job for kind in ("sta", "cvg")}


def _periods(folder: Files | None, command: str) -> list[float]:
    names = [path.removesuffix(".sta") for path in streams(folder, command).values() if path.endswith(".sta")]
    deck = read(folder, f"{names[0]}.inp") if folder is not None and names else None
    return [step.period for step in deck.steps] if deck else []


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
            return bad(run, Label.INCOMPLETE, f"ccx does not use MPI: the same job was run {len(one.runs)} times at once, and all copies wrote into the same file {frd}", [*starts, *result], "Start ccx without mpirun; for more cores set OMP_NUM_THREADS.")
    return None


def _job(run: Run, job: str, log: CcxLog | None, facts: dict[str, Any] | None) -> Verdict:
    deck = read(run.folder, f"{job}.inp")
    rows = status(run.folder, f"{job}.sta") or status(run.folder, f"{job.split(' ')[0]}.sta")
    frd = results(run.folder, f"{job}.frd")
    seen = _Seen(run, job, deck, rows, frd, facts or {}, log.name if log else "")
    return seen.error() or seen.nan() or seen.short() or seen.unwritten() or seen.too_far() or seen.good()


@dataclass
class _Seen:
    """Everything known of one ccx job; each question answers with a verdict or None."""

    run: Run
    job: str
    deck: Deck | None
    rows: list[Row]
    frd: Results
    facts: dict[str, Any]
    log: str

    @property
    def steps(self) -> int:
        return max(len(self.deck.steps) if self.deck else 0, self.rows[-1].step if self.rows else 0)

    @property
    def where(self) -> str:
        """The step that the run was in: "step 2 of 2, increment 1"."""
        step = self.rows[-1].step if self.rows else 1
        tail = f", increment {self.rows[-1].increment}" if self.rows else ""
        return f"step {step} of {max(self.steps, step)}{tail}"

    def last_row(self) -> list[Evidence]:
        return [Evidence(f"{self.job}.sta", self.rows[-1].line, self.rows[-1].text)] if self.rows else []

    def error(self) -> Verdict | None:
        errors = [Evidence(self.log, number, text) for number, text in self.facts.get("errors", [])]
        if not errors:
            return None
        told = next((one for one in errors if STALLED.search(one.text) or BLOWN.search(one.text)), None)
        if told is None:
            what = errors[0].text.removeprefix("*").strip()
            return bad(self.run, Label.INCOMPLETE, f"CalculiX stopped with an error: {what}", errors, "Correct the card that the message names; ccx may end with exit code 0 all the same.")
        done = [row.step for row in self.rows if row.converged and self._full(row)]
        at = f" It ended at {brief(self.rows[-1].time)} of {brief(step.period)}." if self.rows and self.deck and (step := self.deck.step(self.rows[-1].step)) else ""
        before = at + f" Only step {max(done)} has results." if done else at + " No step is complete."
        label = Label.DIVERGED if BLOWN.search(told.text) and not STALLED.search(told.text) else Label.NOT_CONVERGED
        reason = told.text.removeprefix("*ERROR").lstrip(": ")
        return bad(self.run, label, f"{self.where[:1].upper()}{self.where[1:]} did not converge ({shown(reason, 90)}).{before}", [told, *self.last_row()], "Smaller first increment, a lower minimum, smaller load; check contact, material and supports.", self.where)

    def nan(self) -> Verdict | None:
        told = self.facts.get("nan")
        found = [Evidence(self.log, *told)] if told else []
        dat = printed(self.run.folder, f"{self.job}.dat")
        found += [one for one in (self.frd.not_a_number, dat.not_a_number) if one]
        if not found:
            return None
        return bad(self.run, Label.DIVERGED, f"The result is not a number (NaN) in {found[0].file}", found, "Check material data, supports and element shapes; start with a smaller increment.", self.where)

    def short(self) -> Verdict | None:
        """Not at the end: no last words, or a step that is shorter than asked."""
        ended = bool(self.facts.get("finished")) if self.facts else self.frd.complete
        if not ended:
            seen = f"CalculiX ended early, in {self.where}: its last words are missing. {self.run.told}"
            return bad(self.run, Label.INCOMPLETE, seen, [*self.last_row(), *self.run.troubles])
        for row in self._ends():
            step = self.deck.step(row.step) if self.deck else None
            if step and not self._full(row):
                reason = f"Step {row.step} of {self.steps} ended at {brief(row.time)} of {brief(step.period)}: {'not all of it was computed' if row.converged else 'its last increment did not converge'}"
                return bad(self.run, Label.INCOMPLETE if row.converged else Label.NOT_CONVERGED, reason, [Evidence(f"{self.job}.sta", row.line, row.text)], "Allow more increments (INC=) or smaller ones.")
        return None

    def unwritten(self) -> Verdict | None:
        frd, dat = f"{self.job}.frd", f"{self.job}.dat"
        if self.deck and self.deck.results and not self.run.filled(frd):
            return bad(self.run, Label.INCOMPLETE, f"CalculiX finished, but {frd} is {'empty' if frd in self.run.names else 'missing'}: no results were written", [Evidence(frd, None, "no results")], "Check disk space and the job's name.")
        if self.deck and not self.deck.results and not self.run.filled(dat) and not self.frd.blocks and self.deck.steps:
            return bad(self.run, Label.INCOMPLETE, f"CalculiX finished, but the deck asks for no output: no results in {frd} or {dat}", [Evidence(f"{self.job}.inp", None, "no *NODE FILE, *EL FILE or *... PRINT")], "Add *NODE FILE and *EL FILE to the step.")
        return None

    def too_far(self) -> Verdict | None:
        dat = printed(self.run.folder, f"{self.job}.dat")
        best = max((self.frd, dat), key=lambda one: one.largest)
        kinds = self.deck.kinds if self.deck else set()
        if self.frd.hottest > HOT:
            return bad(self.run, Label.DIVERGED, f"Not to be trusted: a temperature of {self.frd.hottest:.3g}", [one for one in (self.frd.hot_at,) if one], "Hold the temperature somewhere (*BOUNDARY with degree of freedom 11, *FILM or *RADIATE), and check units.")
        limit = FAR * (100 if "DYNAMIC" in kinds else 1) * (self.frd.size or 1e6)
        if best.largest <= limit:
            return None
        ratio = best.largest / (self.frd.size or 1.0)
        why = "There is no *BOUNDARY in the deck." if self.deck and not self.deck.boundary else "Are supports missing (a rigid body), or units mixed?"
        return bad(self.run, Label.DIVERGED, f"Not to be trusted: the largest displacement is {best.largest:.3g}, {ratio:.1g} times the size of the model. {why}", [one for one in (best.at,) if one], "Support the model against every rigid body motion (*BOUNDARY), and check loads, units and Young's modulus.")

    def good(self) -> Verdict:
        negative = [(factor, told) for factor, told in factors(self.run.folder, f"{self.job}.dat") if factor < 0]
        evidence = [*self._finish(), *self.last_row(), *[told for _, told in negative[:3]]]
        if negative:
            reason = f"Finished, but {len(negative)} buckling factors are negative (first {negative[0][0]:.4g}): these modes belong to the load turned round (it pulls)."
            return Verdict(Label.FINISHED, reason, tuple(evidence), "Turn the load's sign, or look at the positive factors only.")
        iterated = any(row.iterations > 1 for row in self.rows)
        increments = len({(row.step, row.increment) for row in self.rows if row.converged})
        far = f" The largest displacement ({self.frd.largest:.3g}) exceeds the size of the model ({self.frd.size:.3g}): check loads and units." if self.frd.size and self.frd.largest > self.frd.size else ""
        if iterated:
            return Verdict(Label.CONVERGED, f"Converged: {_many(self.steps, 'step')} computed to the end in {_many(increments, 'increment')}.{far}", tuple(evidence))
        return Verdict(Label.FINISHED, f"Finished: {_many(self.steps or 1, 'step')} without iterations, results written.{far}", tuple(evidence))

    def _finish(self) -> list[Evidence]:
        return [Evidence(self.log, self.facts["finished"], "Job finished")] if self.facts.get("finished") else []

    def _ends(self) -> list[Row]:
        return list({row.step: row for row in self.rows}.values())

    def _full(self, row: Row) -> bool:
        step = self.deck.step(row.step) if self.deck else None
        return step is None or row.time >= step.period * (1 - 1e-3)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

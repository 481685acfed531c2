"""One finished run as the verdict modules see it, and the rules that hold for every solver.

The one idea: a good verdict from the log is only kept if the ending does not contradict it. A solver that is the last
thing of the command and ended badly is not believed; a step after it that failed leaves a usable result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from .base import GOOD, Ending, Evidence, Files, Label, Verdict
from .exit import explain
from .sources import Part, at_once, background, expanded, last_words, parts, stdout_of
from .text import head, shown

EVIDENCE = 6
_CRASHED = re.compile(
    r"^(?:[^\n:]+: line \d+: *)?(?:\d+ +)?(Segmentation fault|Killed|Aborted|Floating point exception|Bus error|Illegal "
    r"instruction|Terminated|CPU time limit exceeded|File size limit exceeded)(?: \(core dumped\))?(?:  +.*)?\s*$"
)
_SHELL = re.compile(
    r"^(?:(?:ba|da)?sh|[\w./-]+): (?:line )?\d+: (.*(?:not found|Permission denied|No such file or directory|Is a "
    r"directory|"
    r"cannot execute.*|bad interpreter.*))$"
)
_MPI = re.compile(
    r"^(?:mpirun|mpiexec|prterun|orterun|srun)\b.*(?:noticed that process rank|has detected an attempt|was unable to|could "
    r"not|unable to launch)|^There are not enough slots|^=+\s*BAD TERMINATION|^MPI_ABORT was invoked|^srun: error:|"
    r"^slurmstepd: error:",
    re.I,
)
_STRONG = re.compile(r"No space left on device|Disk quota exceeded|std::bad_alloc|\bOut of memory\b|oom-kill|Cannot allocate memory")
_RUNTIME = re.compile(  # last words that the runtime of a language, a compiler or make gives a program that fails
    r"^(?:Exception in thread \"|Fortran runtime error: |forrtl: severe|(?:g?make(?:\[\d+\])?|ninja): (?:\*\*\* .*(?:Error \d+|Stop\.)|build stopped)|"
    r"ERROR: LoadError: |terminate called |panic: |thread '.*' panicked at|CMake Error|collect2: error: |(?:double free|free\(\): |malloc\(\): )|"
    r"\*\*\* stack smashing|Error using \w|Uncaught \w*(?:Error|Exception)\b|error: (?:'\w+' undefined|called from|parse error)|\S+:\d+:\d+: (?:fatal )?error: |Execution halted$)"
    r"|: Assertion `.*' failed\.$"
)
_R_ERROR = re.compile(r"^Error(?: in .*)?:? ")


@dataclass(frozen=True)
class Run:
    folder: Files
    ending: Ending
    command: str = ""
    log: str | None = None

    @cached_property
    def script(self) -> str:
        """The command and the text of the scripts that it runs."""
        return expanded(self.folder, self.command)

    @cached_property
    def parts(self) -> list[Part]:
        return parts(self.script)

    @cached_property
    def names(self) -> set[str]:
        return set(self.folder.names())

    @cached_property
    def tail(self) -> str:
        return last_words(self.folder, self.log)

    @property
    def told(self) -> str:
        """How the command ended, in a sentence."""
        if self.ending.clean:
            return "Exit code 0 belongs to a later command or to a pipe's end, and hides how the solver ended."
        return explain(self.ending, self.command, self.tail).sentence

    @property
    def advice(self) -> str:
        if self.ending.clean:
            return "Was it killed or ended by a timeout? Use `set -o pipefail` and && so that a failure shows."
        return explain(self.ending, self.command, self.tail).advice

    def filled(self, name: str) -> bool:
        return name in self.names and self.folder.size(name) > 0

    def using(self, program: re.Pattern[str]) -> list[Part]:
        """The simple commands that start a program whose base name matches (behind mpirun, timeout... too)."""
        return [part for part in self.parts if starts(part, program)]

    @cached_property
    def troubles(self) -> tuple[Evidence, ...]:
        """What shell and MPI printed about crashes and commands that were not found."""
        name = stdout_of(self.folder, self.log)
        if not name:
            return ()
        start = head(self.folder, name, 32 << 10).decode("utf-8", "replace")
        found = list(_found(start, name, 1))
        if self.folder.size(name) > 32 << 10:
            found += _found(self.tail, name, None)
        return tuple(dict.fromkeys(found))[:EVIDENCE]


def starts(part: Part, program: re.Pattern[str]) -> bool:
    """Whether a simple command starts the program, also behind a launcher or within `sh -c "..."`."""
    return any(program.match(piece.rsplit("/", 1)[-1]) for word in part.words for piece in word.split())


def bad(run: Run, label: Label, reason: str, evidence: Iterable[Evidence] = (), advice: str = "", at: str = "") -> Verdict:
    return Verdict(label, _sentence(reason), tuple(dict.fromkeys(evidence))[:EVIDENCE], advice or run.advice, at)


def unseen(run: Run, solver: str, targets: Iterable[str] = ()) -> Verdict:
    """The verdict where no output of the solver was found at all."""
    left = in_background(run)
    if left:
        return left
    empty = [name for name in dict.fromkeys(targets) if name in run.names and not run.folder.size(name)]
    evidence = [*run.troubles, *(Evidence(name, None, "is empty") for name in empty)]
    if run.ending.memory_killed or not run.ending.clean or run.ending.exit_code is None:
        return bad(run, Label.INCOMPLETE, f"{run.told} {_nothing(solver, empty)}", evidence or last_line(run))
    if run.troubles:
        advice = "Exit 0 hides it: end the script at the first error (`set -e`, &&)."
        return bad(run, Label.INCOMPLETE, f"{run.troubles[0].text}. {_nothing(solver, empty)}", evidence, advice)
    if empty:
        return bad(
            run,
            Label.INCOMPLETE,
            f"{_nothing(solver, empty)} It was killed before it wrote anything, or never ran; a pipe or a later command "
            f"hides its exit code.",
            evidence,
            "Look at the memory chart; use `set -o pipefail` and && so that a failure shows.",
        )
    return Verdict(
        Label.UNKNOWN,
        f"No output of {solver} was found, so nothing is known of the result.",
        last_line(run),
        "Let the solver write its output to stdout or to a log file in the job folder.",
    )


def alone(run: Run, using: list[Part], solver: str, begun: list[Evidence], why: str) -> Verdict | None:
    """Ranks that do not know of each other: mpirun in front, and as many whole runs as ranks. `begun` are their beginnings."""
    if all(_ranks(part) == 1 for part in using) or len(begun) <= len(using):
        return None
    reason = (
        f"{len(begun)} independent runs of {solver} on 1 rank each instead of one parallel run (mpirun started {len(begun)} copies of it)"
    )
    return bad(run, Label.INCOMPLETE, reason, begun, why)


def _ranks(part: Part) -> int:
    """How many ranks a launcher in front of the program starts; 1 without one, 0 where the number is not told."""
    said = part.words
    if not any(re.match(r"^(?:mpirun|mpiexec|orterun|prterun|srun)", word.rsplit("/", 1)[-1]) for word in said):
        return 1
    counts = [said[at + 1] for at, word in enumerate(said[:-1]) if word in ("-np", "-n", "--np", "-c", "--ntasks")]
    return int(counts[0]) if counts and counts[0].isdigit() else 0


def copied(run: Run, program: re.Pattern[str]) -> Verdict | None:
    """The verdict for the same call of a solver, started again while the first still ran."""
    part = next((one for one in at_once(run.parts) if starts(one, program)), None)
    if part is None:
        return None
    return bad(
        run,
        Label.INCOMPLETE,
        f"The same job was started more than once at the same time ({shown(' '.join(part.words), 80)} &): all copies wrote into the same files",
        [Evidence("command", None, shown(run.command))],
        "Start it once; for more cores use threads or ranks of the one run.",
    )


def in_background(run: Run) -> Verdict | None:
    """The verdict for a command that ended while a part of it was still running."""
    left = background(run.command)
    if not left:
        return None
    evidence = [Evidence("command", None, shown(run.command)), *last_line(run)]
    return bad(
        run,
        Label.INCOMPLETE,
        f"The command ended while a part of it was still running in the background: {shown(left, 80)} &.",
        evidence,
        "Drop the & (or end with `wait`), so that the job lasts as long as its solver.",
    )


def tempered(run: Run, verdict: Verdict, program: re.Pattern[str]) -> Verdict:
    """A good verdict set against the ending; others get the ending added where it tells more."""
    left = in_background(run)
    if (
        left
        and verdict.verdict in (*GOOD, Label.INCOMPLETE, Label.UNKNOWN)
        and any(program.match(word.rsplit("/", 1)[-1]) for word in left.reason.split())
    ):
        return replace(left, evidence=(left.evidence + verdict.evidence)[:EVIDENCE])
    twice = copied(run, program) if verdict.verdict in (*GOOD, Label.INCOMPLETE) else None
    if twice:  # what one copy says of the other's files is no cause
        return replace(twice, evidence=(twice.evidence + verdict.evidence)[:EVIDENCE])
    if verdict.verdict not in GOOD:
        return verdict
    if run.ending.clean or run.ending.exit_code is None and not run.ending.signal:
        return verdict
    if _blamed(run, program):
        return bad(
            run, Label.INCOMPLETE, f"The output looks complete, but {run.told[0].lower()}{run.told[1:]}", [*run.troubles, *verdict.evidence]
        )
    return replace(
        verdict,
        reason=f"{verdict.reason} {run.told} That was a later step: the solver's result is there.",
        evidence=(verdict.evidence + run.troubles)[:EVIDENCE],
    )


def worst(verdicts: list[Verdict]) -> Verdict:
    """The verdict on several solver runs of one job: the worst holds, the others stand in its reason."""
    order = [Label.DIVERGED, Label.INCOMPLETE, Label.NOT_CONVERGED, Label.UNKNOWN, Label.FINISHED, Label.CONVERGED]
    return min(verdicts, key=lambda one: order.index(one.verdict))


def _blamed(run: Run, program: re.Pattern[str]) -> bool:
    """Whether the bad ending is the solver's own: it is the last of the command, or its part of the pipeline failed."""
    direct = parts(run.command)
    if not direct:
        return run.ending.ended_by is not None
    mine = [at for at, part in enumerate(direct) if starts(part, program)]
    if not mine:
        return False
    codes = run.ending.pipe or ()
    at = mine[-1] - len(direct)
    if len(codes) > 1 and -at <= len(codes):
        return codes[at] != 0 or run.ending.memory_killed
    after = [part for part in direct[mine[-1] + 1 :] if part.words[0] != "tee"]
    return not after


def _found(text: str, name: str, first: int | None) -> Iterable[Evidence]:
    traced, kept = False, ("", 0)  # what R says of an error stands above its last words
    for at, line in enumerate(text.splitlines()):
        if line.startswith("Traceback (most recent call last)"):
            traced = True
        elif (traced and line[:1].strip()) or (
            len(line) < 400 and any(one.search(line) for one in (_CRASHED, _SHELL, _MPI, _STRONG, _RUNTIME))
        ):
            traced = False
            said, where = kept if kept[0] and line == "Execution halted" else (line, at)
            yield Evidence(name, first + where if first else None, shown(said))
        kept = (line, at) if _R_ERROR.match(line) else kept


def _nothing(solver: str, empty: list[str]) -> str:
    return (
        f"{solver} left no output: {', '.join(empty[:3])} {'is' if len(empty) == 1 else 'are'} empty."
        if empty
        else f"No output of {solver} was found."
    )


def last_line(run: Run) -> tuple[Evidence, ...]:
    name = stdout_of(run.folder, run.log)
    said = [line for line in run.tail.splitlines() if line.strip()]
    return (Evidence(name, None, shown(said[-1])),) if name and said else ()


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."

"""A plain command: nothing is known of its result but how it ended and what shell or MPI said of crashes.

The one idea: where the output carries the signature of a solver that we know, that solver's module judges.
"""

from __future__ import annotations

from collections.abc import Callable

from .base import Ending, Files, Follower, Label, Verdict, module
from .exit import explain
from .plain import Plain, streams
from .run import Run, bad, in_background, last_line
from .signatures import SIGNATURES
from .sources import stdout_of
from .text import head

__all__ = ["follow", "judge", "streams"]


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    return judge_command(Run(folder, ending, command, log), "command")


def follow(folder: Files | None, command: str) -> Follower:
    return Plain(folder, command)


def judge_command(run: Run, what: str) -> Verdict:
    """The verdict on a plain command, or on the solver whose signature its output carries."""
    left = in_background(run)
    if left:
        return left
    known = solver_of(run)
    if known:
        judged: Callable[..., Verdict] = module(known).judge
        return judged(run.folder, run.ending, run.command, run.log)
    if run.ending.exit_code is None and run.ending.signal is None and not run.ending.memory_killed:
        return Verdict(Label.UNKNOWN, explain(run.ending).sentence, run.troubles, explain(run.ending).advice)
    if not run.ending.clean:
        return bad(run, Label.INCOMPLETE, run.told, run.troubles or last_line(run))
    if run.troubles:
        return bad(
            run,
            Label.INCOMPLETE,
            f"The {what} ended with 0, but its output says: {run.troubles[0].text}",
            run.troubles,
            "End the script at the first error (`set -e`, && between commands, `set -o pipefail`).",
        )
    return Verdict(
        Label.UNKNOWN,
        f"The {what} ended with exit code 0; what it computed is not known here, so the result was not judged.",
        (),
        "Look at its output and its files.",
    )


def solver_of(run: Run) -> str | None:
    """The software code of the solver whose output stands in stdout or in a file that the command writes its output to."""
    targets = [part.place(name) for part in run.parts for name in part.output]
    for name in [stdout_of(run.folder, run.log), *targets]:
        start = head(run.folder, name, 16 << 10) if name and name in run.names else b""
        for code, signature in SIGNATURES:
            if signature.search(start):
                return code
    return None

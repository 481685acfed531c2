"""What the command starts beside itself: in the background, in a terminal of its own, or the same job twice at once.

The one idea to know: a job is over when its command is; what still runs then is ended. And two copies of a solver on one deck
write into the same files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import solvers
from .base import Finding, error, warning
from .paths import spot
from .plan import Plan, Step

_WAITERS = ("wait", "fg")
_DETACHED = {"screen": r"-[a-zA-Z]*d[a-zA-Z]*", "tmux": r"-[a-zA-Z]*d[a-zA-Z]*", "at": r".*", "batch": r".*", "systemd-run": r".*",
             "dtach": r"-n", "daemonize": r".*"}  # fmt: skip


def check(plan: Plan) -> Iterator[Finding]:
    steps = [step for step in plan.steps if step.argv]
    yield from _background(steps)
    yield from _detached(plan, steps)
    yield from _twice(steps)


def _background(steps: list[Step]) -> Iterator[Finding]:
    """A command put in the background and not waited for ends with the job."""
    for at, step in enumerate(steps):
        if step.before == "&" and step.program and not step.conditional and not _is_awaited(steps[at + 1 :]):
            yield warning(f"{spot(step.file, step.line)} puts {step.program} in the background (&) and does not wait: it "
                          "is ended as soon as the command is over.", file=step.file, line=step.line, thing="&",
                          remedy="Leave the & out, or end with wait.")  # fmt: skip
            return


def _is_awaited(later: list[Step]) -> bool:
    return any(step.program in _WAITERS for step in later)


def _detached(plan: Plan, steps: list[Step]) -> Iterator[Finding]:
    """Programs that hand a command on to a process that outlives the shell."""
    for step in steps:
        pattern = _DETACHED.get(step.program)
        words = [word or "" for word in step.argv[1:]]
        if pattern and step.words[0] not in plan.functions and any(re.fullmatch(pattern, word) for word in words):
            yield warning(f"{spot(step.file, step.line)} starts its program in the background by {step.program}: the job does not wait "
                          "for it, and ends it as soon as the command is over.", file=step.file, line=step.line, thing=step.program,
                          remedy="Start the program itself.")  # fmt: skip


def _twice(steps: list[Step]) -> Iterator[Finding]:
    """The same call of a solver, in the same folder, while the first still runs."""
    for at, step in enumerate(steps):
        if step.before != "&" or step.conditional or not solvers.claims(step.program) or None in step.argv or step.cwd is None:
            continue
        beside = next((n for n, later in enumerate(steps[at + 1 :], at + 1) if later.program in _WAITERS), len(steps))
        if step.looped or any(other.argv == step.argv and other.cwd == step.cwd for other in steps[at + 1 : beside]):
            call = " ".join(word or "" for word in step.argv)
            yield error(f"{spot(step.file, step.line)} starts {call} more than once at the same time: all copies write into the same "
                        "files.", file=step.file, line=step.line, thing=step.program,
                        remedy="Start it once; more cores are used by threads or ranks of the one run.")  # fmt: skip
            return

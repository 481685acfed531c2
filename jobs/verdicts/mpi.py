"""A plain MPI program: as a plain command, with what mpirun itself says in words."""

from __future__ import annotations

import re

from .base import Ending, Evidence, Files, Follower, Label, Verdict
from .plain import Plain, streams
from .run import Run, bad
from .shell import judge_command
from .sources import stdout_of

SAID: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"detected an attempt to run as root"), "mpirun refused to run as root.", "This is a fault of the cluster's set-up, not "
        "of the "
        "input: tell "
        "an admin."),
    (re.compile(r"not enough slots available"), "mpirun found fewer places than ranks were "
        "asked for.", "Ask for as many ranks as the cluster has cores, or add --oversubscribe."),
    (re.compile(r"(?i)(?:unable|failed|could not|"
        r"cannot).*\bhost ?file"), "mpirun could not read its host file.", "Leave the host file out: the cluster's hosts are set for you."),
    (re.compile(r"(?i)execvp error|could not find an executable|unable to launch the specified|"
        r"execve.* failed"), "mpirun could not start the program.", "Check its name, that it is there, and its x bit (`chmod +x`)."),
    (re.compile(r"noticed that process rank (\d+).*exited on signal (\d+)|BAD "
        r"TERMINATION"), "A rank crashed, and mpirun ended the others.", "Read the lines before; try a single rank to find the cause."),
    (re.compile(r"MPI_ABORT was invoked on rank (\d+)"), "A rank called MPI_ABORT: the program itself "
        "gave up.", "The lines before it say why."),
    (re.compile(r"Primary job +terminated normally, but"), "A rank ended with an error, and mpirun ended the "
        "others.", "Read the lines before."),
)  # fmt: skip

__all__ = ["follow", "judge", "streams"]


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    verdict = judge_command(run, "MPI command")
    found = None if verdict.verdict not in (Label.INCOMPLETE, Label.UNKNOWN) else _said(run.tail)
    if found is None:
        return verdict
    text, reason, advice = found
    hidden = (
        " The exit code 0 of a later command hides it."
        if ending.clean
        else f" The command ended with exit code {ending.exit_code}."
        if ending.exit_code is not None
        else ""
    )
    return bad(
        run, Label.INCOMPLETE, reason + hidden, [Evidence(stdout_of(folder, log) or "stdout", None, text), *verdict.evidence], advice
    )


def follow(folder: Files | None, command: str) -> Follower:
    return Plain(folder, command)


def _said(tail: str) -> tuple[str, str, str] | None:
    """The first of SAID that the output carries: the more exact ones stand first."""
    said = [line.strip() for line in tail.splitlines() if len(line) < 400]
    for pattern, reason, advice in SAID:
        line = next((line for line in said if pattern.search(line)), None)
        if line:
            return line, reason, advice
    return None

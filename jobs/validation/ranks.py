"""Ranks and threads that the command asks for, against the cores that are paid for.

The one idea to know: only what the user wrote counts. Threads that the portal itself sets are never held against him.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from .base import Finding, Request, error, warning
from .launch import Launcher
from .paths import check_read, spot
from .plan import Plan, Step


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    told = False
    for step in plan.steps:
        if step.launcher:
            yield from _ranks(request, step, step.launcher)
            yield from _hosts(step, step.launcher)
            yield from _nodes(request, step, step.launcher)
        for finding in _threads(request, step) if not told else ():
            told = True
            yield finding


def _ranks(request: Request, step: Step, launcher: Launcher) -> Iterator[Finding]:
    where = spot(step.file, step.line)
    at = {"file": step.file, "line": step.line, "thing": launcher.word}
    if launcher.ranks == 0:
        yield error(f"{where} asks {launcher.name} for 0 ranks.", remedy="Ask for at least one rank.",
                    fix=f"ranks:{request.cores}", **at)  # fmt: skip
    elif launcher.ranks is not None and launcher.ranks > request.cores:
        message = f"{where} starts {launcher.ranks} ranks with {launcher.name}, but the hardware has {_cores(request)}."
        remedy = f"Start {request.cores} ranks, or choose hardware with {launcher.ranks} cores."
        make = warning if launcher.oversubscribe or step.conditional else error
        yield make(message, remedy=remedy, fix=f"ranks:{request.cores}", **at)
    elif launcher.word.startswith("-") or (launcher.word and not _may_be_number(launcher.word)):
        yield error(f"{where}: {launcher.name} wants a number of ranks (-np N), not {launcher.word!r}.",
                    remedy=f"Give a number, at most {request.cores}.", **at)  # fmt: skip


def _nodes(request: Request, step: Step, launcher: Launcher) -> Iterator[Finding]:
    if launcher.nodes and launcher.nodes > request.nodes:
        yield error(f"{spot(step.file, step.line)} asks {launcher.name} for {launcher.nodes} nodes, but the hardware has {request.nodes}.",
                    file=step.file, line=step.line, thing="nodes", remedy="Ask for as many nodes as there are, or leave it out.")  # fmt: skip


def _may_be_number(word: str) -> bool:
    return word.isdigit()


def _cores(request: Request) -> str:
    each = f" ({request.nodes} nodes)" if request.nodes > 1 else ""
    return f"{request.cores} core{'s' if request.cores != 1 else ''}{each}"


def _hosts(step: Step, launcher: Launcher) -> Iterator[Finding]:
    if launcher.host_file and not step.conditional:
        found = check_read(step.tree, launcher.host_file, verb="names the host file", file=step.file, line=step.line,
                           cwd=step.cwd, missing="Leave the option out: the portal sets the hosts.")  # fmt: skip
        if found:
            yield found
    for what, path in launcher.files if not step.conditional else ():
        found = check_read(step.tree, path, verb=f"names the {what}", file=step.file, line=step.line, cwd=step.cwd)
        if found:
            yield found


def _threads(request: Request, step: Step) -> Iterator[Finding]:
    threads = _asked_threads(step)
    ranks = step.launcher.ranks if step.launcher else 1
    if not threads or not ranks or not step.argv or threads[1] <= 1:
        return
    name, count = threads
    if ranks * count <= request.cores or ranks > request.cores:
        return
    times = f"{ranks} ranks with {count} threads each" if ranks > 1 else f"{count} threads"
    yield warning(f"{spot(step.file, step.line)} starts {times} ({name}), but the hardware has {_cores(request)}.",
                  file=step.file, line=step.line, thing=name,
                  remedy="Ranks times threads should not be more than the cores.")  # fmt: skip


_COUNTS = ("OMP_NUM_THREADS", "CCX_NPROC_EQUATION_SOLVER", "CCX_NPROC_RESULTS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SINGLE = {"", "echo", "export", "printf", "cd", "ls", "cat", "cp", "mv", "mkdir", "rm", "tail", "head", "grep", "source"}


def _asked_threads(step: Step) -> tuple[str, int] | None:
    if posixpath.basename(step.program) in _SINGLE:
        return None
    if step.launcher and step.launcher.threads:
        return f"{step.launcher.name} cores per rank", step.launcher.threads
    for name in _COUNTS:
        value = step.environment.get(name) or ""
        if value.isdigit():
            return name, int(value)
    return None

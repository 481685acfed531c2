"""CalculiX: what ccx would stumble over, or worse, pass over.

The one idea to know: ccx ends with exit code 0 when a file is missing, and only warns of a keyword that it does not
know and goes on without it. So these count as errors here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import check_read, spot
from ..plan import Plan, Step
from ..solvers import SOLVERS
from . import abaqus, mesh, order, outputs, parameters, sets, steps, words
from .cards import Deck, read_deck

_PROGRAM = SOLVERS[0].programs


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    import re

    done: set[str] = set()
    for step in plan.steps:
        if re.fullmatch(_PROGRAM, step.program):
            yield from _ranks(step)
            yield from _run(request, step, done)


def _ranks(step: Step) -> Iterator[Finding]:
    if step.launcher and (step.launcher.ranks or 1) > 1:
        yield error(
            f"{spot(step.file, step.line)} starts ccx {step.launcher.ranks} times by {step.launcher.name}: ccx does not use "
            "MPI, so every copy would run the whole model and write into the same files.",
            file=step.file, line=step.line, thing=step.launcher.name,
            remedy="Start ccx alone and set OMP_NUM_THREADS to the cores.",
        )  # fmt: skip


def _run(request: Request, step: Step, done: set[str]) -> Iterator[Finding]:
    job = _job(step)
    if job is None or "-v" in step.argv[1:]:
        return
    if job == "":
        yield error(f"{spot(step.file, step.line)} starts ccx without a job name.", file=step.file, line=step.line,
                    thing="ccx", remedy="Name the deck without its ending: ccx -i block.")  # fmt: skip
        return
    yield from _name(step, job)
    deck = f"{job}.inp"
    found = None if step.conditional else _missing(step, job, deck)
    if found:
        yield found
        return
    name = step.path(deck)
    if name in step.tree.inputs and name not in step.tree.made and name not in done:
        done.add(str(name))
        yield from _deck(request, step, read_deck(request.inputs, step, str(name)))


def _job(step: Step) -> str | None:
    """The job name; "" if there is none, None if it is not known."""
    if None in step.argv:
        return None
    words_ = [word or "" for word in step.argv[1:]]
    if "-i" in words_[:-1]:
        return words_[words_.index("-i") + 1]
    return words_[0] if words_ and not words_[0].startswith("-") else ""


def _name(step: Step, job: str) -> Iterator[Finding]:
    where = {"file": step.file, "line": step.line, "thing": job}
    if " " in job:
        yield warning(f"The job name {job!r} has a space (blank) in it: ccx cuts names there and writes {job.split()[0]}.dat.",
                      remedy=f"Rename the deck to {'_'.join(job.split())}.inp.", **where)  # fmt: skip
    if len(job) > 128:
        yield error(f"The job name is longer than the 132 characters that ccx reads: {job[:60]}...",
                    remedy="Use a shorter name.", **where)  # fmt: skip


def _missing(step: Step, job: str, deck: str) -> Finding | None:
    found = check_read(step.tree, deck, verb=f"runs ccx on {job}: it reads", file=step.file, line=step.line, cwd=step.cwd)
    if found and job.lower().endswith(".inp") and step.tree.exists(step.path(job) or "?"):
        return error(f"{spot(step.file, step.line)} names {job}: ccx adds .inp itself and would look for {deck}.",
                     file=step.file, line=step.line, thing=job, remedy=f"Write ccx {job[:-4]}.")  # fmt: skip
    return found


def _deck(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    yield from deck.findings
    if deck.broken:
        return
    yield from words.check(deck)
    parts = list(abaqus.check(deck))
    yield from parts or order.check(deck)
    yield from parameters.check(deck) if not parts else ()
    yield from steps.check(request, step, deck)
    restarts = any(card.name == "RESTART" and "READ" in card.parameters for card in deck.cards)
    if deck.complete and not parts:
        yield from outputs.check(deck)
    if deck.complete and not restarts:  # a restart brings the mesh and its sets along
        yield from sets.check(deck)
        yield from order.sections(deck)
        yield from mesh.check(deck)

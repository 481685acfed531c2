"""Quantum ESPRESSO: decks of pw.x, and the data that later programs want from it.

The one idea to know: most programs of the suite work on the folder outdir/prefix.save of an earlier run; it must come
from an earlier step of the command or be among the inputs.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import check_read, spot
from ..plan import Plan, Step
from ..solvers import SOLVERS
from ..text import NO_TEXT
from ..tree import is_system, is_windows, resolve
from . import posts, pw
from .deck import Deck, read

_PROGRAM = SOLVERS[4].programs
_OPTIONS = ("-in", "-i", "-inp", "-input", "--in", "--input")
_POSTS = {"ph.x": "inputph", "pp.x": "inputpp", "dos.x": "dos", "bands.x": "bands", "projwfc.x": "projwfc", "hp.x": "inputhp"}
_LEVELS = (("-ni", "-nimage", "-nimages"), ("-nk", "-npool", "-npools"), ("-nb", "-nband", "-nbgrp", "-nband_group"))
_STARTS = {"scf", "relax", "md", "vc-relax", "vc-md"}


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    saved: set[tuple[str, str]] = set()  # (outdir, prefix) that earlier steps of the command left
    for step in plan.steps:
        if not re.fullmatch(_PROGRAM, step.program) or None in step.argv:
            continue
        yield from _pools(step)
        name, findings = _input(step)
        yield from findings
        inside = resolve(step.cwd, name) if name and step.cwd is not None else None
        if inside is None or inside not in step.tree.inputs or inside in step.tree.made:
            saved.add(("*", "*"))
            continue
        deck = read(request.inputs, inside)
        yield from _deck(request, step, deck, saved)


def _input(step: Step) -> tuple[str | None, list[Finding]]:
    name = step.option(*_OPTIONS)
    if name is None:
        name = step.stdin
    here_document = any(redirect.operator.startswith("<<") for redirect in step.redirects)
    if name is None and not here_document and step.after not in ("|", "|&"):
        stray = next((word for word in step.argv[1:] if word and word.endswith((".in", ".inp", ".pwi", ".txt"))), "")
        decks = [deck for deck in step.tree.inputs if deck.endswith((".in", ".pwi"))]
        remedy = f"Write {step.program} -in {stray or (decks[0] if len(decks) == 1 else 'FILE')}."
        return stray or None, [error(f"{spot(step.file, step.line)} starts {step.program} without -in: it would read from the keyboard.",
                                     file=step.file, line=step.line, thing=step.program, remedy=remedy)]  # fmt: skip
    if name is None or step.conditional or step.option(*_OPTIONS) is None:
        return name, []  # what stands behind < is judged with the command
    found = check_read(step.tree, name, verb=f"runs {step.program} on", file=step.file, line=step.line, cwd=step.cwd)
    return name, [found] if found else []


def _pools(step: Step) -> Iterator[Finding]:
    ranks = step.launcher.ranks if step.launcher else 1
    given = [value for names in _LEVELS if (value := step.option(*names) or "").isdigit() and int(value) > 0]
    pools = math.prod(int(value) for value in given)
    if ranks and given and ranks % pools:
        yield error(f"{spot(step.file, step.line)}: {ranks} rank{'s' if ranks > 1 else ''} can't be divided into {' x '.join(given)} pools.",
                    file=step.file, line=step.line, thing="pools",
                    remedy="Choose numbers of images, pools (-nk) and band groups whose product divides the ranks.")  # fmt: skip


def _deck(request: Request, step: Step, deck: Deck, saved: set[tuple[str, str]]) -> Iterator[Finding]:
    yield from deck.findings
    if any(finding.thing in NO_TEXT for finding in deck.findings):
        return
    if step.program in ("pw.x", "cp.x"):
        place = _place(deck, "control", "pwscf")
        calculation = (deck.string("control", "calculation") or "scf").lower()
        if step.program == "pw.x":
            yield from pw.check(request, step, deck)
        yield from _needed(step, deck, place, saved, calculation)
        if calculation in _STARTS or step.program == "cp.x":
            saved.add(place)
    elif step.program in _POSTS:
        place = _place(deck, _POSTS[step.program], "pwscf")
        yield from _folder(step, deck, _POSTS[step.program])
        yield from posts.check(deck)
        if _POSTS[step.program] in deck.namelists:
            yield from _needed(step, deck, place, saved, step.program)
    if step.program in ("pw.x", "cp.x"):
        yield from _folder(step, deck, "control")


def _place(deck: Deck, namelist: str, default: str) -> tuple[str, str]:
    folder = deck.string(namelist, "outdir") or "."
    return posixpath.normpath(folder), deck.string(namelist, "prefix") or default


def _needed(step: Step, deck: Deck, place: tuple[str, str], saved: set[tuple[str, str]], calculation: str) -> Iterator[Finding]:
    """The data of an earlier run."""
    restart = (deck.string("control", "restart_mode") or "").lower() == "restart"
    wants = calculation in ("nscf", "bands") or calculation in _POSTS
    if not (wants or restart) or step.conditional or place in saved or ("*", "*") in saved or is_system(place[0]):
        return
    folder = f"{place[0]}/{place[1]}.save" if place[0] != "." else f"{place[1]}.save"
    inside = resolve(step.cwd, folder) if step.cwd is not None else None
    if inside is None or inside in step.tree.folders or (step.tree.anything and step.tree.exists(inside) is None):
        return
    value = deck.value("control", "calculation" if wants else "restart_mode")
    near = step.tree.nearest_folder(inside)
    at = {"file": deck.name, "line": value.line if value else 1, "thing": folder}
    where = f"{deck.name} line {at['line']}"
    remedy = f"There is {near}." if near and near.endswith(".save") else "Add the results of the scf job, or run scf first in the command."
    if saved:
        before = " and ".join(f"prefix '{prefix}' in '{outdir}'" for outdir, prefix in sorted(saved))
        remedy = f"The scf of this command writes {before}; {step.program} looks for prefix '{place[1]}' in '{place[0]}': write the same in both."
    shown = f"./{folder}" if not folder.startswith(".") else folder
    if wants:
        yield error(f"{where}: {calculation} wants {shown} from an scf run, which is not among the uploaded files.", remedy=remedy, **at)  # type: ignore[arg-type]
    else:
        yield warning(f"{where}: restart_mode='restart' wants {shown}, which is not among the uploaded files: pw.x would begin "
                      "from scratch.", remedy=remedy, **at)  # type: ignore[arg-type] # fmt: skip


def _folder(step: Step, deck: Deck, namelist: str) -> Iterator[Finding]:
    for name in ("outdir", "wfcdir"):
        value = deck.value(namelist, name)
        path = value.string if value else None
        if not value or not path or path.startswith("$"):
            continue
        at = {"file": deck.name, "line": value.line, "thing": path}
        where = f"{deck.name} line {value.line}"
        if path.startswith(("/tmp", "/dev/shm", "/var/tmp")):
            yield warning(f"{where}: {name} is {path}, outside the job folder; it will be lost when the job ends.",
                          remedy="Write outdir='./out'.", **at)  # type: ignore[arg-type] # fmt: skip
        elif is_windows(path) or path.startswith(("/", "~")) or (step.cwd is not None and resolve(step.cwd, path) is None):
            yield error(f"{where}: {name} is {path}, a path of another machine or outside the job folder; it does not exist here.",
                        remedy="Write outdir='./out'.", **at)  # type: ignore[arg-type] # fmt: skip

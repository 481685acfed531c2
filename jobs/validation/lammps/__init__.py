"""LAMMPS: scripts whose files are missing, whose words are wrong, or that compute nothing.

The one idea to know: LAMMPS reads its script line by line while it runs, so a mistake in the last line costs the whole
run before it. All of it is read here first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..launched import into_missing
from ..paths import check_read, spot
from ..plan import Plan, Step
from ..solvers import SOLVERS
from ..text import NO_TEXT
from ..tree import resolve
from . import atoms, chain, clock, elements, files, groups, numbers, once, overwrites, sequence, setup, types, vocabulary, words
from . import data as data_files
from .script import Script, is_known, read_script

_PROGRAM = SOLVERS[2].programs
_SWITCHES = {"-cite": 1, "-c": 1, "-echo": 1, "-e": 1, "-in": 1, "-i": 1, "-log": 1, "-l": 1, "-screen": 1, "-sc": 1,
             "-suffix": 1, "-sf": 1, "-plog": 1, "-pl": 1, "-pscreen": 1, "-ps": 1, "-mpicolor": 1, "-m": 1, "-nocite": 0,
             "-nc": 0, "-nonbuf": 0, "-nb": 0, "-skiprun": 0, "-sr": 0, "-help": 0, "-h": 0}  # fmt: skip


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    earlier = chain.Chain(plan, request.inputs)
    for step in plan.steps:
        if re.fullmatch(_PROGRAM, step.program) and None not in step.argv and "-h" not in step.argv:
            yield from _step(request, step, earlier)


def _step(request: Request, planned: Step, earlier: chain.Chain) -> Iterator[Finding]:
    step = earlier.known(planned)
    stray = next(_stray(step), None)
    name = _input(step)
    if stray is not None:
        yield error(f"{spot(step.file, step.line)} gives {stray} to {step.program} without -in: LAMMPS reads no such argument.",
                    file=step.file, line=step.line, thing=stray, remedy=f"Write {step.program} -in {stray}.")  # fmt: skip
        name = name or stray
    if name is None and step.after not in ("|", "|&") and not step.redirects:
        yield error(f"{spot(step.file, step.line)} starts {step.program} without an input script.", file=step.file,
                    line=step.line, thing=step.program, remedy=f"Write {step.program} -in FILE.")  # fmt: skip
    yield from _partition(step)
    for option in ("-log", "-l", "-screen", "-sc"):
        yield from into_missing(step, step.option(option) or "")
    if "serial" in step.program and step.launcher and (step.launcher.ranks or 1) > 1:
        yield error(f"{spot(step.file, step.line)} starts {step.launcher.ranks} copies of {step.program}, which is built without MPI: each "
                    "would run the whole job.", file=step.file, line=step.line, thing=step.program,
                    remedy="Use lmp or lmp_mpi, or leave mpirun out.")  # fmt: skip
    if name is None or name in ("none", "/dev/null", "-"):
        return
    if not step.conditional and (found := check_read(step.tree, name, verb="runs LAMMPS on", file=step.file, line=step.line,
                                                     cwd=step.cwd)):  # fmt: skip
        yield found
    inside = resolve(step.cwd, name) if step.cwd is not None else None
    if inside in step.tree.inputs and inside not in step.tree.made:
        script = read_script(request.inputs, step, str(inside), _given(step))
        earlier.add(planned, script)
        yield from _script(request, step, script)


def _script(request: Request, step: Step, script: Script) -> Iterator[Finding]:
    yield from script.findings
    if any(finding.thing in NO_TEXT for finding in script.findings):
        return
    yield from words.check(script)
    data = _data(request, step, script)
    yield from files.check(request, step, script)
    if data is not None:
        reads = next(script.of("read_data"))
        styles = list(script.of("atom_style"))
        yield from data_files.check(data, styles[0] if len(styles) == 1 else None, len(reads.words) == 1)
    yield from sequence.check(step, script, _given(step))
    yield from setup.check(script)
    yield from types.check(script, data)
    yield from elements.check(request, step, script, data)
    yield from numbers.check(request, step, script)
    yield from atoms.check(request, script, data)
    yield from clock.check(script)
    yield from clock.averages(script)
    yield from clock.motion(script)
    yield from groups.check(script)
    yield from once.check(script)
    yield from overwrites.check(script)
    yield from vocabulary.check(script)
    text = " ".join(command.text for command in script.commands)
    if script.complete and not re.search(r"\b(run|minimize|rerun|temper|neb|prd|tad|hyper|write_data|write_restart|write_dump|"
                                         r"jump|dynamical_matrix|third_order|server|fix client|mdi|info|group2ndx)\b", text):  # fmt: skip
        yield warning(f"{script.name} has no run or minimize: nothing would be computed.", file=script.name, line=1, thing="run",
                      remedy="Add a run command (is it commented out?).")  # fmt: skip


def _data(request: Request, step: Step, script: Script) -> data_files.Data | None:
    """The only data file of a script, if it is among the inputs as it is."""
    named = [command.word(0) for command in script.of("read_data")]
    inside = resolve(step.cwd, named[0]) if len(named) == 1 and step.cwd is not None and is_known(named[0]) else None
    packed = str(inside).endswith((".gz", ".zst", ".bz2"))
    return (
        data_files.read(request.inputs, str(inside)) if inside in step.tree.inputs and inside not in step.tree.made and not packed else None
    )


def _input(step: Step) -> str | None:
    found = step.option("-in", "-i", "--in")
    return found if found is not None else step.stdin


def _stray(step: Step) -> Iterator[str]:
    """Words that belong to no switch. Switches that take any number of words end the search."""
    at = 1
    while at < len(step.argv):
        word = step.argv[at] or ""
        if word in _SWITCHES:
            at += 1 + _SWITCHES[word]
        elif word.startswith("-"):
            at += 1
            while at < len(step.argv) and not (step.argv[at] or "").startswith("-"):
                at += 1
        else:
            yield word
            at += 1


def _given(step: Step) -> dict[str, str]:
    """Variables that the command line sets: -var NAME VALUE."""
    found: dict[str, str] = {}
    for at, word in enumerate(step.argv):
        if word in ("-var", "-v") and at + 2 < len(step.argv):
            found[step.argv[at + 1] or ""] = step.argv[at + 2] or ""
    return found


def _partition(step: Step) -> Iterator[Finding]:
    parts: list[str] = []
    for at, word in enumerate(step.argv):
        if word in ("-partition", "-p"):
            rest = [part or "" for part in step.argv[at + 1 :]]
            parts = rest[: next((n for n, part in enumerate(rest) if part.startswith("-")), len(rest))]
    if not parts or not all(re.fullmatch(r"\d+(x\d+)?", part) for part in parts):
        return
    total = sum(int(part.split("x")[0]) * int(part.partition("x")[2] or 1) for part in parts)
    ranks = (step.launcher.ranks if step.launcher else 1) or total
    if total != ranks:
        yield error(f"{spot(step.file, step.line)}: the partitions {' '.join(parts)} need {total} ranks, but {ranks} "
                    f"{'is' if ranks == 1 else 'are'} started.", file=step.file, line=step.line, thing="-partition",
                    remedy=f"Start {total} ranks.", fix=f"ranks:{total}")  # fmt: skip

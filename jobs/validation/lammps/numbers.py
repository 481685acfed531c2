"""Numbers that can't be: steps, time step, boxes, masses, grids of processors, memory.

The one idea to know: only plain numbers are judged; what holds a variable is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from ..base import Finding, Request, error, warning
from ..plan import Step
from .script import Command, Script, is_known, number
from .setup import positive


def check(request: Request, step: Step, script: Script) -> Iterator[Finding]:
    for command in script.commands:
        judge = _JUDGES.get(command.name)
        if judge:
            yield from judge(command)
        elif command.name == "processors":
            yield from _processors(step, command)
    yield from _threads(request, step, script)


def _run(command: Command) -> Iterator[Finding]:
    steps = command.word(0)
    if not steps:
        yield _wrong(command, "run has no number of steps", "run", "Write run N.")
    elif is_known(steps) and not re.fullmatch(r"\d+", steps):
        value = number(steps)
        if value is None:
            yield _wrong(command, f"run wants a number of steps, not {steps}", steps, "Write a whole number.")
        else:
            remedy = f"Write {int(value)}." if value >= 0 and value == int(value) else "Write a whole number, not below zero."
            yield _wrong(command, f"run {steps}: the steps must be a whole number, not below zero", steps, remedy)


def _timestep(command: Command) -> Iterator[Finding]:
    value = number(command.word(0))
    if value == 0:
        yield warning(f"{command.where}: the time step is zero; nothing would move.", file=command.file, line=command.line,
                      thing=command.word(0), remedy="Give a time step above zero.")  # fmt: skip
    elif value is not None and value < 0:
        yield _wrong(command, f"the time step is {command.word(0)}", command.word(0), "Give a time step above zero.")
    elif value is None and is_known(command.word(0)):
        yield _wrong(command, f"timestep wants a number, not {command.word(0) or 'nothing'}", command.word(0), "Give a number.")


def _every(command: Command) -> Iterator[Finding]:
    every = command.word(3)
    if re.fullmatch(r"-?\d+", every) and int(every) <= 0:
        yield _wrong(command, f"dump every {every} steps can't be", every, "Give a number above zero.")


def _minimize(command: Command) -> Iterator[Finding]:
    values = [number(word) for word in command.words[:4]]
    if len(values) == 4 and values[0] == 0 and values[1] == 0:
        yield warning(f"{command.where}: minimize with both tolerances 0 can never converge; it ends by its limits.",
                      file=command.file, line=command.line, thing="minimize", remedy="Give a tolerance, for instance 1e-8.")  # fmt: skip
    elif len(values) == 4 and any(value is not None and value < 0 for value in values):
        yield _wrong(command, "minimize has a number below zero", "minimize", "Give numbers above zero.")


def _region(command: Command) -> Iterator[Finding]:
    if command.word(1) != "block":
        return
    bounds = [number(word) for word in command.words[2:8]]
    for low, high, axis in zip(bounds[::2], bounds[1::2], "xyz", strict=False):
        if low is not None and high is not None and low > high:
            yield _wrong(command, f"the region {command.word(0)} runs from {low:g} to {high:g} in {axis}", command.word(0),
                         "The lower bound must come first.")  # fmt: skip


def _lattice(command: Command) -> Iterator[Finding]:
    scale = number(command.word(1))
    if scale is not None and scale <= 0:
        yield _wrong(command, f"the lattice has the scale {command.word(1)}", command.word(1), "Give a number above zero.")


def _mass(command: Command) -> Iterator[Finding]:
    value = number(command.word(1))
    if value is not None and value <= 0:
        yield _wrong(command, f"the mass of type {command.word(0)} is {command.word(1)}", command.word(1), "Give a mass above zero.")


def _create_box(command: Command) -> Iterator[Finding]:
    if command.word(0) == "0":
        yield _wrong(command, "create_box makes a box for 0 types of atoms", "0", "Give at least 1.")


def _fix(command: Command) -> Iterator[Finding]:
    """Thermostats and barostats: a start, an end and a damping behind each keyword."""
    style = re.sub(r"/(omp|kk|opt|gpu|intel)$", "", command.word(2))
    words = command.words[3:]
    if style in _DAMPED:
        yield from _short(command, style, words, _DAMPED[style], style)
        yield from positive(command, style, words, 2) if style in ("langevin", "temp/berendsen", "temp/csvr") else ()
    elif re.fullmatch(r"(nvt|npt|nph)(/(sphere|asphere|body|eff))?", style):
        places = [at for at, word in enumerate(words) if word in _COUPLED and (not at or words[at - 1] != "couple")]
        named = [words[at] for at in places]
        needed = {"nvt": ["temp"], "npt": ["temp", "press"], "nph": ["press"]}[style[:3]]
        have = {"temp" if word == "temp" else "press" for word in named}
        if all(map(is_known, words)):
            for missing in (one for one in needed if one not in have):
                what = "temp Tstart Tstop Tdamp" if missing == "temp" else "iso Pstart Pstop Pdamp"
                yield _wrong(command, f"fix {style} has no {missing}erature" if missing == "temp" else f"fix {style} has no pressure", style,
                             f"Add {what}.")  # fmt: skip
        for at in places:
            yield from _short(command, style, words[at + 1 :], 3, words[at])
            yield from positive(command, style, words, at + 3)


def _short(command: Command, style: str, words: tuple[str, ...], count: int, keyword: str) -> Iterator[Finding]:
    given = words[:count]
    good = [word for word in given if number(word) is not None or "$" in word or word.startswith("v_")]
    if len(given) < count or len(good) < count:
        yield _wrong(command, f"fix {style}: {keyword} wants {count} numbers, there {'is' if len(good) == 1 else 'are'} {len(good)}",
                     style, "Give start, end and damping time." if count == 3 else "See the fix's own page.")  # fmt: skip


_COUPLED = {"temp", "iso", "aniso", "tri", "x", "y", "z", "xy", "xz", "yz"}
_DAMPED = {"langevin": 4, "temp/berendsen": 3, "temp/csvr": 4, "temp/csld": 4, "temp/rescale": 5, "viscous": 1}
_JUDGES = {"run": _run, "timestep": _timestep, "dump": _every, "minimize": _minimize, "region": _region, "lattice": _lattice,
           "mass": _mass, "create_box": _create_box, "fix": _fix}  # fmt: skip


def _processors(step: Step, command: Command) -> Iterator[Finding]:
    grid = [int(word) for word in command.words[:3] if word.isdigit()]
    ranks = step.launcher.ranks if step.launcher else 1
    if len(grid) == 3 and ranks and "-partition" not in step.argv and prod(grid) != ranks:
        yield _wrong(command, f"processors {' '.join(map(str, grid))} makes {prod(grid)} parts, but {ranks} "
                     f"rank{'s are' if ranks > 1 else ' is'} started", "processors", "Write processors * * * or start as many ranks.")  # fmt: skip


def _threads(request: Request, step: Step, script: Script) -> Iterator[Finding]:
    ranks = (step.launcher.ranks if step.launcher else 1) or 1
    asked = next((command for command in script.of("package") if command.word(0) == "omp" and command.word(1).isdigit()), None)
    count = int(asked.word(1)) if asked else 0
    for at, word in enumerate(step.argv[:-2]):
        if word in ("-pk", "-package") and step.argv[at + 1] == "omp" and (step.argv[at + 2] or "").isdigit():
            count = int(step.argv[at + 2] or 0)
    if count > 1 and ranks * count > request.cores >= ranks:
        yield warning(f"LAMMPS would use {ranks} ranks with {count} threads each (omp), but there are {request.cores} cores.",
                      file=asked.file if asked else step.file, line=asked.line if asked else step.line, thing="omp",
                      remedy="Ranks times threads should not be more than the cores.")  # fmt: skip


def _wrong(command: Command, what: str, thing: str, remedy: str) -> Finding:
    return error(f"{command.where}: {what}.", file=command.file, line=command.line, thing=thing or command.name, remedy=remedy)

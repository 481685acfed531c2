"""The step counter of a LAMMPS script and its time step: runs that end before they begin, steps of a length that can't be.

The one idea to know: `run N upto` and `run N start S stop T` are held against the present step, of which at least a lower bound is
known; and a time step means femtoseconds in one system of units and picoseconds in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .script import Command, Script, is_known, number

# Shortest and longest time step that anybody takes, the usual one, in the unit's own words.
_STEPS = {
    "real": (0.002, 100.0, "1.0", "femtoseconds"), "metal": (1e-7, 0.15, "0.001", "picoseconds"), "lj": (1e-6, 0.5, "0.005", "units of tau"),
    "si": (1e-18, 0.01, "1.0e-15 for atoms, 1e-6 for grains", "seconds"), "cgs": (1e-18, 0.01, "1.0e-15", "seconds"),
    "electron": (1e-6, 20.0, "0.001", "femtoseconds"), "nano": (1e-8, 0.1, "0.00045", "nanoseconds"),
    "micro": (1e-8, 1e4, "2.0", "microseconds"),
}  # fmt: skip
_USUAL = {"real": 1.0, "metal": 0.001, "lj": 0.005}
_MOVES = re.compile(r"(nve|nvt|npt|nph|rigid|langevin|brownian|wall)(/|$)")
_STILL = re.compile(  # fixes that change forces or velocities, or only watch
    r"langevin|temp/(berendsen|rescale|csvr|csld)|momentum|print|ave/.*|setforce|addforce|aveforce|spring(/self)?|efield|wall/.*|halt|"
    r"press/berendsen|recenter|balance|enforce2d|dt/reset|viscous|drag|indent|gravity|store/state|vector|shake|rattle|restrain"
)
_SUFFIX = re.compile(r"/(omp|kk|gpu|opt|intel)$")
_BRANCHES = ("if", "jump", "python", "plugin", "partition", "rerun", "neb", "temper", "prd", "tad", "hyper")
_COUPLED = re.compile(r"(nvt|npt|nph)(/(sphere|asphere|body|eff|sllod))?(/(omp|kk|gpu|opt|intel))?")


def check(script: Script) -> Iterator[Finding]:
    yield from _length(script)
    if script.whole and not any(True for _ in script.of(*_BRANCHES)):
        yield from _counted(script)


def motion(script: Script) -> Iterator[Finding]:
    """Steps without a fix that moves anything, and flat models between walls in z."""
    if not script.complete or any(True for _ in script.of(*_BRANCHES, "read_restart", "clear", "run_style")):
        return
    run = next((command for command in script.of("run") if command.word(0).isdigit() and int(command.word(0)) > 1), None)
    if run and _is_warm(script) and all(_STILL.fullmatch(_SUFFIX.sub("", fix.word(2))) for fix in script.of("fix")):
        yield warning(f"{run.where}: no fix moves the atoms (nve, nvt, npt...), so {run.word(0)} steps would leave them where they are.",
                      file=run.file, line=run.line, thing="fix", remedy="Add for instance fix 1 all nve.")  # fmt: skip
    flat = next((command for command in script.of("dimension") if command.word(0) == "2"), None)
    walls = next(script.of("boundary"), None)
    if flat and walls and len(walls.words) == 3 and is_known(walls.text) and walls.words[2] != "p":
        yield _wrong(walls, f"a model of dimension 2 must be periodic in z, not {walls.words[2]}", "boundary",
                     f"Write boundary {' '.join(walls.words[:2])} p.")  # fmt: skip


def _is_warm(script: Script) -> bool:
    """Atoms got velocities, or a thermostat: so they are meant to move."""
    speeds = any(command.word(1) == "create" for command in script.of("velocity"))
    heated = any(re.match(r"langevin|temp/", command.word(2)) for command in script.of("fix"))
    return (speeds or heated) and not any(True for _ in script.of("minimize"))


def _length(script: Script) -> Iterator[Finding]:
    moves = any(_MOVES.match(command.word(2)) for command in script.of("fix"))
    adapts = any(command.word(2) == "dt/reset" for command in script.of("fix"))
    adapts |= any({"electron", "wavepacket"} & set(command.words) for command in script.of("atom_style"))  # they are that light
    units, step = "lj", None
    for command in script.commands:
        if command.name == "units":
            units = command.word(0)
            step = _USUAL.get(units)
        elif command.name == "timestep":
            step = number(command.word(0))
            yield from _absurd(command, units, adapts) if moves and any(_steps_on(run) for run in script.of("run")) else ()
        elif command.name == "fix" and step and _COUPLED.fullmatch(command.word(2)):
            yield from _damping(command, step)


def _steps_on(run: Command) -> bool:
    return run.word(0) not in ("0", "1")


def _absurd(command: Command, units: str, adapts: bool) -> Iterator[Finding]:
    value = number(command.word(0))
    if units not in _STEPS or not value or value < 0:
        return
    least, most, usual, name = _STEPS[units]
    if value > most or value < least and not adapts:
        yield warning(f"{command.where}: in units {units} a time step of {command.word(0)} means {value:g} {name}, which is far too "
                      f"{'long' if value > most else 'short'}.", file=command.file, line=command.line, thing="timestep",
                      remedy=f"Usual is timestep {usual}; or change the units.")  # fmt: skip


def _damping(command: Command, step: float) -> Iterator[Finding]:
    """A thermostat or barostat that is to act faster than one time step."""
    words = command.words[3:]
    for at, word in enumerate(words):
        if word in ("temp", "iso", "aniso", "tri", "x", "y", "z") and (not at or words[at - 1] != "couple"):
            value = number(words[at + 3]) if at + 3 < len(words) else None
            if value is not None and 0 < value < step:
                yield warning(f"{command.where}: {word} is damped within {words[at + 3]}, less than one time step of {step:g}.", file=command.file,
                              line=command.line, thing=word,
                              remedy=f"Usual are {'100' if word == 'temp' else '1000'} time steps: {step * (100 if word == 'temp' else 1000):g}.")  # fmt: skip
                return


def _counted(script: Script) -> Iterator[Finding]:
    """The step counter, as far as it is known: `least` is a bound from below, `exact` whether it is the value itself."""
    least, exact = 0, True
    for command in script.commands:
        first = int(command.word(0)) if command.word(0).isdigit() else None
        if command.name in ("clear", "reset_timestep"):
            least, exact = (first or 0, first is not None) if command.name == "reset_timestep" else (0, True)
        elif command.name == "run" and first is not None:
            upto = "upto" in command.words
            if upto and first < least:
                yield _wrong(command, f"run {first} upto ends before the present step, which is {'' if exact else 'at least '}{least}",
                             "upto", f"Write run N for N more steps, or a number above {least}.")  # fmt: skip
                return
            end = first if upto else least + first
            yield from _window(command, least, end, exact)
            least, exact = end, exact or upto
        elif command.name in ("run", "minimize", "read_restart", "read_dump", "read_data"):
            exact = exact and command.name == "read_data"


def _window(command: Command, least: int, end: int, exact: bool) -> Iterator[Finding]:
    """`start` must not lie behind the first step of a run, `stop` not before its last."""
    given = dict(zip(command.words, command.words[1:], strict=False))
    start, stop = given.get("start", ""), given.get("stop", "")
    if start.isdigit() and exact and int(start) > least:
        yield _wrong(command, f"run begins at step {least}, before its start {start}", "start", "Give the step at which the ramp begins.")
    if stop.isdigit() and int(stop) < end:
        yield _wrong(command, f"run ends at step {end}, behind its stop {stop}", "stop", f"Write stop {end} or later.")


def averages(script: Script) -> Iterator[Finding]:
    """fix ave/...: Nfreq is a multiple of Nevery, and Nrepeat times Nevery fit into it."""
    for command in script.of("fix"):
        if command.word(2) not in ("ave/time", "ave/chunk", "ave/histo", "ave/atom", "ave/histo/weight"):
            continue
        words = command.words[3:6]
        if len(words) < 3 or not all(map(is_known, words)) or not all(word.isdigit() for word in words):
            continue
        every, repeat, often = map(int, words)
        if not every or not repeat or not often or often % every or every * repeat > often:
            yield _wrong(command, f"fix {command.word(2)} {every} {repeat} {often}: the third must be a multiple of the first and at least the "
                         "first two multiplied", command.word(2), f"Write for instance {every or 1} {repeat or 1} {max(1, every) * max(1, repeat)}.")  # fmt: skip


def _wrong(command: Command, what: str, thing: str, remedy: str) -> Finding:
    return error(f"{command.where}: {what}.", file=command.file, line=command.line, thing=thing, remedy=remedy)

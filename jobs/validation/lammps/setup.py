"""What must stand before what in a LAMMPS script: regions, a lattice, styles, and settings that a box makes final.

The one idea to know: each rule is an error with which LAMMPS itself ends, and is only held against a script that is read from top
to bottom: no branches, no `clear`, nothing included that is not here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error
from .script import Command, Script, is_known, number

_FINAL = {"units", "atom_style", "dimension", "boundary", "newton", "processors"}
_BOX = ("create_box", "read_data", "read_restart")
_COEFFICIENTS = {"pair_coeff": "pair_style", "bond_coeff": "bond_style", "angle_coeff": "angle_style", "dihedral_coeff": "dihedral_style",
                 "improper_coeff": "improper_style"}  # fmt: skip
_CUT = re.compile(
    r"^(lj/(cut|gromacs|smooth|expand|sf)|buck|morse|yukawa|soft|born|lj96/cut|mie/cut|lj/cut/coul/(cut|long|msm|debye|dsf|wolf))$"
)
_LONG = re.compile(r"(coul/(long|msm)|tip4p/long|lj/long|buck/long)")


def check(script: Script) -> Iterator[Finding]:
    names = {command.name for command in script.commands}
    for command in script.of("velocity"):
        yield from _velocity(command)
    for command in script.of("minimize"):
        if len(command.words) < 4 and is_known(command.text):
            yield _wrong(command, f"minimize wants four numbers, there are {len(command.words)}", "minimize",
                         "Write minimize etol ftol maxiter maxeval.")  # fmt: skip
    if not script.complete or names & {"if", "jump", "clear", "python", "plugin", "partition", "rerun"}:
        return
    yield from _order(script)
    yield from _regions(script)
    yield from _box(script)
    yield from _kspace(script)


def _velocity(command: Command) -> Iterator[Finding]:
    if command.word(1) == "create":
        seed = command.word(3)
        if is_known(seed) and (not re.fullmatch(r"[-+]?\d+", seed) or int(seed) <= 0):
            yield _wrong(command, f"velocity create wants a seed above zero, not {seed or 'nothing'}", seed or "seed",
                         "Write velocity GROUP create TEMP SEED.")  # fmt: skip


def _order(script: Script) -> Iterator[Finding]:
    """Coefficients before their style, settings after the box."""
    seen: set[str] = set()
    box: Command | None = None
    told: set[str] = set()
    for command in script.commands:
        style = _COEFFICIENTS.get(command.name)
        if style and style not in seen and "read_restart" not in seen and command.name not in told:
            told.add(command.name)
            yield _wrong(command, f"{command.name} comes before there is a {style}", command.name, f"Put {style} above it.")
        if command.name in _FINAL and box is not None and command.name not in told:
            told.add(command.name)
            yield _wrong(command, f"{command.name} must stand before the box, which {box.name} makes in line {box.line}", command.name,
                         f"Put it above {box.name}.")  # fmt: skip
        if command.name == "pair_style" and _CUT.match(command.word(0)) and len(command.words) < 2:
            yield _wrong(
                command, f"pair_style {command.word(0)} has no cut-off", command.word(0), f"Write pair_style {command.word(0)} CUTOFF."
            )
        seen.add(command.name)
        box = box or (command if command.name in _BOX else None)


def _regions(script: Script) -> Iterator[Finding]:
    known = {command.word(0) for command in script.of("region")}
    if not all(map(is_known, known)):
        return
    for command in script.commands:
        name = _region_of(command)
        if name and is_known(name) and name not in known and name not in ("NULL", "none"):
            near = difflib.get_close_matches(name, sorted(known), 1, 0.4)
            yield _wrong(command, f"{command.name} uses the region {name}, which is never defined", name,
                         f"Did you mean {near[0]}?" if near else "Define it before.")  # fmt: skip


def _region_of(command: Command) -> str:
    words = command.words
    if command.name == "create_box":
        return command.word(1)
    if command.name in ("create_atoms", "group") and command.word(1) == "region":
        return command.word(2)
    if command.name in ("delete_atoms", "set") and command.word(0) == "region":
        return command.word(1)
    return words[4] if command.name == "fix" and len(words) > 4 and words[2] == "wall/region" else ""


def _box(script: Script) -> Iterator[Finding]:
    """A lattice for what is put on one, and types within what create_box allows."""
    boxes = list(script.of("create_box"))
    count = int(boxes[0].word(0)) if len(boxes) == 1 and boxes[0].word(0).isdigit() and not any(script.of("read_data")) else None
    lattice = False
    for command in script.commands:
        lattice |= command.name == "lattice"
        if command.name == "create_atoms" and command.word(1) in ("box", "region") and not lattice:
            yield _wrong(
                command, "create_atoms fills a lattice, but none is defined before it", "lattice", "Put a lattice command above it."
            )
            lattice = True
        named = {"create_atoms": command.words[:1], "mass": command.words[:1], "pair_coeff": command.words[:2]}.get(command.name, ())
        beyond = next((word for word in named if count and word.isdigit() and int(word) > count), None)
        if beyond:
            yield _wrong(command, f"there {'is 1 type' if count == 1 else f'are {count} types'} of atoms (create_box), but {command.name} "
                         f"names type {beyond}", beyond, "Correct the type, or the number in create_box.")  # fmt: skip
            return


def _kspace(script: Script) -> Iterator[Finding]:
    run = next(script.of("run", "minimize"), None)
    style = next(script.of("pair_style"), None)
    if (
        run
        and style
        and _LONG.search(" ".join(style.words))
        and "long off" not in " ".join(style.words)
        and not any(script.of("kspace_style"))
    ):
        yield _wrong(style, f"pair_style {style.word(0)} needs a kspace_style, and there is none", "kspace_style",
                     "Add for instance kspace_style pppm 1.0e-4.")  # fmt: skip
    yield from _open_box(script)


def _open_box(script: Script) -> Iterator[Finding]:
    """Ewald sums in a box with walls: only with a slab or a wire, or by MSM."""
    solver = next(script.of("kspace_style"), None)
    walls = next(script.of("boundary"), None)
    helped = any({"slab", "wire"} & set(command.words) for command in script.of("kspace_modify"))
    if not solver or not walls or helped or len(list(script.of("kspace_style"))) > 1 or any(script.of("change_box")):
        return
    if (
        re.match(r"(pppm|ewald)", solver.word(0))
        and len(walls.words) == 3
        and all(map(is_known, walls.words))
        and set(walls.words) != {"p"}
    ):
        yield _wrong(solver, f"kspace_style {solver.word(0)} wants periodic boundaries, and {walls.where} says boundary "
                     f"{' '.join(walls.words)}", "boundary", "Write boundary p p p, kspace_modify slab 3.0 (for p p f), or kspace_style msm.")  # fmt: skip


def positive(command: Command, style: str, words: tuple[str, ...], at: int) -> Iterator[Finding]:
    """The damping time at this place must be above zero."""
    value = number(words[at]) if at < len(words) else None
    if value is not None and value <= 0:
        yield _wrong(command, f"fix {style}: the damping time is {words[at]}", style, "Give a time above zero.")


def _wrong(command: Command, what: str, thing: str, remedy: str) -> Finding:
    return error(f"{command.where}: {what}.", file=command.file, line=command.line, thing=thing, remedy=remedy)

"""How many atoms a LAMMPS script makes, against the memory of the nodes.

The one idea to know: atoms come from the head of a data file, from a lattice that fills a region, or from `create_atoms random`, and
`replicate` multiplies what is there. Where one of these is not plain, it counts as nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, prod

from ..base import Finding, Request, error, warning
from .data import Data
from .script import Command, Script, number

_BASIS = {"sc": 1, "bcc": 2, "fcc": 4, "hcp": 4, "diamond": 8, "sq": 1, "sq2": 2, "hex": 2}
_FLAT = ("sq", "sq2", "hex")
_BYTES = 300  # of an atom with its neighbours, at the very least


def check(request: Request, script: Script, data: Data | None) -> Iterator[Finding]:
    atoms, command = count(script, data)
    have = (request.memory or 0) * request.nodes
    need = atoms * _BYTES
    if command and have and need > have:
        make = error if need > 2 * have else warning
        yield make(f"{command.where} ({command.name}) makes about {atoms:,.0f} atoms: they need at least {need / (1 << 30):,.1f} GiB of memory, the hardware has "
                   f"{have / (1 << 30):.1f} GiB.", file=command.file, line=command.line, thing="memory",
                   remedy="Choose hardware with more memory, or a smaller model.")  # fmt: skip


def count(script: Script, data: Data | None) -> tuple[float, Command | None]:
    """The most atoms that there are at once, and the command that makes them."""
    there, most, by = 0.0, 0.0, None
    regions = {command.word(0): command for command in script.of("region")}
    lattice, units, box = None, "lj", ""
    for command in script.commands:
        if command.name == "clear":
            there = 0.0
        elif command.name == "units":
            units = command.word(0)
        elif command.name == "create_box":
            box = box or command.word(1)
        elif command.name == "lattice":
            lattice = command
        elif command.name == "read_data":
            there += data.counts.get("atom", 0) if data else 0
        elif command.name == "create_atoms":
            there += _created(command, regions.get(command.word(2) if command.word(1) == "region" else box), lattice, units)
        elif command.name == "replicate":
            there *= prod(int(word) for word in command.words[:3] if word.isdigit()) or 1
        if there > most:
            most, by = there, command
    return most, by


def _created(command: Command, region: Command | None, lattice: Command | None, units: str) -> float:
    if command.word(1) == "random":
        return float(command.word(2)) if command.word(2).isdigit() else 0.0
    if command.word(1) not in ("box", "region") or lattice is None or lattice.word(0) not in _BASIS:
        return 0.0
    side = _side(lattice, units)
    if region is None or side is None:
        return 0.0
    cells = _volume(region, flat=lattice.word(0) in _FLAT)
    boxed = "units" in region.words and "box" in region.words
    return cells / (side ** (2 if lattice.word(0) in _FLAT else 3) if boxed else 1.0) * _BASIS[lattice.word(0)]


def _side(lattice: Command, units: str) -> float | None:
    """The length of the unit cell; in units lj a lattice is given by its density."""
    scale = number(lattice.word(1))
    if scale is None or scale <= 0:
        return None
    flat = lattice.word(0) in _FLAT
    return (_BASIS[lattice.word(0)] / scale) ** (1 / 2 if flat else 1 / 3) if units == "lj" else scale


def _volume(region: Command, flat: bool) -> float:
    """In the region's own lengths; 0 where it is not plain."""
    style, values = region.word(1), [number(word) for word in region.words[2:]]
    if style in ("block", "prism") and len(values) >= 6 and None not in values[:6]:
        plain = [value or 0.0 for value in values[:6]]
        sides = [high - low for low, high in zip(plain[::2], plain[1::2], strict=True)]
        return prod(sides[:2] if flat else sides) if min(sides) > 0 else 0.0
    if style == "sphere" and len(values) >= 4 and values[3] is not None:
        return pi * values[3] ** 2 if flat else 4 / 3 * pi * values[3] ** 3
    if style == "cylinder" and len(values) >= 6 and None not in values[3:6]:
        radius, low, high = (value or 0.0 for value in values[3:6])
        return pi * radius**2 * (1.0 if flat else max(high - low, 0.0))
    return 0.0

"""A CalculiX deck of ours: a box-shaped spar, clamped at its root, bent by a load at its tip that grows step by step.

One idea: large displacements (NLGEOM) make the solver iterate in every increment, so there is something to watch.
Units: N, mm, tonne, so stresses are in MPa.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

LENGTH, WIDTH, HEIGHT = 1000.0, 60.0, 40.0
STEEL = (210_000.0, 0.3)
LOAD = 22_000.0
INCREMENTS = 50


def deck(nx: int = 50, ny: int = 4, nz: int = 3) -> str:
    """The input file, for a mesh of nx * ny * nz bricks with 20 nodes each."""
    grid = _nodes(nx, ny, nz)
    number = {place: index for index, place in enumerate(grid, 1)}
    root = [number[place] for place in grid if place[0] == 0]
    tip = [number[place] for place in grid if place[0] == 2 * nx]
    lines = ["** Wing spar: cantilever with a growing load at its tip", "*NODE, NSET=ALL"]
    lines += [f"{number[p]}, {p[0] * LENGTH / nx / 2:g}, {p[1] * WIDTH / ny / 2:g}, {p[2] * HEIGHT / nz / 2:g}" for p in grid]
    lines += ["*ELEMENT, TYPE=C3D20R, ELSET=SPAR", *_elements(nx, ny, nz, number)]
    lines += ["*NSET, NSET=ROOT", *_wrapped(root), "*NSET, NSET=TIP", *_wrapped(tip)]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", f"{STEEL[0]:g}, {STEEL[1]:g}", "*SOLID SECTION, ELSET=SPAR, MATERIAL=STEEL"]
    lines += ["*BOUNDARY", "ROOT, 1, 3", f"*STEP, NLGEOM, INC={4 * INCREMENTS}", "*STATIC"]
    lines += [f"{1 / INCREMENTS:g}, 1., 1e-5, {1 / INCREMENTS:g}"]
    lines += ["*CLOAD", f"TIP, 3, {LOAD / len(tip):g}", "*NODE FILE, FREQUENCY=10", "U", "*EL FILE, FREQUENCY=10", "S"]
    return "\n".join([*lines, "*NODE PRINT, NSET=TIP, FREQUENCY=10", "U", "*END STEP", ""])


def _nodes(nx: int, ny: int, nz: int) -> list[tuple[int, int, int]]:
    """Corners and middles of edges, counted in half bricks: at most one of the three is odd."""
    return [place for place in product(range(2 * nx + 1), range(2 * ny + 1), range(2 * nz + 1)) if sum(n % 2 for n in place) <= 1]


CORNERS = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2))
EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))


def _elements(nx: int, ny: int, nz: int, number: dict[tuple[int, int, int], int]) -> Iterator[str]:
    middles = [tuple((a + b) // 2 for a, b in zip(CORNERS[i], CORNERS[j], strict=True)) for i, j in EDGES]
    for index, (i, j, k) in enumerate(product(range(nx), range(ny), range(nz)), 1):
        nodes = [number[2 * i + x, 2 * j + y, 2 * k + z] for x, y, z in (*CORNERS, *middles)]
        yield f"{index}, " + ", ".join(map(str, nodes[:15])) + ","
        yield ", ".join(map(str, nodes[15:]))


def _wrapped(numbers: list[int], each: int = 12) -> Iterator[str]:
    for start in range(0, len(numbers), each):
        yield ", ".join(map(str, numbers[start : start + each])) + ","

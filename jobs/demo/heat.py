#!/usr/bin/env python3
"""Steady heat conduction in a plate: reads a deck, iterates until the residual is small, writes a table and a picture.

Finite volumes on a regular grid, Gauss-Seidel with over-relaxation, nothing beside the standard library. Between two
cells the conductance is the harmonic mean of theirs, so the flux is right across the border of two materials.

    python3 heat.py plate.txt       exit code 0: converged; 2: the deck is wrong; 3: not converged

The deck, a line each, in SI units ("#" begins a comment):
    title WORDS            grid NX NY               size WIDTH HEIGHT
    material NAME CONDUCTIVITY                      block NAME X0 Y0 X1 Y1    (later ones lie on top)
    source WATTS_A_CUBIC_METRE X0 Y0 X1 Y1          edge left|right|top|bottom TEMPERATURE|insulated
    tolerance RESIDUAL     relaxation FACTOR        iterations LIMIT          every ITERATIONS
"""

import math
import struct
import sys
import time
import zlib

SIDES = ("left", "right", "top", "bottom")
PALETTE = [(24, 15, 62), (69, 16, 119), (114, 31, 129), (159, 47, 127), (205, 64, 113), (241, 96, 93), (253, 149, 103), (254, 202, 141)]


class DeckError(Exception):
    """What is wrong with the deck, with its line."""


class Deck:
    def __init__(self, path):
        self.title, self.grid, self.size = "untitled", (40, 30), (0.4, 0.3)
        self.materials, self.blocks, self.sources, self.edges = {}, [], [], {}
        self.tolerance, self.relaxation, self.iterations, self.every = 1e-6, 1.0, 100000, 20
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                words = line.partition("#")[0].split()
                if words:
                    self._read(path, number, words)
        if not self.blocks:
            raise DeckError(f"{path}: there is no block, so the plate has no material")
        if not any(isinstance(value, float) for value in self.edges.values()):
            raise DeckError(f"{path}: no edge has a temperature, so there is no single solution")

    def _read(self, path, number, words):
        try:
            getattr(self, "read_" + words[0])(*words[1:])
        except AttributeError:
            raise DeckError(f"{path}, line {number}: unknown word {words[0]!r}") from None
        except (TypeError, ValueError, KeyError) as error:
            raise DeckError(f"{path}, line {number}: cannot read {' '.join(words)!r} ({error})") from None

    def read_title(self, *words):
        self.title = " ".join(words)

    def read_grid(self, nx, ny):
        self.grid = int(nx), int(ny)

    def read_size(self, width, height):
        self.size = float(width), float(height)

    def read_material(self, name, conductivity):
        self.materials[name] = float(conductivity)

    def read_block(self, name, *corners):
        self.blocks.append((self.materials[name], box(corners)))

    def read_source(self, watts, *corners):
        self.sources.append((float(watts), box(corners)))

    def read_edge(self, side, value):
        if side not in SIDES:
            raise ValueError("an edge is one of " + ", ".join(SIDES))
        self.edges[side] = "insulated" if value == "insulated" else float(value)

    def read_tolerance(self, value):
        self.tolerance = float(value)

    def read_relaxation(self, value):
        self.relaxation = float(value)

    def read_iterations(self, value):
        self.iterations = int(value)

    def read_every(self, value):
        self.every = int(value)


class Plate:
    """The equations: for each cell its neighbours with their conductances, and what comes in from edges and sources."""

    def __init__(self, deck):
        self.nx, self.ny = deck.grid
        self.dx, self.dy = deck.size[0] / self.nx, deck.size[1] / self.ny
        self.conductivity = self._fill(deck.blocks)
        self.heat = self._fill(deck.sources, 0.0, add=True)
        fixed = [value for value in deck.edges.values() if isinstance(value, float)]
        self.temperature = [sum(fixed) / len(fixed)] * (self.nx * self.ny)
        self.rows = [self._row(deck, index) for index in range(self.nx * self.ny)]

    def _fill(self, boxes, start=None, add=False):
        values = [start] * (self.nx * self.ny)
        for value, (x0, y0, x1, y1) in boxes:
            for index in range(len(values)):
                x, y = self.centre(index)
                if x0 <= x <= x1 and y0 <= y <= y1:
                    values[index] = values[index] + value if add else value
        if None in values:
            raise DeckError("cell at x=%g y=%g has no material" % self.centre(values.index(None)))
        return values

    def centre(self, index):
        row, column = divmod(index, self.nx)
        return (column + 0.5) * self.dx, (row + 0.5) * self.dy

    def _row(self, deck, index):
        """(cell, [(neighbour, conductance), ...], inflow, sum of conductances)"""
        row, column = divmod(index, self.nx)
        inflow, total, neighbours = self.heat[index] * self.dx * self.dy, 0.0, []
        for side, r, c, shape in (
            ("left", row, column - 1, self.dy / self.dx), ("right", row, column + 1, self.dy / self.dx),
            ("bottom", row - 1, column, self.dx / self.dy), ("top", row + 1, column, self.dx / self.dy),
        ):
            own = self.conductivity[index]
            if 0 <= r < self.ny and 0 <= c < self.nx:
                other = self.conductivity[r * self.nx + c]
                conductance = shape * 2 * own * other / (own + other)
                neighbours.append((r * self.nx + c, conductance))
            elif isinstance(deck.edges.get(side), float):
                conductance = shape * 2 * own
                inflow += conductance * deck.edges[side]
            else:
                continue
            total += conductance
        return index, neighbours, inflow, total

    def sweep(self, relaxation):
        """One iteration over all cells; returns the largest change of a temperature."""
        temperature, largest = self.temperature, 0.0
        for index, neighbours, inflow, total in self.rows:
            flow = inflow
            for other, conductance in neighbours:
                flow += conductance * temperature[other]
            change = relaxation * (flow / total - temperature[index])
            temperature[index] += change
            if change > largest or -change > largest:
                largest = abs(change)
        return largest


def solve(deck, plate):
    """Iterate; True if the residual (largest change, relative to the first one) fell below the tolerance."""
    began, first = time.monotonic(), None
    print(f"{'iteration':>10} {'residual':>12} {'T min':>10} {'T max':>10} {'seconds':>9}")
    for iteration in range(1, deck.iterations + 1):
        change = plate.sweep(deck.relaxation)
        first = first or change or 1.0
        residual = change / first
        done = residual < deck.tolerance
        if not math.isfinite(residual) or residual > 1e6:
            print(f"DIVERGED in iteration {iteration}: take a smaller relaxation")
            return False
        if done or iteration % deck.every == 0:
            low, high = min(plate.temperature), max(plate.temperature)
            print(f"{iteration:10d} {residual:12.4e} {low:10.3f} {high:10.3f} {time.monotonic() - began:9.2f}", flush=True)
        if done:
            print(f"CONVERGED after {iteration} iterations")
            return True
    print(f"NOT CONVERGED after {deck.iterations} iterations")
    return False


def write_table(path, plate):
    with open(path, "w", encoding="utf-8") as file:
        file.write("x,y,temperature\n")
        for index, value in enumerate(plate.temperature):
            file.write("%.5f,%.5f,%.4f\n" % (*plate.centre(index), value))


def write_picture(path, plate, zoom=8):
    """A PNG with a colour for each cell, the top of the plate on top."""
    low, high = min(plate.temperature), max(plate.temperature)
    lines = []
    for row in reversed(range(plate.ny)):
        cells = plate.temperature[row * plate.nx:(row + 1) * plate.nx]
        line = b"".join(colour((value - low) / (high - low or 1.0)) * zoom for value in cells)
        lines += [b"\0" + line] * zoom
    head = struct.pack(">IIBBBBB", plate.nx * zoom, plate.ny * zoom, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(lines))) + chunk(b"IEND", b""))


def colour(part):
    """RGB for 0 (cold) to 1 (hot)."""
    place = min(max(part, 0.0), 1.0) * (len(PALETTE) - 1)
    index = min(int(place), len(PALETTE) - 2)
    return bytes(round(a + (b - a) * (place - index)) for a, b in zip(PALETTE[index], PALETTE[index + 1]))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def box(corners):
    x0, y0, x1, y1 = (float(value) for value in corners)
    return x0, y0, x1, y1


def main(argv):
    if len(argv) != 2:
        print("usage: heat.py DECK", file=sys.stderr)
        return 2
    try:
        deck = Deck(argv[1])
        plate = Plate(deck)
    except (DeckError, OSError, UnicodeDecodeError) as error:
        print(f"*ERROR {error}", file=sys.stderr)
        return 2
    print(f"{deck.title}\n{plate.nx} x {plate.ny} cells, tolerance {deck.tolerance:g}")
    converged = solve(deck, plate)
    write_table("result.csv", plate)
    write_picture("plate.png", plate)
    print("wrote result.csv and plate.png")
    return 0 if converged else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv))

"""The demo's solver and its deck: real physics, real files, clear errors; and the deck for CalculiX."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from jobs.demo import beam

DEMO = Path(beam.__file__).parent
STRIP = """
title       a strip between two temperatures
grid        {nx} 3
size        1.0 0.3
material    steel {conductivity}
block       steel 0 0 1.0 0.3
edge        left 400
edge        right 300
relaxation  1.7
tolerance   1e-9
"""


def solve(folder: Path, deck: str) -> subprocess.CompletedProcess[str]:
    (folder / "deck.txt").write_text(deck)
    return subprocess.run([sys.executable, str(DEMO / "heat.py"), "deck.txt"], cwd=folder, capture_output=True, text=True, timeout=60)


def table(folder: Path) -> list[tuple[float, float, float]]:
    rows = (folder / "result.csv").read_text().splitlines()[1:]
    return [tuple(float(value) for value in row.split(",")) for row in rows]


def test_a_strip_has_the_exact_linear_solution(tmp_path):
    done = solve(tmp_path, STRIP.format(nx=20, conductivity=45))
    assert done.returncode == 0
    assert "CONVERGED" in done.stdout
    assert all(abs(value - (400 - 100 * x)) < 0.01 for x, _, value in table(tmp_path))


def test_two_materials_share_the_fall_by_their_resistance(tmp_path):
    deck = STRIP.format(nx=20, conductivity=10) + "material copper 30\nblock copper 0.5 0 1.0 0.3\n"
    assert solve(tmp_path, deck).returncode == 0
    border = [value for x, _, value in table(tmp_path) if abs(x - 0.475) < 1e-6]
    # resistances 0.5/10 and 0.5/30: three quarters of the fall lie in the steel
    assert border[0] == pytest.approx(400 - 75 * 0.475 / 0.5, abs=0.05)


def test_the_picture_is_a_png_of_the_plate(tmp_path):
    solve(tmp_path, STRIP.format(nx=20, conductivity=45))
    data = (tmp_path / "plate.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    start = data.index(b"IDAT")
    length = int.from_bytes(data[start - 4 : start], "big")
    pixels = zlib.decompress(data[start + 4 : start + 4 + length])
    assert len(pixels) == 3 * 8 * (1 + 3 * 20 * 8)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("colour blue", "line 11: unknown word 'colour'"),
        ("edge front 300", "an edge is one of"),
        ("block gold 0 0 1 1", "line 11: cannot read"),
        ("grid many 3", "line 11: cannot read"),
    ],
)
def test_a_wrong_deck_names_its_line(tmp_path, line, says):
    done = solve(tmp_path, STRIP.format(nx=5, conductivity=45) + line)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "result.csv").exists()


def test_not_converged_is_an_exit_code(tmp_path):
    done = solve(tmp_path, STRIP.format(nx=20, conductivity=45) + "iterations 3")
    assert (done.returncode, "NOT CONVERGED" in done.stdout) == (3, True)


def test_the_shipped_deck_is_read(tmp_path):
    deck = (DEMO / "plate.txt").read_text() + "\niterations 60\n"
    done = solve(tmp_path, deck)
    assert done.returncode == 3
    assert "108 x 72 cells" in done.stdout


@pytest.mark.skipif(not shutil.which("ccx"), reason="needs calculix-ccx")
def test_calculix_bends_the_spar_as_beam_theory_says(tmp_path):
    deck = beam.deck(nx=10, ny=2, nz=2).replace(f"{1 / beam.INCREMENTS:g}, 1., 1e-5, {1 / beam.INCREMENTS:g}", "0.5, 1., 1e-5, 0.5")
    (tmp_path / "spar.inp").write_text(deck)
    done = subprocess.run(["ccx", "-i", "spar"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "Job finished" in done.stdout
    last = (tmp_path / "spar.dat").read_text().split()[-1]
    inertia = beam.WIDTH * beam.HEIGHT**3 / 12
    assert float(last) == pytest.approx(beam.LOAD * beam.LENGTH**3 / (3 * beam.STEEL[0] * inertia), rel=0.05)

"""How long a healthy deck of 2 GB takes, and 10,000 files, by solver; with the time of only reading the bytes beside it.

    python tests/bench/validation_speed.py [--size BYTES] [--files N] [SOLVER ...]

The one idea to know: it asks as the portal does, in the child process with its limits; `peak` is that child's memory. A row that
has a finding is not healthy, and says so.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASES = ROOT / "tests" / "cases" / "validation" / "bases"
sys.path.insert(0, str(ROOT))

from jobs.validation import Finding, Folder, Request, run_apart  # noqa: E402

BLOCK = 1 << 20


def main() -> None:
    asked = _asked()
    print(f"{'':18}{'bytes':>16}{'files':>8}{'seconds':>9}{'read only':>11}{'peak MB':>9}  findings")
    for name in asked.solvers or DECKS:
        for many in (False, True):
            with tempfile.TemporaryDirectory(prefix="headrace-bench-", dir=asked.folder) as place:
                folder = Path(place)
                command = DECKS[name](folder, 0 if many else asked.size)
                if many:
                    _scatter(folder, asked.files)
                _apart(lambda: _row(name, folder, command))  # noqa: B023  (called at once)


def _row(name: str, folder: Path, command: str) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    total = sum(path.stat().st_size for path in files)
    bare = _timed(lambda: _read(files))
    found: list[Finding] = []
    took = _timed(lambda: found.extend(run_apart(Request(name, "", command, 2, Folder(folder), memory=1 << 50))))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    words = "; ".join(f"{one.severity}: {one.message}"[:90] for one in found) or "none"
    print(f"{name:18}{total:>16,}{len(files):>8,}{took:>9.1f}{bare:>11.1f}{peak:>9}  {words}", flush=True)


def _apart(act: Callable[[], None]) -> None:
    """In a process of its own, whose children's memory is counted from nothing."""
    sys.stdout.flush()
    if pid := os.fork():
        os.waitpid(pid, 0)
        return
    act()
    sys.stdout.flush()
    os._exit(0)


def _timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _read(files: list[Path]) -> None:
    for path in files:
        with path.open("rb", buffering=0) as stream:
            while stream.read(BLOCK):
                pass


def _scatter(folder: Path, count: int) -> None:
    for at in range(count):
        place = folder / f"part{at % 100:02}"
        place.mkdir(exist_ok=True)
        (place / f"table{at}.csv").write_text("1,2,3\n" * 20)


# --- decks ------------------------------------------------------------------------------------------------------------
def _fill(path: Path, size: int, line: Callable[[int], str], before: str = "", after: str = "", count: str = "") -> int:
    """A file of at least `size` bytes of numbered lines between two texts; how many lines. `count` in `before` is replaced."""
    lines = max(1, size // len(line(10**7)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        stream.write(before.replace(count, str(lines)) if count else before)
        for text in _blocks(lines, line):
            stream.write(text)
        stream.write(after.replace(count, str(lines)) if count else after)
    return lines


def _blocks(lines: int, line: Callable[[int], str]) -> Iterator[str]:
    for first in range(1, lines + 1, 20_000):
        yield "".join(line(at) for at in range(first, min(first + 20_000, lines + 1)))


def calculix(folder: Path, size: int) -> str:
    shutil.copytree(BASES / "calculix", folder, dirs_exist_ok=True)
    deck = (folder / "block.inp").read_text()
    nodes = "*NODE, NSET=FAR\n"
    _fill(folder / "far.inp", size, lambda at: f"{at + 1000:>10}, {at * 1e-3:>14.6f}, {at * 2e-3:>14.6f}, {at * 3e-3:>14.6f}\n", nodes)
    (folder / "block.inp").write_text("*INCLUDE, INPUT=far.inp\n" + deck)
    return "ccx block"


def openfoam(folder: Path, size: int) -> str:
    shutil.copytree(BASES / "openfoam", folder, dirs_exist_ok=True)
    head = "FoamFile\n{\n    version 2.0;\n    format ascii;\n    class vectorField;\n    object points;\n}\nCOUNT\n(\n"
    _fill(
        folder / "constant" / "triSurface" / "points", size // 2, lambda at: f"({at * 1e-3:.6f} {at * 2e-3:.6f} 0)\n", head, ")\n", "COUNT"
    )
    field = (folder / "0" / "U").read_text()
    start, _, rest = field.partition("internalField")
    _fill(folder / "0" / "U", size // 2, lambda at: f"({at * 1e-3:.6f} {at * 2e-3:.6f} 0)\n",
          start + "internalField nonuniform List<vector> COUNT\n(\n", ")\n;\n" + rest.partition(";")[2], "COUNT")  # fmt: skip
    return "blockMesh && icoFoam"


def lammps(folder: Path, size: int) -> str:
    (folder / "in.lj").write_text(
        "units lj\natom_style atomic\nread_data start.data\nmass 1 1.0\npair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0\nfix 1 all nve\nrun 10\n"
    )
    head = "LJ\n\nCOUNT atoms\n1 atom types\n0 100000 xlo xhi\n0 100000 ylo yhi\n0 100000 zlo zhi\n\nAtoms\n\n"
    _fill(folder / "start.data", size, lambda at: f"{at} 1 {at % 99991:.4f} {at % 99989:.4f} {at % 99971:.4f}\n", head, count="COUNT")
    return "lmp -in in.lj"


def gromacs(folder: Path, size: int) -> str:
    shutil.copytree(BASES / "gromacs", folder, dirs_exist_ok=True)
    command = "gmx grompp -f md.mdp -c conf.gro -p topol.top -o run.tpr && gmx mdrun -s run.tpr -nt 2"
    if not size:
        return command
    lines = _fill(folder / "conf.gro", size // 2, lambda at: f"{at % 99999:>5}{'AR':<5}{'AR':>5}{at % 99999:>5}{at % 90:>8.3f}{at % 80:>8.3f}{at % 70:>8.3f}\n",
                  "Argon\nCOUNT\n", "  100.0 100.0 100.0\n", "COUNT")  # fmt: skip
    _fill(folder / "far.itp", size // 4, lambda at: f"{at} AR 1 AR AR {at} 0.0 39.948\n", "[ moleculetype ]\nFAR 1\n[ atoms ]\n",
          "[ bonds ]\n1 2 1 0.1 100.0\n")  # fmt: skip
    _fill(folder / "near.itp", size // 4, lambda at: f"{at} {at + 1} 1 0.1 100.0\n", "[ bonds ]\n")
    top = (folder / "topol.top").read_text()
    start, _, rest = top.partition("[ system ]")
    kept = rest.rstrip().splitlines()
    kept[-1] = f"{kept[-1].split()[0]} {lines}"
    whole = start + '#include "far.itp"\n#include "near.itp"\n[ system ]' + "\n".join(kept) + "\n"
    (folder / "topol.top").write_text(whole)
    return command


def quantum_espresso(folder: Path, size: int) -> str:
    shutil.copytree(BASES / "espresso", folder, dirs_exist_ok=True)
    deck = (folder / "h.in").read_text()
    start, _, _ = deck.partition("K_POINTS")
    _fill(folder / "h.in", size, lambda at: f"{at % 97 / 97:.8f} {at % 89 / 89:.8f} {at % 83 / 83:.8f} 1.0\n",
          start + "K_POINTS crystal\nCOUNT\n", count="COUNT")  # fmt: skip
    return "sh make-Htiny.sh && pw.x -in h.in"


def nwchem(folder: Path, size: int) -> str:
    _fill(folder / "w.nw", size, lambda at: f"  {at * 1e-3:.6f} {at * 2e-3:.6f} {at % 97:.6f} 0.001\n",
          'start w\ngeometry\n H 0 0 0\n H 0 0 0.74\nend\nbasis\n * library "sto-3g"\nend\nbq\n', "end\ntask scf\n")  # fmt: skip
    return "nwchem w.nw"


def shell(folder: Path, size: int) -> str:
    (folder / "run.sh").write_text("#!/bin/bash\nset -e\nawk -F, '{s+=$1} END {print s}' table.csv > sum.txt\n")
    _fill(folder / "table.csv", size, lambda at: f"{at},{at * 2},{at * 3}\n")
    return "bash run.sh"


def mpi(folder: Path, size: int) -> str:
    _fill(folder / "table.csv", size, lambda at: f"{at},{at * 2},{at * 3}\n")
    (folder / "program.py").write_text("from mpi4py import MPI\nprint(MPI.COMM_WORLD.rank)\n")
    return "mpirun -np 2 python3 program.py table.csv"


DECKS: dict[str, Callable[[Path, int], str]] = {
    one.__name__: one for one in (calculix, openfoam, lammps, gromacs, quantum_espresso, nwchem, shell, mpi)
}


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solvers", nargs="*", choices=[*DECKS, []], help="which (all)")
    parser.add_argument("--size", type=int, default=2 << 30, help="bytes of the big deck")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--folder", default=None, help="where the decks are made")
    return parser.parse_args()


if __name__ == "__main__":
    main()

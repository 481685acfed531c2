"""How fast a follower reads, in MB/s, and what it keeps: `python tests/bench/verdict_follow.py [MB]`.

Each log is a real one whose middle is repeated. The bare limit beside it, in the same run: cutting the same bytes
into lines. Processor time counts, so that a busy machine does not blur the figures.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from jobs.verdicts import Folder, follow  # noqa: E402

CASES = Path(__file__).parents[1] / "cases" / "verdicts"
LOGS = [
    ("calculix", "calculix-plastic-bar", "bar.log", "stdout"),
    ("calculix", "calculix-plastic-bar", "bar.cvg", "bar.cvg"),
    ("openfoam", "openfoam-channel", "log.icoFoam", "log.icoFoam"),
    ("openfoam", "openfoam-timeout-hidden", "log.simpleFoam", "stdout"),
    ("lammps", "lammps-own-vars", "log.lammps", "log.lammps"),
    ("lammps", "", "", "stdout"),
    ("gromacs", "gromacs-own-killed", "md.log", "md.log"),
    ("quantum_espresso", "qe-own-relax", "h.out", "stdout"),
    ("nwchem", "nwchem-own-opt", "w.out", "stdout"),
    ("shell", "", "plain lines", "stdout"),
]
PIECE = 256 << 10


def main() -> None:
    size = int(sys.argv[1] if len(sys.argv) > 1 else 32) << 20
    print(f"{'software':18}{'log':34}{'MB/s':>8}{'lines only':>12}{'kept':>10}")
    for software, case, name, stream in LOGS:
        data = _grown(_log(case, name), size)
        bare = _rate(data, lambda piece: piece.split(b"\n"))
        follower = follow(software, Folder(CASES / case) if case else None)
        rate = _rate(data, lambda piece, to=follower, name=stream: to.feed(name, piece))
        kept = len(json.dumps(follower.dump()))
        print(f"{software:18}{case + '/' + name if case else name or 'thermo rows':34}{rate:8.0f}{bare:12.0f}{kept / 1024:8.0f} K")


def _log(case: str, name: str) -> bytes:
    if case:
        return (CASES / case / name).read_bytes()
    if name:
        return b"".join(
            b"iteration %d: residual = %.3e\nsome words about what it does, and 3.0 4.0 5.0\n" % (at, 1 / at) for at in range(1, 2000)
        )
    rows = b"".join(b"%8d    1.6446908   -4.7528419            0   -2.2907398    5.6852372 \n" % step for step in range(0, 20000, 10))
    return (
        b"LAMMPS (29 Sep 2021)\nPer MPI rank memory allocation (min/avg/max) = 3 | 3 | 3 Mbytes\nStep Temp E_pair E_mol TotEng Press \n"
        + rows
    )


def _grown(log: bytes, size: int) -> bytes:
    """The log with its second half repeated up to `size`."""
    half = log.rfind(b"\n", 0, len(log) // 2) + 1
    return log[:half] + log[half:] * (size // max(len(log) - half, 1) + 1)


def _rate(data: bytes, feed) -> float:
    began = time.process_time()
    for at in range(0, len(data), PIECE):
        feed(data[at : at + PIECE])
    return len(data) / (time.process_time() - began) / 1e6


if __name__ == "__main__":
    main()

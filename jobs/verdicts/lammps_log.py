"""LAMMPS output, line by line, from the screen or from log.lammps (which also echoes the input's commands).

The one idea: every start prints a banner, every run or minimisation ends with "Loop time of"; the rows between are thermo
output, whose columns are named in the line before them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from .base import Progress
from .live import Log
from .text import LINE, shown
from .text import number as to_number

CORE = {"Temp", "E_pair", "E_mol", "TotEng", "PotEng", "KinEng", "Press", "Volume", "E_vdwl", "E_coul", "Enthalpy"}
CHARTED = ("Temp", "TotEng", "PotEng", "E_pair", "Press")
HOT = 1e9  # no temperature, in any unit of LAMMPS

_LOOP = re.compile(r"^Loop time of \S+ on (\d+) procs for (\d+) steps with (\d+) atoms")
_GRID = re.compile(r"^\s*(\d+) by (\d+) by (\d+) MPI processor grid")
_ATOMS = re.compile(r"^(?:Created (\d+) atoms|\s+(\d+) atoms$)")
_LOST = re.compile(r"Lost atoms.*original (\d+).*current (\d+)")
_ROW = frozenset(bytes([sign]) for sign in b" 0123456789-")
_ERROR = re.compile(r"^ERROR(?: on proc \d+)?: ")
_MULTI = re.compile(rb"^-+ +Step +(\d+) ")


@dataclass
class LmpLog(Log):
    """Facts by start of LAMMPS; `starts[-1]` is the one being read."""

    starts: list[dict[str, Any]] = field(default_factory=list)
    overlaps: int = 0
    header: int = 0  # 1: the next line names columns; 2: rows follow
    columns: list[str] = field(default_factory=list)
    asked: list[int | None] = field(default_factory=list)  # steps of each run, from the input
    begun: int = 0  # first step of the run that goes on
    LOGARITHMIC = False

    def lines(self, first: int, found: list[bytes]) -> None:
        """Rows that the chart would drop are only looked at for what is not a number; the last of them is read after all."""
        left: tuple[int, bytes] | None = None
        for number, line in enumerate(found, first):
            if self.header == 2 and line[:1] in _ROW:
                if not self.chart.wanted() and not line.strip(b" 0123456789.eE+-\r"):
                    self.chart.skip()
                    left = (number, line)
                    continue
                if self._row(number, line[:LINE]):
                    left = None
                    continue
            if left:
                self._row(*left, charted=False)
                left = None
            self.line(number, line[:LINE])
        if left:
            self._row(*left, charted=False)

    def line(self, number: int, line: bytes) -> None:
        text = line.strip()
        if not text:
            return
        if self.header == 1:
            self._names(text)
        elif handler := _KEYS.get(text[:5]):
            handler(self, number, shown(text, 400))
        elif text.startswith(b"LAMMPS ("):
            self._begin(number)
        elif text.startswith(b"Running on ") and b" partitions" in text and self.starts:
            self.starts.pop()  # only the head above them; each writes a screen and a log of its own
        elif _MULTI.match(line):
            self._step(int(_MULTI.match(line)[1]), number, shown(text))  # type: ignore[index]
        elif line[:1] == b" " and text.endswith((b" atoms", b"processor grid")):
            self._place(shown(line))

    @property
    def start(self) -> dict[str, Any]:
        if not self.starts:
            self._begin(1)
        return self.starts[-1]

    def progress(self) -> Progress | None:
        one = self.starts[-1] if self.starts else None
        if not one or one["step"] is None:
            return None
        at = len(one["loops"]) - (1 if one["loops"] and not self.header else 0)
        asked = self.asked[at] if at < len(self.asked) else None
        end = self.begun + asked if asked else None
        percent = 100 * (one["step"] - self.begun) / asked if asked else None
        of = f" of {end}" if end else ""
        return Progress(f"step {one['step']}{of}", one["step"], end, None, None, min(percent, 100.0) if percent is not None else None)

    def _begin(self, number: int) -> None:
        if self.starts and not self.starts[-1]["wall"] and not self.starts[-1]["errors"]:
            self.overlaps += 1
        self.header = 0
        if len(self.starts) < 50:
            self.starts.append({"line": number, "ranks": 1, "atoms": None, "loops": [], "minima": [], "errors": [], "command": "", "lost": None, "nan": None, "hot": None,
                                "wall": 0, "step": None, "row": None, "halt": None, "limit": None, "echo": [], "warnings": 0})  # fmt: skip

    def _place(self, text: str) -> None:
        one = self.start
        if grid := _GRID.match(" " + text):
            one["ranks"] = int(grid[1]) * int(grid[2]) * int(grid[3])
        elif (atoms := _ATOMS.match(" " + text)) and one["atoms"] is None:
            one["atoms"] = int(atoms[1] or atoms[2])

    def _created(self, number: int, text: str) -> None:
        if (atoms := _ATOMS.match(text)) and not self.start["loops"] and self.start["step"] is None:
            self.start["atoms"] = (self.start["atoms"] or 0) + int(atoms[1] or 0)

    def _memory(self, number: int, text: str) -> None:
        if text.startswith(("Per MPI rank memory", "Memory usage per processor")):
            self.header = 1
            self.begun = self.start["step"] or 0

    def _names(self, text: bytes) -> None:
        self.columns = [word.decode("ascii", "replace") for word in text.split()[:40]]
        self.header = 2

    def _row(self, number: int, line: bytes, charted: bool = True) -> bool:
        said = line.split()
        if len(said) != len(self.columns):
            return False
        values = [to_number(word) for word in said]
        if any(value is None for value in values):
            return False
        row = dict(zip(self.columns, values, strict=True))
        step = row.get("Step")
        self._step(int(step) if step is not None and math.isfinite(step) else None, number, shown(line))
        self._judge_row(row, number, line, charted)
        return True

    def _step(self, step: int | None, number: int, text: str) -> None:
        self.start["step"] = step if step is not None else self.start["step"]
        self.start["row"] = [number, text]

    def _judge_row(self, row: dict[str, float | None], number: int, line: bytes, charted: bool) -> None:
        one = self.start
        x = float(one["step"] or 0)
        for name in CHARTED:
            value = row.get(name)
            if value is not None and charted:
                self.chart.add(name, x, value)
            elif value is not None and name in self.chart.last and math.isfinite(value):
                self.chart.last[name] = [x, value]
        broken = [name for name, value in row.items() if name in CORE and value is not None and not math.isfinite(value)]
        if broken and not one["nan"]:
            one["nan"] = [number, shown(line), broken[0]]
            self.alarm("nan", f"{broken[0]} is not a number at step {one['step']}", number, line)
        hot = max((abs(row.get(name) or 0.0) for name in ("Temp", "PotEng", "TotEng", "E_pair")), default=0.0)
        if (row.get("Temp") or 0) > HOT or hot > 1e25:
            one["hot"] = one["hot"] or [number, shown(line)]
            self.alarm("growth", f"temperature or energy of {hot:.3g} at step {one['step']}", number, line)

    def _loop(self, number: int, text: str) -> None:
        match = _LOOP.match(text)
        if match:
            self.header = 0
            self.start["loops"].append([int(match[2]), int(match[3]), number, text])
            del self.start["loops"][:-2000]

    def _stop(self, number: int, text: str) -> None:
        if text.startswith("Stopping criterion"):
            self.start["minima"].append([number, text, text.partition("=")[2].strip(), len(self.start["loops"])])

    def _error(self, number: int, text: str) -> None:
        if _ERROR.match(text) and len(self.start["errors"]) < 8:
            self.start["errors"].append([number, text])
            self.alarm("error", text, number, text, diverging="Lost atoms" in text or "on-numeric" in text)

    def _warn(self, number: int, text: str) -> None:
        self.start["warnings"] += 1
        if match := _LOST.search(text):
            self.start["lost"] = [number, text, int(match[1]), int(match[2])]
        elif "Wall time limit reached" in text:
            self.start["limit"] = [number, text]

    def _last(self, number: int, text: str) -> None:
        if text.startswith(("Last command:", "Last input line:")):
            self.start["command"] = text.partition(":")[2].strip()

    def _wall(self, number: int, text: str) -> None:
        if text.startswith("Total wall time"):
            self.start["wall"] = number
        elif text.startswith("Wall time limit"):
            self.start["limit"] = [number, text]

    def _halt(self, number: int, text: str) -> None:
        if "halt condition" in text:
            self.start["halt"] = [number, text]

    def _echo(self, number: int, text: str) -> None:
        """log.lammps repeats the input: what each run asks for, with variables put in."""
        said = text.split()
        if self.header != 2 and said[0] in ("run", "minimize") and len(said) > 1 and len(self.start["echo"]) < 2000:
            steps = said[1] if said[0] == "run" else (said[3] if len(said) > 3 else "")
            if "$" not in text:
                self.start["echo"].append(
                    [said[0], int(steps) if steps.isdigit() and not {"upto", "every"} & set(said) else None, number, text]
                )


_KEYS = {
    b"Loop ": LmpLog._loop, b"Per M": LmpLog._memory, b"Memor": LmpLog._memory, b"Stopp": LmpLog._stop, b"ERROR": LmpLog._error, b"WARNI": LmpLog._warn,
    b"Last ": LmpLog._last, b"Total": LmpLog._wall, b"Wall ": LmpLog._wall, b"Fix h": LmpLog._halt, b"run 1": LmpLog._echo, b"Creat": LmpLog._created,
    **{f"run {digit}".encode(): LmpLog._echo for digit in range(10)}, b"run  ": LmpLog._echo, b"run\t ": LmpLog._echo, b"minim": LmpLog._echo,
}  # fmt: skip

"""GROMACS output, line by line: md.log of mdrun, or what gmx programs print on the screen.

The one idea: messages are paragraphs (wrapped at 78 columns), so errors, warnings and last words are read up to the next
empty line. Facts of mdrun are kept by run; grompp's warnings and errors by stream.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from .base import Progress
from .live import Log
from .text import LINE, NOT_A_NUMBER, after, shown
from .text import number as to_number

CHARTED = {"Potential": "Potential", "Total Energy": "Total energy", "Temperature": "Temperature", "Pressure (bar)": "Pressure"}
HOT = 1e6  # K
_BANNER = re.compile(rb":-\) +GROMACS - gmx (\w+)")
_STEPS = re.compile(r"^(-?\d+) steps, +(-?[\d.]+|infinite) ps(?:.*continuing from step (\d+))?")
_LINE = re.compile(r"^(WARNING|ERROR) \d+ \[file ([^,\]]+)(?:, line (\d+))?\]:")
_FATAL = re.compile(
    r"^(?:Fatal error|Error in user input|Inconsistency in user input|Software inconsistency error|Feature not implemented|"
    r"Invalid (?:command-line options|input)|File input/output error|Input error[^:]*|Standard library logic error[^:]*|"
    r"Assertion failed|Internal error[^:]*|Memory allocation error|.*error):$",
    re.I,
)
_EM = re.compile(r"^(.+?) (?:did not converge|converged) to (?:Fmax|machine precision)")
_FORCE = re.compile(r"Step= *(\d+).*?Fmax= *([\d.eE+-]+|nan)")
_VERBOSE = re.compile(r"step +(\d+)[, ](?:.*will finish|.*remaining)")


@dataclass
class GmxLog(Log):
    """`runs[-1]` holds facts of the mdrun that is being read; `told` errors and warnings of all programs."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    told: list[list[Any]] = field(default_factory=list)  # [kind, line number, text, file, line]
    program: str = ""
    ranks: int = 1  # most MPI processes that an mdrun of this stream ran on
    begun: list[int] = field(default_factory=list)  # lines where an mdrun says that it starts
    nsteps: int | None = None  # from the input, for progress
    open: list[Any] = field(default_factory=list)  # paragraph being read: [what, number, text]
    names: list[str] = field(default_factory=list)  # columns of an energy table
    rows: int = 0  # 1: the next line is step and time; 2: inside energies
    after: int = 0  # lines left to look for the kind of a fatal error
    LOGARITHMIC = False

    def lines(self, first: int, found: list[bytes]) -> None:
        """Energy tables that the chart would drop are only looked at for what is not a number."""
        for number, line in enumerate(found, first):
            if self.rows == 3:
                if not line or line == b"\r":
                    self.rows = 0
                elif b"nan" in line or b"inf" in line:
                    self._broken(number, shown(line[:LINE]))
            else:
                self.line(number, line[:LINE])

    def line(self, number: int, line: bytes) -> None:
        raw = line
        text = raw.strip()
        if self.open and not (self.open[0] == "em" and text.startswith((b"Potential Energy", b"Maximum force"))):
            self._paragraph(shown(raw, 400), not text)
            return
        if self.open:
            self._paragraph("", True)
        if not text:
            self.rows = 0
            return
        if self.rows == 1:
            self._at(number, text)
        elif self.rows == 2 and raw[:1] == b" " and self._energies(number, raw.decode("ascii", "replace")):
            return
        elif raw[:1] == b" " and text.startswith(b"Step ") and text.endswith(b"Time"):
            self.rows = 1
        elif text.startswith(b"Energies (kJ/mol)"):
            self.rows, self.names = 2, []
            if not self.chart.wanted():
                self.chart.skip()
                self.rows = 3
        else:
            self._said(number, raw, shown(raw, 400))

    @property
    def run(self) -> dict[str, Any]:
        if not self.runs:
            self._begin(1)
        return self.runs[-1]

    def progress(self) -> Progress | None:
        one = self.runs[-1] if self.runs else None
        step = one["step"] if one else None
        if one is None or step is None:
            return None
        total = one["nsteps"] if one["nsteps"] is not None else self.nsteps
        total = total if total and total > 0 else None
        percent = min(100.0, 100 * step / total) if total else None
        return Progress(f"step {step}" + (f" of {total}" if total else ""), step, total, one["time"], None, percent)

    def _begin(self, number: int) -> None:
        if self.runs and self.runs[-1]["step"] is None and not self.runs[-1]["em"] and not self.runs[-1]["finished"]:
            return  # banner, log opened and tpr read announce the same run
        if len(self.runs) < 50:
            self.runs.append({"line": number, "nsteps": None, "init": 0, "integrator": "", "emtol": None, "step": None, "time": None, "row": None, "finished": 0, "written": 0,
                              "em": None, "force": None, "nan": None, "hot": None, "signal": None, "continued": None, "lincs": 0, "steps_line": None})  # fmt: skip

    def _said(self, number: int, raw: bytes, text: str) -> None:
        banner = _BANNER.search(raw)
        if banner:
            self.program = banner[1].decode()
            if self.program == "mdrun":
                self._begin(number)
        elif text.startswith("Log file opened on") or (text.startswith("Reading file") and ".tpr" in text):
            self._begin(number)
        elif text.startswith("Program:"):
            self.program, self.after = text.partition("gmx ")[2].split(",")[0].strip() or self.program, 6
        elif self.after:
            self._fatal(number, text)
        elif match := _LINE.match(text):
            self.open = [match[1].lower(), number, "", match[2], match[3]]
        elif self.runs:
            self._mdrun(number, raw, text)

    def _fatal(self, number: int, text: str) -> None:
        self.after -= 1
        if _FATAL.match(text):
            self.open, self.after = ["fatal", number, text, None, None], 0
            self.alarm("error", text, number, text, diverging=False)

    def _paragraph(self, text: str, over: bool) -> None:
        self.open[2] = f"{self.open[2]} {text}".strip()[:600]
        if not over or not self.open[2].rstrip(":").strip():
            return
        kind, start, told, file, line = self.open
        self.open = []
        if kind == "em":
            self._em(start, told)
        elif len(self.told) < 40:
            self.told.append([kind, start, told, file, line])

    def _mdrun(self, number: int, raw: bytes, text: str) -> None:
        one = self.run
        name, _, value = text.partition("=")
        if _ and raw[:3] == b"   " and name.strip() in ("nsteps", "init-step", "integrator", "emtol"):
            self._parameter(name.strip(), value.strip())
        elif match := _STEPS.match(text):
            one["nsteps"] = int(match[1]) if match[2] != "infinite" else -1
            one["steps_line"] = [number, text]
            one["continued"] = [number, text] if match[3] else one["continued"]
        elif text.startswith("Overriding nsteps"):
            count = re.search(r"(\d+) steps", text)
            one["nsteps"] = one["override"] = int(count[1]) if count else None
        elif text.startswith(("Finished mdrun", "Performance:")):
            one["finished"] = one["finished"] or number
        elif text.startswith("Writing final coordinates"):
            one["written"] = number
        elif text.startswith("Energy minimization") or _EM.match(text):
            self.open = ["em", number, text, None, None]
        elif text.startswith("starting mdrun"):
            self.begun = [*self.begun, number][:50]
        else:
            self._rarer(number, text)

    def _rarer(self, number: int, text: str) -> None:
        one = self.run
        if "signal, stopping" in text or "Run time exceeded" in text or "will terminate the run" in text:
            one["signal"] = one["signal"] or [number, text]
        elif "Restarting from checkpoint" in text or text.startswith("Reading checkpoint file"):
            one["continued"] = [number, text]
        elif text.startswith("Using ") and "MPI process" in text:
            self.ranks = max(self.ranks, int(after(text, "Using") or 1))
        elif text.startswith("Maximum force"):
            one["force"] = [number, text, after(text, "=")]
        elif "LINCS WARNING" in text or "can not be settled" in text:
            one["lincs"] += 1
            if one["lincs"] == 5:
                self.alarm("growth", "constraints fail again and again: the system blows up", number, text)
        elif match := _FORCE.search(text):
            self.residual("Fmax", int(match[1]), to_number(match[2]) or 0.0, number, text.encode(), floor=1e-3)
            one["step"] = int(match[1])
        elif match := _VERBOSE.search(text):
            one["step"] = int(match[1])

    def _parameter(self, name: str, value: str) -> None:
        one = self.run
        if name == "integrator":
            one["integrator"] = value
        elif name == "emtol":
            one["emtol"] = to_number(value)
            self.chart.tolerance["Fmax"] = one["emtol"] or 0.0
        elif re.fullmatch(r"-?\d+", value):
            key = "init" if name == "init-step" else "nsteps"
            one[key] = int(value) if "override" not in one or key == "init" else one["override"]

    def _at(self, number: int, text: bytes) -> None:
        self.rows = 0
        said = text.split()
        if len(said) >= 2 and said[0].isdigit():
            self.run["step"], self.run["time"] = int(said[0]), to_number(said[1])
            self.run["row"] = [number, shown(b"Step " + text)]

    def _energies(self, number: int, text: str) -> bool:
        """A line of the energy table: names in columns of 15, then values."""
        values = [to_number(word) for word in text.split()]
        if any(value is None for value in values):
            self.names = [text[at : at + 15].strip() for at in range(0, len(text), 15)]
            return bool(re.match(r"^ +\S", text)) and "=" not in text
        for name, value in zip(self.names, values, strict=False):
            self._energy(name, value if value is not None else math.nan, number, text)
        return True

    def _energy(self, name: str, value: float, number: int, text: str) -> None:
        one = self.run
        if name in CHARTED and one["step"] is not None and not one["finished"]:
            self.chart.add(CHARTED[name], one["step"], value)
        if not math.isfinite(value):
            self._broken(number, text)
        if name == "Temperature" and value > HOT and not one["hot"]:
            one["hot"] = [number, shown(text), value]
            self.alarm("growth", f"a temperature of {value:.3g} K at step {one['step']}", number, text)

    def _broken(self, number: int, text: str) -> None:
        if NOT_A_NUMBER.search(text.encode()) and not self.run["nan"]:
            self.run["nan"] = [number, shown(text)]
            self.alarm("nan", f"an energy is not a number at step {self.run['step']}", number, text)

    def _em(self, number: int, text: str) -> None:
        self.run["em"] = [number, text]
        if "not finite" in text:
            self.alarm("nan", "the force on an atom is not finite", number, text)

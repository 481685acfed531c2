"""Quantum ESPRESSO output, line by line: which programs ran, which cycles met their threshold, what stopped them.

The one idea: "JOB DONE." only says that a program came to its end; whether its cycle converged is a sentence of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .base import Progress
from .live import Log
from .text import LINE, NOT_A_NUMBER, after, shown

ACCURACY, GRADIENT = "scf accuracy (Ry)", "gradient error (Ry/bohr)"
_PROGRAM = re.compile(r"^Program (\S+) +v\.?(\S+)")
_ACHIEVED = re.compile(r"[Cc]onvergence has been achieved(?: in +(\d+) iterations)?")
_MISSED = re.compile(r"convergence NOT achieved after +(\d+) iterations|[Nn]o convergence has been achieved", re.I)
_IONS = re.compile(r"bfgs converged in +(\d+) scf cycles and +(\d+) bfgs steps|Damped Dynamics: convergence achieved in +(\d+)")
_ENDS = (
    "The maximum number of steps has been reached",
    "Maximum CPU time exceeded",
    "Program stopped by user request",
    "Calculation stopped",
    "bfgs failed",
    "Maximum number of iterations reached",
)
_KINDS = (
    "Self-consistent Calculation",
    "Band Structure Calculation",
    "BFGS Geometry Optimization",
    "Molecular Dynamics Calculation",
    "Damped Dynamics Calculation",
    "Langevin Dynamics Calculation",
)


@dataclass
class QeLog(Log):
    """Facts by program run; `runs[-1]` is the one being read."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    frame: int = 0  # inside an error frame: lines left
    iteration: int = 0
    ranks: int = 1  # most that a program of this stream ran on
    total: int = 0  # scf iterations over all cycles
    force: float = 0.0  # forc_conv_thr of the deck, Ry/bohr; 0 where no atoms are moved

    def line(self, number: int, line: bytes) -> None:
        if self.frame:
            self._framed(number, shown(line[:LINE], 300))
            return
        text = line[:LINE].strip()
        if not text:
            return
        handler = _KEYS.get(text[:4])
        if handler:
            handler(self, number, shown(text))

    @property
    def run(self) -> dict[str, Any]:
        if not self.runs:
            self._begin(1, "")
        return self.runs[-1]

    def progress(self) -> Progress | None:
        if not self.runs or not self.total:
            return None
        steps = self.runs[-1]["scf"]
        cycle = f"scf cycle {steps + 1}, " if steps or self.runs[-1]["kind"] else ""
        return Progress(f"{cycle}iteration {self.iteration}", self.total)

    def _begin(self, number: int, name: str) -> None:
        if len(self.runs) < 60:
            self.runs.append({"program": name, "line": number, "kind": "", "threshold": None, "accuracy": None, "scf": 0, "scf_line": None, "missed": None, "ions": None, "ended": None,
                              "bands": None, "done": 0, "errors": [], "restart": None, "eigen": 0, "nan": None, "hint": None, "energy": None, "input": ""})  # fmt: skip
        self.iteration = 0

    def _head(self, number: int, text: str) -> None:
        match = _PROGRAM.match(text)
        if match:
            self._begin(number, match[1])
        elif text.startswith("Program stopped"):
            self._cycle(number, text)

    def _opened(self, number: int, text: str) -> None:
        self.frame = 8

    def _done(self, number: int, text: str) -> None:
        if text.startswith("JOB DONE"):
            self.run["done"] = number

    def _estimated(self, number: int, text: str) -> None:
        if not text.startswith("estimated scf accuracy"):
            return
        value = after(text, "<")
        if value is not None:
            self.run["accuracy"] = [number, text, value]
            self.residual(ACCURACY, self.total, value, number, text.encode(), floor=1e-4)
            self._nan(number, text)

    def _gradient(self, number: int, text: str) -> None:
        value = after(text, "=") if text.startswith("Gradient error") else None
        if value is not None and self.total:
            self.chart.add(GRADIENT, self.total, value)
            self.chart.tolerance |= {GRADIENT: self.force} if self.force else {}

    def _iterate(self, number: int, text: str) -> None:
        match = re.match(r"iteration # *(\d+)", text)
        if match:
            self.iteration = int(match[1])
            self.total += 1

    def _threshold(self, number: int, text: str) -> None:
        if text.startswith("scf convergence threshold"):
            self.run["threshold"] = after(text, "=")
            self.chart.tolerance[ACCURACY] = self.run["threshold"] or 0.0

    def _energy(self, number: int, text: str) -> None:
        if "=" in text and "total energy" in text:
            self.run["energy"] = [number, text]
            self._nan(number, text)

    def _nan(self, number: int, text: str) -> None:
        if NOT_A_NUMBER.search(text.encode()) and not self.run["nan"]:
            self.run["nan"] = [number, text]
            self.alarm("nan", "the energy is not a number", number, text)

    def _cycle(self, number: int, text: str) -> None:
        one = self.run
        if _MISSED.search(text):
            one["missed"] = [number, text]
            self.alarm("error", text, number, text, diverging=False)
        elif _ACHIEVED.search(text):
            one["scf"] += 1
            one["scf_line"], one["missed"] = [number, text], None
        elif _IONS.search(text):
            one["ions"] = [number, text]
        elif text.startswith(_ENDS):
            follows = one["ended"] and text.startswith("Calculation stopped")  # says where, the line before it says why
            one["ended"] = one["ended"] if follows else [number, text]
        elif text.startswith("Damped"):
            self._other(number, text)

    def _other(self, number: int, text: str) -> None:
        one = self.run
        if "restart disabled" in text or "needed files not found" in text:
            one["restart"] = one["restart"] or [number, text]
        elif text.startswith("Parallel version"):
            self.ranks = max(self.ranks, int(after(text, "running on") or 1))
        elif text.startswith("xml ") and "not found" in text:
            one["hint"] = [number, text]
        elif "eigenvalues not converged" in text:
            one["eigen"] += 1
        elif text.startswith("End of band structure calculation"):
            one["bands"] = [number, text]
        elif text.startswith("Reading input from"):
            one["input"] = text.rpartition(" ")[2]
        elif text.startswith(_KINDS):
            one["kind"] = one["kind"] if "Geometry" in one["kind"] or "Dynamics" in one["kind"] else text
        elif text.startswith("STOP ") and text[5:].strip().isdigit():
            one["stop"] = [number, text]

    def _framed(self, number: int, text: str) -> None:
        """Inside %%%%: "Error in routine x (1):" and its message, once for each rank."""
        self.frame -= 1
        if text.startswith("%%%%%"):
            self.frame = 0
            if self.run["errors"]:
                self.alarm("error", self.run["errors"][0][1], self.run["errors"][0][0], self.run["errors"][0][1], diverging=False)
        elif text and len(self.run["errors"]) < 6:
            errors = self.run["errors"]
            if "rror in routine" in text or "from " in text or text.startswith("task #"):
                errors.append([number, text])
            elif errors:
                errors[-1][1] = f"{errors[-1][1]} {text}"[:300]


_KEYS = {
    b"Prog": QeLog._head, b"JOB ": QeLog._done, b"esti": QeLog._estimated, b"iter": QeLog._iterate, b"Grad": QeLog._gradient, b"scf ": QeLog._threshold, b"%%%%": QeLog._opened,
    b"!   ": QeLog._energy, b"!\ttot": QeLog._energy, b"tota": QeLog._energy,
    **dict.fromkeys((b"conv", b"Conv", b"No c", b"no c", b"EXX ", b"bfgs", b"Damp", b"The ", b"Maxi", b"Calc"), QeLog._cycle),
    **dict.fromkeys((b"rest", b"need", b"c_ba", b"End ", b"Read", b"Self", b"Band", b"BFGS", b"Mole", b"Lang", b"STOP", b"xml ", b"Para"), QeLog._other),
}  # fmt: skip

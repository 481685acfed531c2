"""NWChem output, line by line: tasks asked for and done, cycles that failed, the error block with its input line.

The one idea: NWChem echoes its input, so the log itself says which tasks were asked for; an error is a text between two
lines of dashes, followed by "current input line".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .base import Progress
from .live import Log
from .text import LINE, NOT_A_NUMBER, after, shown
from .text import number as to_number

FAILED = re.compile(
    r"(?i)calculation failed to converge|failed to converge|!! warning: .* failed|iterations? (?:did )?not converge|no "
    r"convergence|not converged after"
)
ENERGY = re.compile(
    r"(?i)^Total (?:SCF|DFT|MP2|CCSD(?:\(T\))?|\S+) energy\b|total energy\b.*=|^(?:CCSD|CCSD\(T\)|MP2) +total energy|Total DFT energy"
)
_TASK = re.compile(r"(?i)^task\s+(\S.*)$")
_SCF = re.compile(rb"^ +(\d+) +(-\d+\.\d+) +(\d\.\d+D[+-]\d+) +(\d\.\d+D[+-]\d+) +[\d.]+\s*$")
_DFT = re.compile(rb"^ d= *\d.*? (\d+) +(-?\d+\.\d+) +(-?\d\.\d+D[+-]\d+) +(\d\.\d+D[+-]\d+) +(\d\.\d+D[+-]\d+)")
_STEP = re.compile(rb"^@ +(\d+) +(-?\d+\.\d+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)")
_WORDS = frozenset(
    (
        b"----",
        b"d= 0",
        b"Nort",
        b"====",
        b"curr",
        b"Task",
        b"Tota",
        b"Opti",
        b"Atte",
        b"MA_i",
        b"MA e",
        b"MA_e",
        b"ga_c",
        b"coul",
        b"NWCh",
        b"npro",
        b"Conv",
        b"maxi",
    )
)
_INDENT = b" " * 14  # of a row of the scf table
GNORM, DELTA, GMAX = "scf gradient norm", "dft energy change", "largest force (Gmax)"


@dataclass
class NwLog(Log):
    """Facts by start of NWChem."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    ranks: int = 1  # most that a start in this stream ran on
    banners: list[int] = field(default_factory=list)
    echo: bool = False
    dashes: bool = False
    candidate: list[Any] = field(default_factory=list)
    wanted: int = 0  # lines left that belong to what came before: 1 = the input line, 2 = a file name
    iteration: int = 0
    step: int | None = None

    def lines(self, first: int, found: list[bytes]) -> None:
        """Most lines are orbitals and coordinates, which nobody asks for; they are passed over at once."""
        for number, line in enumerate(found, first):
            if not line:
                self.dashes = False
                continue
            start = line.lstrip()[:4]
            if (
                start in _WORDS or self.dashes or self.wanted or self.echo or line[:1] == b"@" or start[:2] == b"d="
                or (line[:14] == _INDENT and b"D" in line) or b"onverg" in line or b"ailed" in line or b"energy" in line or b"memory" in line or b"NaN" in line
            ):  # fmt: skip
                self.line(number, line)

    def line(self, number: int, line: bytes) -> None:
        raw = line[:LINE]
        text = raw.strip()
        if not text:
            self.dashes = False
            return
        if self.wanted:
            self._next(number, shown(text))
        elif raw[:1] == b"@":
            self._stepped(number, raw)
        elif raw[:4] == b" d= " and (match := _DFT.match(raw)):
            self._iterated(DELTA, match[3], number, raw)
        elif raw[:14] == _INDENT and (scf := _SCF.match(raw)):
            self._iterated(GNORM, scf[3], number, raw)
        elif b"NaN" in raw:
            self._nan(number, shown(raw))
        elif text[:5] == b"-----":
            self.dashes = True
            return
        elif (
            self.dashes
            or self.echo
            or text[:4] in _WORDS
            or b"onverg" in text
            or b"ailed" in text
            or b"energy" in text
            or b"memory" in text
        ):
            self._said(number, shown(text, 300))
        self.dashes = False

    @property
    def run(self) -> dict[str, Any]:
        if not self.runs:
            self._begin(1)
        return self.runs[-1]

    def progress(self) -> Progress | None:
        if not self.runs:
            return None
        one = self.runs[-1]
        task = f"task {one['done'] + 1} of {len(one['tasks'])}, " if one["tasks"] and one["done"] < len(one["tasks"]) else ""
        where = f"step {self.step}, " if self.step is not None else ""
        return Progress(f"{task}{where}iteration {self.iteration}", self.step, None) if self.iteration or self.step is not None else None

    def _begin(self, number: int) -> None:
        if len(self.runs) < 40:
            self.runs.append({"line": number, "tasks": [], "done": 0, "total": 0, "failed": [], "energy": None, "optimised": None, "errors": [], "input": None, "nan": None, "file": None, "memory": None, "modules": 0})  # fmt: skip

    def _said(self, number: int, text: str) -> None:
        if "Northwest Computational Chemistry Package" in text:
            self.banners = [*self.banners, number][:50]
            self._begin(number) if not self.runs or self.runs[-1]["modules"] or self.runs[-1]["total"] or self.runs[-1]["errors"] else None
        elif "echo of input deck" in text:
            self.echo = True
        elif self.echo:
            self._echoed(text)
        elif text.startswith("current input line"):
            if self.candidate and len(self.run["errors"]) < 6:
                self.run["errors"].append(list(self.candidate))
            self.wanted = 1
        else:
            self.candidate = [number, text] if self.dashes else self.candidate
            self._word(number, text)

    def _echoed(self, text: str) -> None:
        if text.startswith("====="):
            self.echo = False
        elif (match := _TASK.match(text)) and len(self.run["tasks"]) < 500:
            self.run["tasks"].append(match[1].strip())

    def _word(self, number: int, text: str) -> None:
        one = self.run
        if text.startswith("Task times"):
            one["done"] += 1
            self.step = None
        elif text.startswith("Total times"):
            one["total"] = number
        elif ("onverge" in text or "failed" in text) and FAILED.search(text):
            if len(one["failed"]) < 12:
                one["failed"].append([number, text])
            self.alarm("error", text, number, text, diverging=False)
        elif "energy" in text and ENERGY.search(text):
            one["energy"] = [number, text]
            self._nan(number, text)
        elif text.startswith("Optimization converged"):
            one["optimised"] = [number, text]
        elif "non-existing file" in text:
            self.wanted = 2
        elif re.search(
            r"MA_init: could not|MA error|nsufficient memory|could not allocate|ga_create.*fail|malloc ga failed|out of memory", text
        ):
            one["memory"] = one["memory"] or [number, text]
        elif text.startswith("nproc"):
            self.ranks = max(self.ranks, int(after(text, "=") or 1))
        elif text.endswith("Module") and text.startswith("NWChem"):
            one["modules"] += "Input" not in text
        else:
            self._tolerance(text)

    def _tolerance(self, text: str) -> None:
        for words, name in (
            ("Convergence threshold", GNORM),
            ("Convergence on energy requested", DELTA),
            ("maximum gradient threshold", GMAX),
        ):
            if text.startswith(words):
                value = to_number(text.replace("=", ":").rpartition(":")[2].strip())
                if value:
                    self.chart.tolerance[name] = value

    def _next(self, number: int, text: str) -> None:
        key = "input" if self.wanted == 1 else "file"
        self.run[key] = self.run[key] or [number, text]
        self.wanted = 0

    def _iterated(self, name: str, word: bytes, number: int, raw: bytes) -> None:
        self.iteration += 1
        value = to_number(word)
        if value is not None:
            self.residual(name, self.iteration, abs(value), number, raw, floor=1e-3)
        self._nan(number, shown(raw))

    def _stepped(self, number: int, raw: bytes) -> None:
        match = _STEP.match(raw)
        if match:
            self.step = int(match[1])
            self.residual(GMAX, self.step, to_number(match[4]) or 0.0, number, raw, floor=1e-3)
            self.run["step"] = [number, shown(raw)]

    def _nan(self, number: int, text: str) -> None:
        if not self.run["nan"] and NOT_A_NUMBER.search(text.encode()):
            self.run["nan"] = [number, text]
            self.alarm("nan", "the energy is not a number", number, text)

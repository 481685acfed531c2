"""CalculiX while it runs: .sta gives progress, .cvg the residuals with their default tolerances.

Source: CalculiX manual, *CONTROLS: largest residual 0.5 % of the average force, correction 1 % of the increment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .base import Progress
from .calculix_results import row_of
from .live import Log
from .text import number as to_number

FORCE, CORRECTION, FLUX, WARMTH = "residual force (%)", "correction (%)", "residual flux (%)", "correction of temperature (%)"
USUAL = (0.5, 1.0)


@dataclass
class Sta(Log):
    """The .sta file: a line an increment."""

    periods: list[float] = field(default_factory=list)
    step: int = 0
    increment: int = 0
    time: float = 0.0
    cutbacks: int = 0

    def line(self, number: int, line: bytes) -> None:
        row = row_of(line, number)
        if row is None:
            return
        self.step, self.increment = row.step, row.increment
        self.time = row.time if row.converged else (0.0 if row.increment == 1 else self.time)
        self.cutbacks += not row.converged

    def progress(self) -> Progress | None:
        if not self.step:
            return None
        period = self.periods[self.step - 1] if self.step <= len(self.periods) else None
        steps = len(self.periods) or None
        percent = 100 * (self.step - 1 + min(self.time / period, 1.0)) / steps if period and steps else None
        of = f" of {steps}" if steps else ""
        return Progress(f"step {self.step}{of}, increment {self.increment}", self.step, steps, self.time, period, percent)


@dataclass
class Cvg(Log):
    """The .cvg file: a line an iteration: step, increment, attempt, iteration, contacts, residuals and corrections."""

    iterations: int = 0
    limits: tuple[float, float] | list[float] = USUAL  # of residuals and of corrections, percent
    X: ClassVar[str] = "iteration"

    def line(self, number: int, line: bytes) -> None:
        words = line.split()
        if len(words) < 7 or not words[0].isdigit() or not words[3].isdigit():
            return
        self.iterations += 1
        first, second = self.limits
        self.chart.tolerance = {FORCE: first, CORRECTION: second, FLUX: first, WARMTH: second}
        for name, word in zip((FORCE, CORRECTION, FLUX, WARMTH), words[5:], strict=False):
            value = to_number(word)
            if value or (value is not None and name in self.chart.points):  # what is not solved for is zero from the first on
                self.residual(name, self.iterations, value, number, line, floor=1.0)

"""Output of a program that nobody here knows, line by line: what its own words tell beyond doubt of how far it is.

The one idea: silence is better than a guess. A percentage counts only beside a word or a bar that says what it is of, a number
of steps only as "step 3 of 40", a residual only where an iteration is named beside it, and a NaN only where the same quantity
was a number before and stays none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from .base import Progress
from .live import Log
from .text import LINE, shown
from .text import number as to_number

RESIDUALS = 6
"""Series of one program."""
LASTING = 2
"""Lines in a row in which a quantity must be NaN."""

_STEP = r"iterations?|iter|inner[_ ]iter|outer[_ ]iter|it|time[ -]?steps?|steps?|epochs?|cycles?|increments?"
_COUNTED = rf"{_STEP}|frames?|samples?|cases?|batch(?:es)?|chunks?|files?|runs?|jobs?|tasks?|points?"
_RESIDUAL = r"(?:rms|abs|rel|max|l2|l_?inf|relative|absolute|initial|final|total|global|scaled|train(?:ing)?|val(?:idation)?)?[ ._-]?(?:residuals?|resid|res|loss)(?:[ _.-]?norm)?(?:[ _]?[\[(]\w+[\])])?|rms\[\w+\]"
_VALUE = r"[-+]?(?:\d+\.?\d*(?:[eEdD][-+]?\d+)?|\.\d+(?:[eEdD][-+]?\d+)?|nan|inf(?:inity)?)"
_PERCENT = re.compile(
    r"^\W*(?:\w+[ :])?(?:progress|complete[d]?|done|finished)\b[^%\d]{0,20}(\d{1,3}(?:\.\d+)?) ?%"
    r"|(?:^|[\s\[(])(\d{1,3}(?:\.\d+)?) ?% ?(?:complete[d]?|done|finished|progress)\b"
    r"|^(?:[^|%\d]{0,40}: *)?(\d{1,3})%\||^\s*\[ *(\d{1,3}(?:\.\d+)?) ?%\](?: |$)",
    re.I,
)
_OF = re.compile(rf"(?<![\w-])({_COUNTED})[ :#=]*(\d{{1,12}}) ?(?:/|of|out of) ?(\d{{1,12}})(?![\w./-]|,\d)", re.I)
_BAR = re.compile(r"\| *(\d{1,12})/(\d{1,12}) \[")
_AT = re.compile(rf"(?<![\w-])({_STEP})[ :#=]*(\d{{1,12}})(?![\w.])", re.I)
_NAMED = re.compile(rf"(?<![\w-])({_RESIDUAL})\s*[:=]\s*({_VALUE})(?![\w.])", re.I)
_HEAD = re.compile(rf"^(?:{_STEP}|i)$", re.I)
_COLUMN = re.compile(rf"^(?:{_RESIDUAL})$", re.I)
_FAR = re.compile(rb"\d ?%|\d ?/ ?\d|\d (?:out )?of \d")  # a line that may tell how far it is
_NEAR = re.compile(rb"[Rr][Ee][Ss](?:[Ii][Dd]|[^A-Za-z])|[Ll][Oo][Ss][Ss]|[Rr][Mm][Ss]")  # one that may tell a residual
_POINT = re.compile(rb"[:=]\s*[-+.\d]")


@dataclass
class PlainLog(Log):
    """What was told last."""

    told: list[float | str | None] = field(default_factory=list)  # words, step, steps, percent
    columns: list[str] = field(default_factory=list)  # of a table whose rows may follow
    finite: dict[str, bool] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)  # lines in a row without a number
    X = "iteration"

    def lines(self, first: int, found: list[bytes]) -> None:
        """How far it is says the last line that says it; points that the chart would drop are only counted."""
        any(self.glance(shown(_last(line), 400)) for line in reversed(found) if _FAR.search(line, 0, 400))
        for number, line in enumerate(found, first):
            if self.columns or _NEAR.search(line, 0, 400):
                if self.chart.points and not self.chart.wanted() and _is_point(line) and b"nan" not in line.lower():
                    self.chart.skip()
                else:
                    self.line(number, line)

    def line(self, number: int, line: bytes) -> None:
        raw = _last(line)
        text = shown(raw, 400)
        if any(map(str.isalnum, text)) and not self._row(number, text, raw):
            self._named(number, text, raw)
            self._head(text)

    def glance(self, text: str) -> bool:
        """Looks only for how far it is, also in a line that goes on (a bar that is drawn over and over)."""
        if (match := _OF.search(text)) and 0 <= int(match[2]) <= int(match[3]) > 1:
            at, of = int(match[2]), int(match[3])
            self.told = [f"{match[1].lower()} {at} of {of}", at, of, 100 * at / of]
            return True
        match = _PERCENT.search(text)
        percent = float(next(group for group in match.groups() if group)) if match else 101.0
        if percent > 100:
            return False
        bar = _BAR.search(text)
        self.told = [f"{percent:g} %", *((int(bar[1]), int(bar[2])) if bar else (None, None)), percent]
        return True

    def progress(self) -> Progress | None:
        if not self.told:
            return None
        words, step, steps, percent = self.told
        return Progress(
            str(words), int(step) if step is not None else None, int(steps) if steps is not None else None, percent=percent  # type: ignore[arg-type]
        )  # fmt: skip

    def _named(self, number: int, text: str, raw: bytes) -> None:
        """ "iteration 12: residual = 1e-3": both in one line."""
        at = _AT.search(text) or _OF.search(text)
        if at is None:
            return
        for match in list(_NAMED.finditer(text))[:RESIDUALS]:
            self._point(" ".join(match[1].lower().split()), float(at[2]), to_number(match[2].replace("d", "e")), number, raw)

    def _head(self, text: str) -> None:
        """A line that names columns: an iteration first, a residual among the others."""
        names = text.replace("|", " ").replace(",", " ").split()
        good = 2 <= len(names) <= 40 and _HEAD.match(names[0]) and any(_COLUMN.match(name) for name in names[1:])
        self.columns = names if good else []

    def _row(self, number: int, text: str, raw: bytes) -> bool:
        """A row of such a table; False for any other line."""
        words = text.replace("|", " ").replace(",", " ").split() if self.columns else []
        if not words or len(words) != len(self.columns) or not words[0].isdigit():
            return False
        values = [to_number(word) for word in words]
        if any(value is None for value in values):
            return False
        for name, value in zip(self.columns[1:], values[1:], strict=True):
            if _COLUMN.match(name):
                self._point(name.lower(), float(words[0]), value, number, raw)
        return True

    def _point(self, name: str, x: float, value: float | None, number: int, raw: bytes) -> None:
        if value is None or (name not in self.finite and len(self.finite) >= RESIDUALS):
            return
        if math.isfinite(value):
            self.finite[name], self.broken[name] = True, 0
            self.chart.add(name, x, abs(value))
        elif self.finite.get(name):
            self.broken[name] = self.broken.get(name, 0) + 1
            if self.broken[name] == LASTING:
                self.alarm("nan", f"{name} is not a number at {x:g}", number, raw)


def _is_point(line: bytes) -> bool:
    return _POINT.search(line, 0, 400) is not None or not line.strip(b" \t\r0123456789.eE+-|,")


def _last(line: bytes) -> bytes:
    """What a terminal would show of a line that was drawn over, its beginning."""
    return line[:LINE].rstrip(b"\r").rpartition(b"\r")[2][:400]

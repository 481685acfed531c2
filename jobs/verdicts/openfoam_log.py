"""OpenFOAM output, line by line: which programs ran, how far, with which residuals, and how each ended.

The one idea: every program of OpenFOAM prints its header, so a log (or stdout of a whole script) is cut into program runs.
Phrases are those of the ESI releases (v1912...) and of the Foundation's (7...13), which differ slightly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .base import Progress
from .live import Log
from .text import LINE, NOT_A_NUMBER, brief, shown
from .text import number as to_number

SIGNATURE = re.compile(
    rb"OpenFOAM: The Open Source CFD Toolbox|^Exec   : |-> FOAM FATAL|^(?:#0|\[\d+\] #0)  Foam::|OpenFOAM Foundation|"
    rb"Solving for \w+, Initial residual = |^ExecutionTime = \S+ s  ClockTime = ",
    re.M,
)
MOST_RUNS = 60
MOST_FATAL = 14  # lines of one message
HUGE = 1e10

_SOLVED = re.compile(rb"Solving for ([^,]+), Initial residual = ([^,]+), Final residual = ([^,]+), No Iterations (\S+)")
_TOLERANCE = re.compile(r'^\s+(?:field )?"?([^\s"]+?)"?:?\s+tolerance\s+(\S+)')
_CONVERGED = re.compile(r"solution converged in (\d+) (?:iterations|steps)")
_STOPPED = re.compile(
    r"(?i)conditions satisfied|ending (?:the )?(?:simulation|calculation|run)|stopping (?:the )?(?:simulation|calculation|run)\b"
)
SOLVER = re.compile(r"^(?!.*ToFoam$)\w*(?:Foam|foamRun|foamMultiRun|solver)$", re.I)
_CORES = re.compile(r"^\[\d+\] ?")


@dataclass
class FoamLog(Log):
    """Facts by program run; `runs[-1]` is the one that is being read."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    end: float | None = None  # endTime of the case, for progress
    fatal_left: int = 0
    criteria_open: bool = False
    X = "time"

    def lines(self, first: int, found: list[bytes]) -> None:
        keys = _KEYS
        for number, line in enumerate(found, first):
            if line.find(b"Solving for ", 0, 60) >= 0:
                self._solved(number, line)
            elif self.fatal_left:
                self._message(number, line[:LINE])
            elif (handler := keys.get(line[:4])) is not None:
                handler(self, number, line[:LINE].rstrip())
            elif line and len(line) < 400:
                self._other(number, line)

    def line(self, number: int, line: bytes) -> None:
        self.lines(number, [line])

    @property
    def run(self) -> dict[str, Any]:
        if not self.runs:
            self._begin(1, "")
            self.runs[-1]["loop"] = True  # its head is cut off (`| tail`): what follows may be steps
        return self.runs[-1]

    def progress(self) -> Progress | None:
        run = self.runs[-1] if self.runs else None
        if not run or run["time"] is None:
            return None
        start, end = run["start"] or 0.0, self.end
        percent = 100 * min(1.0, (run["time"] - start) / (end - start)) if end is not None and end > start else None
        of = f" of {brief(end)}" if end is not None else ""
        return Progress(f"{run['exec'] or 'time'}: time {brief(run['time'])}{of}", run["steps"], None, run["time"], end, percent)

    def _begin(self, number: int, name: str) -> None:
        if len(self.runs) < MOST_RUNS:
            self.runs.append({
                "exec": name, "line": number, "date": "", "clock": "", "pid": "", "case": "", "ranks": 1, "loop": False, "start": None, "time": None, "time_line": 0,
                "steps": 0, "end": 0, "converged": None, "criteria": {}, "no_criteria": False, "residuals": {}, "step": {}, "nan": None, "fatal": [], "trap": None,
                "crash": None, "courant": 0.0, "continuity": 0.0, "huge": None, "stopped": None, "deltaT": None, "fastest": None, "mesh": None, "last": [number, name],
            })  # fmt: skip

    def _exec(self, number: int, line: bytes) -> None:
        if line.startswith(b"Exec   :"):
            self._begin(number, shown(line[8:]).split(" ")[0].rsplit("/", 1)[-1])

    def _word(self, number: int, line: bytes) -> None:
        name, _, value = shown(line).partition(":")
        key = {"Date": "date", "PID": "pid", "Case": "case", "Time": "clock"}.get(name.strip())
        if key and not self.run[key]:
            self.run[key] = value.strip()
        elif name.strip() == "nProcs" and value.strip().isdigit():
            self.run["ranks"] = int(value)

    def _time(self, number: int, line: bytes) -> None:
        if not line.startswith(b"Time = "):
            self._word(number, line)
            return
        value = to_number(line[7:].split()[0].rstrip(b"s")) if line[7:].split() else None
        run = self.run
        if value is None or not run["loop"]:
            return
        run["time"], run["time_line"], run["step"] = value, number, {}
        run["steps"] += 1
        run["last"] = [number, shown(line)]

    def _solved(self, number: int, line: bytes) -> None:
        match = _SOLVED.search(line)
        if match is None:
            return
        name, first, last, _ = match.groups()
        run, value = self.run, to_number(first)
        if b"n" in first[-3:].lower() or b"n" in last[-3:].lower() or b"inf" in last:
            self._nan(number, line)
        field_name = name.decode("ascii", "replace")[:40]
        if value is None or field_name in run["step"]:
            return
        run["step"][field_name] = True
        if len(run["residuals"]) < 60 or field_name in run["residuals"]:
            run["residuals"][field_name] = [value, number, match[0][:160].decode("ascii", "replace")]
        if run["time"] is not None:
            self.chart.add(field_name, run["time"], value)
            if self.chart.seen.get(field_name) == 1:
                self._limit(field_name)

    def _nan(self, number: int, line: bytes) -> None:
        if NOT_A_NUMBER.search(line) and self.run["nan"] is None:
            self.run["nan"] = [number, shown(line)]
            at = f" at time {brief(self.run['time'])}" if self.run["time"] is not None else ""
            self.alarm("nan", f"the residual is not a number{at}", number, line)

    def _continuity(self, number: int, line: bytes) -> None:
        if not line.startswith(b"time step continuity"):
            return
        self._nan(number, line)
        value = to_number(line.partition(b"sum local = ")[2].split(b",")[0])
        if value is not None:
            self.run["continuity"] = value
            self._large("continuity error", value, 1e6, number, line)

    def _courant(self, number: int, line: bytes) -> None:
        value = to_number(line.rpartition(b"max: ")[2].split()[0]) if b"max: " in line and line.rpartition(b"max: ")[2].split() else None
        if value is not None:
            self.run["courant"] = value
            self.run["fastest"] = [number, shown(line)] if value > 1e3 else None
            self._nan(number, line)
            self._large("Courant number", value, 1e4, number, line)

    def _large(self, what: str, value: float, limit: float, number: int, line: bytes) -> None:
        if abs(value) > limit:
            self.alarm("growth", f"the {what} grew to {value:.3g}", number, line)
            if abs(value) > HUGE and self.run["huge"] is None:
                self.run["huge"] = [number, shown(line), what, value]

    def _bounding(self, number: int, line: bytes) -> None:
        words = line.replace(b",", b" ").split()
        values = [abs(value) for word in words if (value := to_number(word)) is not None]
        self._nan(number, line)
        if values and max(values) > 1e20:
            self._large(shown(b" ".join(words[:2])), max(values), 1e20, number, line)

    def _start(self, number: int, line: bytes) -> None:
        if line.startswith((b"Starting time loop", b"Calculating ")) and SOLVER.search(self.run["exec"] or "Foam"):
            self.run["loop"], self.criteria_open = True, False

    def _create(self, number: int, line: bytes) -> None:
        if b"for time = " in line and b"mesh" in line and self.run["start"] is None:
            self.run["start"] = to_number(line.rpartition(b"= ")[2].strip().rstrip(b"s"))

    def _ended(self, number: int, line: bytes) -> None:
        if line.strip() == b"End" or line.startswith(b"Finalising parallel run"):
            self.run["end"] = number

    def _delta(self, number: int, line: bytes) -> None:
        value = to_number(line.partition(b"= ")[2].strip())
        if value is not None:
            self.run["deltaT"] = value

    def _trace(self, number: int, line: bytes) -> None:
        for key, word in (("trap", b"sigFpe"), ("crash", b"sigSegv"), ("crash", b"sigQuit"), ("crash", b"sigInt")):
            if word in line and not self.run[key]:
                self.run[key] = [number, shown(line)]
        if b"sigFpe" in line:
            self.alarm("nan", "floating point exception: the solution blew up", number, line)

    def _fatal(self, number: int, line: bytes) -> None:
        if b"FOAM FATAL" in line:
            self.run["fatal"].append([number, ""])
            del self.run["fatal"][8:]
            self.fatal_left = MOST_FATAL
            self.alarm("error", "OpenFOAM stops with an error", number, line, diverging=False)

    def _rank(self, number: int, line: bytes) -> None:
        rest = line.partition(b"] ")[2]
        if b"FOAM FATAL" in rest and not self.run["fatal"]:
            self._fatal(number, rest)
        elif rest.startswith(b"#"):
            self._trace(number, rest)

    def _message(self, number: int, line: bytes) -> None:
        """A line of an error message: kept until OpenFOAM says that it exits."""
        text = _CORES.sub("", shown(line))
        self.fatal_left -= 1
        if "exiting" in text or "aborting" in text or text.startswith("From function") or text.startswith("From "):
            self.fatal_left = 0
        elif text and self.run["fatal"] and len(self.run["fatal"][-1][1]) < 400:
            told = self.run["fatal"][-1][1]
            self.run["fatal"][-1][1] = f"{told} {text}".strip()

    def _other(self, number: int, line: bytes) -> None:
        if self.criteria_open and b"tolerance" in line:
            self._tolerance(line)
            return
        text = shown(line)
        if (match := _CONVERGED.search(text)) and not self.run["converged"]:
            self.run["converged"] = [number, text, int(match[1])]
        elif _STOPPED.search(text) and not self.run["stopped"]:
            self.run["stopped"] = [number, text]
        if text.startswith("Failed ") and "mesh checks" in text:
            self.run["mesh"] = [number, text]
        if "onvergence criteria" in text:
            self._criteria(text)

    def _criteria(self, text: str) -> None:
        self.criteria_open = "No " not in text and "no " not in text and "orrector" not in text
        self.run["no_criteria"] = "no convergence" in text.lower()

    def _tolerance(self, line: bytes) -> None:
        match = _TOLERANCE.match(line.decode("utf-8", "replace")) if self.criteria_open else None
        value = to_number(match[2].rstrip(",;")) if match else None
        if match and value is not None and len(self.run["criteria"]) < 40:
            self.run["criteria"][match[1]] = value
            for name in self.chart.points:
                self._limit(name)

    def _limit(self, name: str) -> None:
        """The tolerance of a residual: that of its field (Ux: U), whose name in residualControl may be a pattern."""
        for field_name, value in self.run["criteria"].items():
            if field_name in (name, name[:-1] if name[-1:] in "xyz" else name) or _fits(field_name, name):
                self.chart.tolerance[name] = value


def _fits(pattern: str, name: str) -> bool:
    try:
        return not pattern.isidentifier() and re.fullmatch(pattern, name) is not None
    except re.error:
        return False


_KEYS = {
    b"Exec": FoamLog._exec, b"Date": FoamLog._word, b"PID ": FoamLog._word, b"Case": FoamLog._word, b"nPro": FoamLog._word, b"Time": FoamLog._time,
    b"time": FoamLog._continuity, b"Cour": FoamLog._courant, b"boun": FoamLog._bounding, b"Star": FoamLog._start, b"Calc": FoamLog._start, b"Crea": FoamLog._create,
    b"End": FoamLog._ended, b"Fina": FoamLog._ended, b"delt": FoamLog._delta, b"--> ": FoamLog._fatal,
    **{f"#{at}  ".encode()[:4]: FoamLog._trace for at in range(10)}, **{f"[{at}] ".encode()[:4]: FoamLog._rank for at in range(10)},
}  # fmt: skip

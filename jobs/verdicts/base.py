"""What a run's own output says of its result: the words, and where a solver's judgement is found.

The one idea: the *status* of a job follows its command, the *verdict* follows what the solver wrote. A verdict rests on
several facts at once (ending, lines, files, numbers), never on an exit code or a "finished" phrase alone, and it always
carries the evidence. Nothing here knows Django; a solver's knowledge is one module named after its software code.
"""

from __future__ import annotations

import importlib
import logging
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Protocol

MODULES = {
    "shell": "shell",
    "mpi": "mpi",
    "calculix": "calculix",
    "openfoam": "openfoam",
    "lammps": "lammps",
    "gromacs": "gromacs",
    "quantum_espresso": "quantum_espresso",
    "nwchem": "nwchem",
}
SPELLINGS = {
    "ccx": "calculix", "foam": "openfoam", "lmp": "lammps", "gmx": "gromacs", "pw.x": "quantum_espresso", "pwscf": "quantum_espresso",
    "qe": "quantum_espresso", "espresso": "quantum_espresso", "quantumespresso": "quantum_espresso", "bash": "shell", "sh": "shell", "openmpi": "mpi", "open_mpi": "mpi",
    "generic": "shell", "generic_mpi": "mpi", "generic_shell": "shell",
}  # fmt: skip

logger = logging.getLogger(__name__)


class Label(StrEnum):
    CONVERGED = "converged"
    FINISHED = "finished"
    NOT_CONVERGED = "not converged"
    DIVERGED = "diverged"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"


GOOD = (Label.CONVERGED, Label.FINISHED)


@dataclass(frozen=True)
class Evidence:
    """A line of a file that speaks for a verdict; `line` counts from 1, None where the file as a whole is meant."""

    file: str
    line: int | None
    text: str


@dataclass(frozen=True)
class Verdict:
    verdict: Label
    reason: str
    evidence: tuple[Evidence, ...] = ()
    advice: str = ""
    at: str = ""  # "Diverged at <at>": a step or a time in the solver's own words

    @property
    def good(self) -> bool:
        return self.verdict in GOOD

    def as_dict(self) -> dict[str, Any]:
        evidence = [{"file": e.file, "line": e.line, "text": e.text} for e in self.evidence]
        return {"verdict": str(self.verdict), "reason": self.reason, "evidence": evidence, "advice": self.advice}


@dataclass(frozen=True)
class Ending:
    """How the command ended, as the node saw it. `exit_code` may be 128 + n where a shell reports signal n."""

    exit_code: int | None
    signal: int | None = None
    pipe: tuple[int, ...] | None = None  # exit codes of the parts of the pipeline
    stopped: bool = False  # by a wish, the walltime or the budget
    memory_killed: bool = False

    @property
    def ended_by(self) -> int | None:
        """The signal that ended the command, whether told as such or as 128 + n; None if it ended by itself."""
        if self.signal:
            return self.signal
        code = self.exit_code
        return code - 128 if code is not None and 128 < code <= 192 else None

    @property
    def clean(self) -> bool:
        return self.exit_code == 0 and not self.signal and not self.memory_killed and not any(self.pipe or ())


class Files(Protocol):
    """A job folder as the run left it. Names are relative posix paths; `open` never follows a link and never blocks."""

    def names(self) -> Sequence[str]: ...
    def size(self, name: str) -> int: ...
    def open(self, name: str) -> BinaryIO: ...


class Folder:
    """A folder on disk as `Files`: regular files only, no link is followed, no more than `limit` names are listed."""

    def __init__(self, path: str | os.PathLike[str], limit: int = 200_000) -> None:
        self.path = Path(path)
        self.limit = limit
        self._names: list[str] | None = None

    def names(self) -> Sequence[str]:
        if self._names is None:
            found = self._walk(str(self.path), "")
            self._names = sorted(name for name, _ in zip(found, range(self.limit), strict=False))
        return self._names

    def size(self, name: str) -> int:
        try:
            info = os.lstat(self.path / name)
        except (OSError, ValueError):
            return 0
        return info.st_size if stat.S_ISREG(info.st_mode) else 0

    def open(self, name: str) -> BinaryIO:
        """Opens part by part below the folder, so that no link on the way leads out. OSError if it is not a file."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if not parts or name.startswith("/"):
            raise OSError(f"{name or 'nothing'} is not a name within the folder")
        at = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        *folders, last = parts
        try:
            for part in folders:
                at = _step(at, part, os.O_DIRECTORY)
            handle = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        finally:
            os.close(at)
        return _regular(handle, name)

    def _walk(self, folder: str, prefix: str) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(entry.path, f"{prefix}{entry.name}/")


def _step(at: int, part: str, flags: int) -> int:
    if part == "..":
        raise OSError(f"{part} leads out of the folder")
    inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=at)
    os.close(at)
    return inner


def _regular(handle: int, name: str) -> BinaryIO:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{name} is not a file")
    return os.fdopen(handle, "rb")


@dataclass(frozen=True)
class Progress:
    """How far a run is, as far as its output tells; None where it does not."""

    text: str = ""  # "increment 14 of 40"
    step: int | None = None
    steps: int | None = None
    time: float | None = None  # in the solver's own unit
    end: float | None = None
    percent: float | None = None  # 0 to 100


@dataclass(frozen=True)
class Alarm:
    """Something that a person, or the wish "stop when it diverges", should know at once."""

    kind: str  # "nan", "growth", "error"
    message: str
    evidence: Evidence
    diverging: bool = True


@dataclass(frozen=True)
class Series:
    """One line of the chart that grows: at most a few hundred points, thinned evenly."""

    name: str
    points: tuple[tuple[float, float], ...]
    tolerance: float | None = None
    x: str = "step"
    logarithmic: bool = True
    points_seen: int = field(default=0, compare=False)


class Follower(Protocol):
    """Reads the named streams of a running job as they grow; memory stays bounded whatever comes."""

    def feed(self, stream: str, data: bytes) -> None: ...
    def progress(self) -> Progress | None: ...
    def alarm(self) -> Alarm | None: ...
    def series(self) -> Sequence[Series]: ...
    def dump(self) -> dict[str, Any]: ...
    def load(self, kept: dict[str, Any]) -> None: ...


def code_of(software: str) -> str | None:
    """The software code for any usual spelling ("quantum-espresso", "CalculiX"), or None."""
    plain = software.strip().lower().replace("-", "_").replace(" ", "_")
    plain = SPELLINGS.get(plain, plain)
    return plain if plain in MODULES else None


def judge(software: str, folder: Files, ending: Ending, command: str = "", log: str | None = None, version: str = "") -> Verdict:
    """The verdict on a run. `log` names a file in the folder that holds stdout and stderr, if there is one; `version` is the
    one that was chosen: where the run's own banner names another one, the verdict says so.

    An unknown software is judged as a plain command. Never raises for what lies in the folder.
    """
    code = code_of(software) or "shell"
    judged: Callable[..., Verdict] = module(code).judge
    try:
        verdict = judged(folder, ending, command, log)
        return _compared(verdict, code, folder, command, log, version) if version else verdict
    except (ValueError, ArithmeticError, LookupError, RecursionError, OSError, MemoryError) as error:
        # A log may say anything. What we did not think of must not cost the job its page.
        logger.exception("the verdict on a run of %s failed", software)
        return Verdict(Label.UNKNOWN, f"The result could not be judged: {type(error).__name__}.", (), "Look at the output yourself.")


def follow(software: str, folder: Files | None = None, command: str = "") -> Follower:
    """A live follower for the software; `folder` holds the inputs (steps asked for, tolerances) where known."""
    return module(code_of(software) or "shell").follow(folder, command)


def streams(software: str, command: str) -> dict[str, str]:
    """Files that the command makes the solver write, worth following live: {name: relative path}."""
    from .sources import parts  # sources knows Files, so it cannot be imported above

    named = getattr(module(code_of(software) or "shell"), "streams", None)
    found = dict(named(None, command)) if named else {}
    for path in [part.place(name) for part in parts(command) for name in part.output]:
        if path not in found.values() and not path.startswith(("..", "/")):
            found.setdefault(path.rsplit("/", 1)[-1], path)
    return dict(list(found.items())[:12])


def _compared(verdict: Verdict, code: str, folder: Files, command: str, log: str | None, chosen: str) -> Verdict:
    """The verdict, with a word on a version that is not the chosen one."""
    from . import versions  # versions knows Files, so it cannot be imported above

    told = versions.ran(code, folder, command, log)
    if told is None or versions.same(told[0], chosen):
        return verdict
    reason = f"{verdict.reason} It ran version {told[0]}, you chose {chosen}."
    return replace(verdict, reason=reason, evidence=(*verdict.evidence, told[1]))


def module(code: str) -> Any:
    """The module of a software code; imported when first wanted."""
    return importlib.import_module(f"{__package__}.{MODULES[code]}")

"""What a LAMMPS input asks for: runs and minimisations in order, tolerances, files to be written.

The one idea: an input with loops, branches or computed numbers is not followed; what it asks for is then unknown (None),
never guessed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .base import Evidence, Files
from .text import number, shown, words

DEEPEST = 8
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w)")
BRANCHES = (
    "jump",
    "next",
    "if",
    "label",
    "python",
    "rerun",
    "neb",
    "neb/spin",
    "temper",
    "tad",
    "prd",
    "hyper",
    "message",
    "kim_query",
    "partition",
    "clear",
)


@dataclass(frozen=True)
class Action:
    kind: str  # run or minimize
    at: Evidence
    steps: int | None = None
    etol: float | None = None
    ftol: float | None = None


@dataclass
class Deck:
    name: str
    actions: list[Action] = field(default_factory=list)
    branches: bool = False
    lost: str = ""  # thermo_modify lost: ignore or warn
    loses: bool = False  # deletes or adds atoms on purpose
    files: list[tuple[str, Evidence]] = field(default_factory=list)  # write_data, write_restart
    dumps: list[tuple[str, Evidence]] = field(default_factory=list)  # of one file each
    quits: bool = False  # ends itself before the end of the input
    timeout: Evidence | None = None
    rest: list[Evidence] = field(default_factory=list)  # lines with run or minimize that are commented out
    lines: list[Evidence] = field(default_factory=list)

    def line_of(self, command: str) -> Evidence | None:
        plain = " ".join(command.split())
        return next((one for one in self.lines if plain and " ".join(one.text.split()).startswith(plain[:80])), None)


def read(folder: Files, name: str, variables: dict[str, str] | None = None) -> Deck | None:
    """The input of that name with its includes, or None where it is not in the folder."""
    if not name or not folder.size(name):
        return None
    deck, known = Deck(name), dict(variables or {})
    for at, text in _commands(folder, name, deck, 0):
        said = _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), text).split()
        if _command(deck, at, said, known):
            deck.quits = not deck.branches
            break
    return deck


def _commands(folder: Files, name: str, deck: Deck, depth: int) -> Iterator[tuple[Evidence, str]]:
    pending, start = "", 0
    for count, raw in enumerate(words(folder, name, 4 << 20).splitlines(), 1):
        if re.match(r"\s*#\s*(?:run|minimize)\b", raw):
            deck.rest.append(Evidence(name, count, shown(raw)))
        line = raw.split("#", 1)[0].rstrip()
        start = start or count
        if line.endswith("&"):
            pending += line[:-1] + " "
            continue
        text, at = (pending + line).strip(), Evidence(name, start, shown(pending + line))
        pending, start = "", 0
        if text and len(deck.lines) < 20_000:
            deck.lines.append(at)
            yield from _followed(folder, name, at, text, deck, depth)


def _followed(folder: Files, name: str, at: Evidence, text: str, deck: Deck, depth: int) -> Iterator[tuple[Evidence, str]]:
    said = text.split()
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), said[1])) if said[0] == "include" and len(said) > 1 else ""
    if place and not place.startswith(("..", "/")) and folder.size(place) and depth < DEEPEST:
        yield from _commands(folder, place, deck, depth + 1)
    else:
        yield at, text


def _command(deck: Deck, at: Evidence, said: list[str], known: dict[str, str]) -> bool:
    """Notes a command; True where the input ends (quit)."""
    name, rest = said[0], said[1:]
    if name == "variable" and len(rest) > 2 and rest[1] in ("equal", "index", "string", "internal"):
        known.setdefault(rest[0], rest[2].strip("\"'"))
    elif name == "run":
        plain = "upto" not in rest and "every" not in rest
        deck.actions.append(Action("run", at, _whole(rest[0]) if rest and plain else None))
    elif name == "minimize":
        values = [number(word) for word in rest[:2]] + [None, None]
        deck.actions.append(Action("minimize", at, _whole(rest[2]) if len(rest) > 2 else None, values[0], values[1]))
    elif name in BRANCHES:
        deck.branches = True
    else:
        _other(deck, at, name, rest)
    return name == "quit"


def _other(deck: Deck, at: Evidence, name: str, rest: list[str]) -> None:
    if name in ("write_data", "write_restart") and rest and not re.search(r"[*%$]", rest[0]):
        deck.files.append((rest[0], at))
    elif name == "dump" and len(rest) > 4 and not re.search(r"[*%$]|\.(gz|zst|bin|nc|h5|dcd|xtc|mpg|mp4|avi)$", rest[4]):
        deck.dumps.append((rest[4], at))
    elif name == "thermo_modify" and "lost" in rest[:-1]:
        deck.lost = rest[rest.index("lost") + 1]
    elif name == "timer" and "timeout" in rest:
        deck.timeout = at
    elif name == "delete_atoms" or (
        name == "fix"
        and len(rest) > 2
        and rest[2] in ("evaporate", "deposit", "gcmc", "pour", "bond/react", "widom", "atom/swap", "phonon")
    ):
        deck.loses = True


def _whole(word: str) -> int | None:
    value = number(word)
    return int(value) if value is not None and abs(value) < 1e15 else None

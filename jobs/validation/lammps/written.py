"""Files that a LAMMPS script makes by itself.

The one idea to know: a name that stands in a command which may write it (in quotes of an `if` as well) is never called missing
later on.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from .script import Command

RUNS_OTHERS = {"if", "shell", "python", "run", "partition", "plugin", "info", "temper", "neb", "tad", "prd", "hyper", "mdi"}


def written(command: Command) -> Iterator[str]:
    """Paths that a command writes, as they are in the script."""
    words = command.words
    if command.name in ("write_data", "write_restart", "log", "write_coeff"):
        yield from words[:1]
    elif command.name == "restart":
        yield from (word for word in words[1:] if not word.isdigit())
        yield from (word + ".*" for word in words[1:] if "*" not in word)
    elif command.name == "dump":
        yield from words[4:5]
    elif command.name == "write_dump":
        yield from words[2:3]
    elif command.name in ("pair_write", "bond_write", "angle_write", "dihedral_write"):
        yield from words
    elif command.name in ("print", "fix") and any(word in ("file", "append") for word in words[:-1]):
        for at, word in enumerate(words[:-1]):
            if word in ("file", "append"):
                yield words[at + 1]


def makes(command: Command) -> bool:
    """It writes a file, or runs something that may."""
    return command.name in RUNS_OTHERS or any(True for _ in written(command))


def may_make(commands: Iterable[Command], path: str) -> bool:
    """One of the commands writes this path, or holds its name where it may run something that does."""
    name = posixpath.normpath(path)
    base = posixpath.basename(name)
    for command in commands:
        if command.name in RUNS_OTHERS and base in command.text:
            return True
        if any(_fits(other, name) for other in written(command)):
            return True
    return False


def _fits(other: str, name: str) -> bool:
    """A name that is written, perhaps with a step number or a variable in it."""
    pattern = re.escape(posixpath.normpath(other)).replace(r"\*", ".*").replace("%", ".*")
    pattern = re.sub(r"\\\$(\\\{\w+\\\}|\\\(.*?\\\)|\w)", ".*", pattern)
    return re.fullmatch(pattern + r"(\.\d+)?", name) is not None

"""Output of a LAMMPS script that a later command of the same script overwrites.

The one idea to know: dump, log and a fix with `file` begin their file anew; what an earlier command wrote there is gone, unless it is
told to append. A name that holds a step number or a variable is another file each time.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..base import Finding, warning
from .script import Command, Script, is_known

_COMPUTE = ("run", "minimize", "rerun", "neb", "temper")
_KINDS = ("dump", "log", "fix", "print", "write_data", "write_restart", "write_dump")
_MOST_LOOPS = 50
_APART = ("if", "python", "plugin", "partition", "clear")


@dataclass
class Written:
    command: Command
    used: bool = False  # something was computed since, so there is something in it


def check(script: Script) -> Iterator[Finding]:
    if any(True for _ in script.of(*_APART)) or not script.whole:
        return
    yield from _loops(script) if any(True for _ in script.of("jump")) else _straight(script)


def _straight(script: Script) -> Iterator[Finding]:
    there: dict[str, Written] = {}
    appends = _appending(script)
    for command in script.commands:
        if command.name in _COMPUTE:
            for one in there.values():
                one.used = True
        name = _file(command)
        if not name or (command.name, command.word(0)) in appends:
            continue
        before = there.get(name)
        if before is not None and _loses(before, command):
            yield _again(command, name, before.command)
            return
        there[name] = Written(command, command.name in ("write_data", "write_restart", "write_dump", "print"))


def _loses(before: Written, command: Command) -> bool:
    """Two of a kind that is written over on purpose, as a last state, lose nothing."""
    saved = ("write_data", "write_restart", "print")
    return (before.used or before.command.name != command.name) and not (before.command.name == command.name and command.name in saved)


def _loops(script: Script) -> Iterator[Finding]:
    """A file that is begun in each turn of a loop under one name."""
    labels = {command.word(0): at for at, command in enumerate(script.commands) if command.name == "label"}
    appends = _appending(script)
    jumps = [(at, command) for at, command in enumerate(script.commands) if command.name == "jump"]
    for end, jump in jumps[:_MOST_LOOPS]:
        start = labels.get(jump.word(1)) if jump.word(0) == "SELF" else None
        turn = script.commands[start:end] if start is not None and start < end else []
        if not any(command.name == "run" for command in turn) or any(command.name == "shell" for command in turn):
            continue
        for command in turn:
            name = _file(command)
            if name and command.name in ("dump", "log", "fix") and (command.name, command.word(0)) not in appends:
                yield warning(f"{command.where} begins {name} anew in each turn of the loop {jump.word(1)}; only the last stays.",
                              file=command.file, line=command.line, thing=name,
                              remedy="Put the loop's variable into the name, or append.")  # fmt: skip
                return


def _appending(script: Script) -> set[tuple[str, str]]:
    return {("dump", command.word(0)) for command in script.of("dump_modify") if re.search(r"\bappend\s+(yes|on|true|\$)", command.text)}


def _file(command: Command) -> str:
    """The one file that a command begins anew; "" if there is none, or if it is another each time."""
    words, name = command.words, ""
    if command.name == "dump":
        name = command.word(4)
    elif command.name in ("write_data", "write_restart") or command.name == "log" and "append" not in words:
        name = command.word(0)
    elif command.name == "write_dump" and "append" not in words:
        name = command.word(2)
    elif (
        command.name in ("fix", "print") and "file" in words[:-1] and (command.name == "print" or re.match(r"ave/|print", command.word(2)))
    ):
        name = words[words.index("file") + 1]
    plain = is_known(name) and not set("*%") & set(name) and name not in ("none", "NULL", "log.lammps", "")
    return posixpath.normpath(name) if plain and not name.startswith("/dev/") else ""


def _again(command: Command, name: str, before: Command) -> Finding:
    remedy = f"Give it another name{', or add dump_modify ' + command.word(0) + ' append yes' if command.name == 'dump' else ''}."
    return warning(f"{command.where} writes to {name}, which {before.where} ({before.name}) writes as well: what is in it by then is "
                   "overwritten.", file=command.file, line=command.line, thing=name, remedy=remedy)  # fmt: skip

"""Names that a LAMMPS script may give only once, and fixes that it replaces by another style.

The one idea to know: a fix may be defined again if its style stays; a compute, a dump and a region may not while they are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from .script import Command, Script, is_known

_ENDS = {"unfix": "fix", "uncompute": "compute", "undump": "dump"}
_STYLE_AT = {"fix": 2, "compute": 2, "dump": 2, "region": 1}
_SUFFIX = re.compile(r"/(omp|gpu|kk|kk/host|kk/device|opt|intel)$")


def check(script: Script) -> Iterator[Finding]:
    if any(True for _ in script.of("if", "jump", "clear", "python", "plugin", "partition")):
        return
    known: dict[tuple[str, str], Command] = {}
    for command in script.commands:
        name = command.word(0)
        if command.name in _ENDS:
            known.pop((_ENDS[command.name], name), None)
        elif command.name == "region" and command.word(1) == "delete":
            known.pop(("region", name), None)
        elif command.name in _STYLE_AT and is_known(name):
            before = known.setdefault((command.name, name), command)
            if before is not command and (found := _again(command, before)):
                yield found
                return


def _again(command: Command, before: Command) -> Finding | None:
    name, style = command.word(0), command.word(_STYLE_AT[command.name])
    at = {"file": command.file, "line": command.line, "thing": name}
    if command.name != "fix":
        return error(f"{command.where}: the {command.name} {name} is defined in line {before.line} already.",
                     remedy="Give it another name.", **at)  # type: ignore[arg-type] # fmt: skip
    old = before.word(2)
    if not is_known(style + old) or _SUFFIX.sub("", style) == _SUFFIX.sub("", old) or style == "property/atom":
        return None
    return error(f"{command.where}: the fix {name} is {old} since line {before.line}, and can't be replaced by another style.",
                 remedy=f"Put unfix {name} before it, or give it another name.", **at)  # type: ignore[arg-type] # fmt: skip

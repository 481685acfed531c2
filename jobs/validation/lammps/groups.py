"""Groups, computes and fixes that a script uses but never defines.

The one idea to know: this holds only for a script that was read completely, without jumps into other files, restarts
or anything else that may define a name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error
from .script import Command, Script, is_known

_GROUP_AT = {"fix": 1, "compute": 1, "dump": 1, "velocity": 0, "displace_atoms": 0, "write_dump": 0}
_REMOVED = {"unfix": "fix", "uncompute": "compute", "undump": "dump", "fix_modify": "fix", "compute_modify": "compute",
            "dump_modify": "dump"}  # fmt: skip


def check(script: Script) -> Iterator[Finding]:
    if not script.complete or any(True for _ in script.of("jump", "if", "python", "partition")):
        return
    if any(command.word(2).startswith(("bond/react", "adapt", "python")) for command in script.of("fix")):
        return
    groups = {"all", *(command.word(0) for command in script.of("group"))}
    known = {kind: {command.word(0) for command in script.of(kind)} for kind in ("fix", "compute", "dump")}
    for command in script.commands:
        at = _GROUP_AT.get(command.name)
        name = command.word(at) if at is not None else ""
        if name and is_known(name) and all(map(is_known, groups)) and name not in groups:
            yield _undefined(command, "group", name, groups)
        kind = _REMOVED.get(command.name)
        name = command.word(0)
        brought = name.startswith("thermo_") or name.endswith(("_temp", "_press", "_pe", "_pressure"))  # by LAMMPS, or by a fix
        if kind and not brought and is_known(name) and all(map(is_known, known[kind])) and name not in known[kind]:
            yield _undefined(command, kind, name, known[kind])


def _undefined(command: Command, kind: str, name: str, names: set[str]) -> Finding:
    near = difflib.get_close_matches(name, sorted(names), 1, 0.6)
    return error(f"{command.where}: {command.name} uses the {kind} {name}, which is never defined.", file=command.file,
                 line=command.line, thing=name, remedy=f"The nearest is {near[0]}." if near else f"Define the {kind} first.")  # fmt: skip

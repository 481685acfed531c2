"""Files that a LAMMPS script reads, and where it writes.

The one idea to know: a potential that the distribution brings is found by the installation; any other must be uploaded.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import check_read, check_written
from ..plan import Step
from ..text import lines
from ..tree import is_system, resolve
from .potentials import BROUGHT
from .script import Command, Script, is_known
from .written import makes, may_make, written

_VERBS = {"include": "includes", "read_data": "reads", "read_restart": "reads the restart", "read_dump": "reads", "rerun": "reads",
          "molecule": "reads", "variable": "reads", "fix": "reads", "pair_coeff": "reads the potential", "ndx2group": "reads"}  # fmt: skip
_POTENTIAL = re.compile(r"[\w.+/\\:~-]*\.(eam|alloy|fs|tersoff|sw|meam|airebo(-m)?|rebo|edip|bop|snap(coeff|param)?|vashishta|table|adp|comb3?|"
                        r"eim|yace|pth?|nn|mliap|lcbop|modc?|zbl|spline|extep|gw|drip|ilp|kc|pot|potential|txt|dat|poly|agni|streitz|"
                        r"rann|ace|setfl|param|coeff)$|(.*/)?(ffield|library|lib)[.\w]*$", re.I)  # fmt: skip


def check(request: Request, step: Step, script: Script) -> Iterator[Finding]:
    loops = any(True for _ in script.of("jump"))  # then what stands behind may run before
    made = {word for command in script.of("shell") for word in command.words}
    steps_on = any(command.word(0) == "cd" for command in script.of("shell"))
    makers = [command for command in script.commands if loops and makes(command)]
    for command in script.commands:
        if not steps_on and not step.conditional:
            for path in _read(command, script):
                if path not in made and not may_make(makers, path):
                    yield from _judge_read(step, command, path)
        makers += [command] if not loops and makes(command) else []
        yield from _judge_written(step, command, made, steps_on)
        if command.name == "read_data":
            yield from _data(request, step, command)
    yield from _overwritten(step, script)


def _read(command: Command, script: Script) -> Iterator[str]:
    words = command.words
    if command.name == "include" and command in script.absent:
        yield command.word(0)
    if command.name in ("read_data", "read_restart", "read_dump", "ndx2group"):
        yield from words[:1]
    elif command.name == "rerun":
        stop = next((at for at, word in enumerate(words) if word in ("first", "last", "every", "skip", "start", "stop", "post", "dump")),
                    len(words))  # fmt: skip
        yield from words[:stop]
    elif command.name == "molecule":
        yield from (word for word in words[1:2])
    elif command.name == "variable" and command.word(1) in ("file", "atomfile"):
        yield from words[2:3]
    elif command.name == "pair_coeff":
        yield from (word for word in words[2:] if _POTENTIAL.fullmatch(word) and not re.fullmatch(r"[-+\d.eE]+", word))
    elif command.name == "fix" and command.word(2) in ("tmd", "cmap", "colvars", "plumed", "ttm"):
        yield from _fix_file(command)


def _fix_file(command: Command) -> Iterator[str]:
    if command.word(2) in ("cmap", "colvars"):
        yield command.word(3)
    elif command.word(2) == "tmd":
        yield command.word(4)
    elif command.word(2) == "plumed" and "plumedfile" in command.words[:-1]:
        yield command.words[command.words.index("plumedfile") + 1]


def _judge_read(step: Step, command: Command, path: str) -> Iterator[Finding]:
    if not path or not is_known(path):
        return
    base = posixpath.basename(path)
    if command.name == "pair_coeff" and base in BROUGHT or is_system(path):
        return
    if command.name in ("read_restart", "read_data", "rerun", "read_dump") and any(char in path for char in "*%"):
        yield from _pattern(step, command, path)
        return
    missing = "Add it from the results of the earlier job." if command.name == "read_restart" else ""
    found = check_read(step.tree, path, verb=_VERBS[command.name], file=command.file, line=command.line, cwd=step.cwd, missing=missing)
    if found and not (command.name == "rerun" and step.tree.exists(resolve(step.cwd or "", path + ".gz") or "?")):
        yield found


def _pattern(step: Step, command: Command, path: str) -> Iterator[Finding]:
    inside = resolve(step.cwd or "", path.replace("%", "*")) if step.cwd is not None else None
    if inside and not step.tree.anything and not step.tree.matches(inside):
        yield error(f"{command.where} {_VERBS[command.name]} {path}, but no uploaded file fits.", file=command.file,
                    line=command.line, thing=path, remedy="Add it from the results of the earlier job.")  # fmt: skip


def _judge_written(step: Step, command: Command, made: set[str], steps_on: bool) -> Iterator[Finding]:
    for path in written(command):
        if not is_known(path) or path in ("none", "NULL", "") or path.endswith(".*") or path.startswith("/dev/"):
            continue
        if found := check_written(path, verb="writes to", file=command.file, line=command.line, cwd=step.cwd):
            yield found  # no error: a site's nodes may have such a folder
            continue
        folder = posixpath.dirname(path)
        inside = resolve(step.cwd, folder) if step.cwd is not None and folder and not steps_on else None
        if inside and not any(folder.split("/")[0] in word for word in made) and step.tree.is_folder(inside) is False:
            yield error(f"{command.where} writes to {path}, but there is no folder {folder}: LAMMPS makes none.", file=command.file,
                        line=command.line, thing=path, remedy=f"Begin the command with mkdir -p {folder}.")  # fmt: skip


def _overwritten(step: Step, script: Script) -> Iterator[Finding]:
    read = {command.word(0): command for command in script.of("read_data", "read_restart", "read_dump")}
    for command in script.of("write_data", "write_restart", "dump", "write_dump"):
        for path in written(command):
            if path in read and is_known(path) and resolve(step.cwd or "", path) in step.tree.inputs:
                yield warning(f"{command.where} overwrites {path}, which {read[path].where} reads.", file=command.file,
                              line=command.line, thing=path, remedy="Write to another name.")  # fmt: skip


def _data(request: Request, step: Step, command: Command) -> Iterator[Finding]:
    """The head of a data file."""
    path = command.word(0)
    inside = resolve(step.cwd, path) if step.cwd is not None and is_known(path) else None
    if inside not in step.tree.inputs or inside in step.tree.made or str(inside).endswith((".gz", ".zst", ".bz2")):
        return
    name = str(inside)
    if request.inputs.size(name) == 0:
        yield error(f"{name} is empty (0 bytes).", file=name, thing=name, remedy="Upload it again.")
        return
    for line in lines(request.inputs, name, 60):
        text = line.text.split("#")[0].split()
        at = {"file": name, "line": line.number}
        if line.number == 1 and len(text) == 2 and text[0].isdigit() and text[1] == "atoms":
            yield error(f"{name} line 1: LAMMPS passes over the first line of a data file, so the number of atoms is lost.",
                        thing="atoms", remedy="Put a line of comment in front.", **at)  # type: ignore[arg-type] # fmt: skip
        elif text[2:4] in (["xlo", "xhi"], ["ylo", "yhi"], ["zlo", "zhi"]) and _reversed(text):
            yield error(f"{name} line {line.number}: the box runs from {text[0]} to {text[1]}.", thing=text[2],
                        remedy="The lower bound must be below the upper one.", **at)  # type: ignore[arg-type] # fmt: skip


def _reversed(text: list[str]) -> bool:
    try:
        return float(text[0]) >= float(text[1])
    except ValueError:
        return False

"""Names and order in a LAMMPS script: variables, computes and fixes that nobody defines, commands before there is a box, jumps.

The one idea to know: `${x}` is put in when its line is read, so a variable that no line and no -var defines ends the run there;
`c_x` and `f_x` are looked for when the command runs. Nothing is said of a script that something else may add names to.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Iterator

from ..base import Finding, error
from ..paths import check_read
from ..plan import Step
from .script import Command, Script, is_known

_PUT_IN = re.compile(r"\$\{(\w+)\}|\$([A-Za-z])(?![\w(])")
_USED = re.compile(r"(?<![\w.$/{])([cfv])_([A-Za-z]\w*)(?![\w.*])")
_BOX = ("create_box", "read_data", "read_restart")
_NEED_A_BOX = frozenset(
    """create_atoms mass velocity run minimize pair_coeff bond_coeff angle_coeff dihedral_coeff group set compute dump
    displace_atoms delete_atoms replicate change_box thermo_style write_data write_restart create_bonds""".split()
)
_UNSURE = ("python", "plugin", "kim", "kim_init", "kim_interactions", "partition", "mdi", "fitpod", "clear", "ndx2group", "temper", "neb")
_THERMO = {"temp", "press", "pe"}


def check(step: Step, script: Script, given: Iterable[str]) -> Iterator[Finding]:
    yield from _jumps(step, script)
    if any(command.name in _UNSURE for command in script.commands):
        return
    if script.whole:
        yield from _variables(script, set(given))
    if script.complete and not any(True for _ in script.of("if", "jump")):
        yield from _references(script, set(given))
        yield from _before_the_box(script)


def _variables(script: Script, given: set[str]) -> Iterator[Finding]:
    """Whatever is put in must be defined somewhere, or come from the command line."""
    made = given | {command.word(0) for command in script.of("variable", "next")}
    made |= {word for command in script.commands for word in re.findall(r"\bvariable\s+(\w+)", command.text)}  # in an if, a loop
    if any("$" in name for name in made):
        return
    told: set[str] = set()
    for command in script.commands:
        text = re.sub(r"\"\"\".*?\"\"\"", "", command.text, flags=re.S)
        for found in _PUT_IN.finditer(text if command.name not in ("shell", "print") else ""):
            name = found[1] or found[2]
            if name not in made and name not in told:
                told.add(name)
                yield _undefined(command, "variable", name, made, "Define it before, or give it in the command: -var {} VALUE.")


def _references(script: Script, given: set[str]) -> Iterator[Finding]:
    fixes = {command.word(0) for command in script.of("fix")}
    known = {
        "c": {command.word(0) for command in script.of("compute")} | {f"thermo_{name}" for name in _THERMO},
        "f": fixes,
        "v": {command.word(0) for command in script.of("variable")} | given,
    }
    if any("$" in name for names in known.values() for name in names):
        return
    for command in script.commands:
        for found in _USED.finditer(" ".join(_formulas(command))):
            kind, name = found.groups()
            brought = kind == "c" and any(name.startswith(f"{fix}_") for fix in fixes)  # computes that a fix makes
            if name not in known[kind] and not brought:
                words = {"c": "compute", "f": "fix", "v": "variable"}[kind]
                yield _undefined(command, words, name, known[kind], "Define it before.")


def _formulas(command: Command) -> tuple[str, ...]:
    """The words in which `c_x` can only be a reference: fixes have keywords of their own that look like one."""
    if command.name == "thermo_style":
        return command.words[1:]
    if command.name == "variable":
        return command.words[2:] if command.word(1) in ("equal", "atom", "vector") else ()
    if command.name == "dump":
        return command.words[5:] if command.word(2) in ("custom", "local", "cfg") else ()
    if command.name == "compute":
        return command.words[3:] if command.word(2).startswith(("reduce", "slice")) else ()
    return command.words[3:] if command.name == "fix" and command.word(2).startswith("ave/") else ()


def _before_the_box(script: Script) -> Iterator[Finding]:
    makes = next((at for at, command in enumerate(script.commands) if command.name in _BOX), None)
    early = next((command for command in script.commands[: makes or 0] if command.name in _NEED_A_BOX), None)
    if makes is not None and early is not None:
        box = script.commands[makes]
        yield error(f"{early.where}: {early.name} comes before there is a box, which {box.name} makes in line {box.line}.", file=early.file,
                    line=early.line, thing=early.name, remedy=f"Put it behind {box.name}.")  # fmt: skip


def _jumps(step: Step, script: Script) -> Iterator[Finding]:
    """A jump into a file that is not there, or to a label that no line has."""
    labels = {command.word(0) for command in script.of("label")}
    for command in script.commands:
        for target, label in _targets(command):
            if not is_known(target) or step.conditional:
                continue
            own = target == "SELF" or posixpath.normpath(posixpath.join(step.cwd or "", target)) == command.file
            if not own and (found := check_read(step.tree, target, verb="jumps to", file=command.file, line=command.line, cwd=step.cwd)):
                yield found
            elif own and label and is_known(label) and label not in labels and all(map(is_known, labels)) and script.whole:
                yield _undefined(command, "label", label, labels, "Write the label where the loop begins.")


def _targets(command: Command) -> Iterator[tuple[str, str]]:
    if command.name == "jump":
        yield command.word(0), command.word(1)
    elif command.name == "if":
        for word in command.words:
            if found := re.match(r"\s*jump\s+(\S+)(?:\s+(\S+))?\s*$", word):
                yield found[1], found[2] or ""


def _undefined(command: Command, kind: str, name: str, names: Iterable[str], remedy: str) -> Finding:
    near = difflib.get_close_matches(name, sorted(names), 1, 0.7)
    return error(f"{command.where}: {command.name} uses the {kind} {name}, which is never defined.", file=command.file,
                 line=command.line, thing=name, remedy=f"Did you mean {near[0]}?" if near else remedy.format(name))  # fmt: skip

"""What the launch command will do, step by step, as far as it can be read.

The one idea to know: scripts among the inputs are read in place (`bash run.sh`, `./Allrun`, `source env.sh`), so a
step knows the file and line where it stands, the folder it runs in, and the files that will be there by then.
A value that only the running shell knows is None and stays None.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .base import Inputs, Request
from .launch import Launcher, unwrap
from .programs import effects
from .script import Command, Redirection, parse
from .shebang import script_text
from .tree import Tree, resolve
from .words import Kind, Part, Word

SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
_TESTS = {"[", "[[", "test", "which", "type", "command", "grep", "diff", "cmp", "pgrep"}
_DEPTH = 5
_OWN_FOLDER = re.compile(r"\$\{?0|dirname|BASH_SOURCE")  # cd ${0%/*}: into the folder of the script
_STEPS = 5_000


@dataclass(frozen=True)
class Redirect:
    operator: str
    target: str | None  # None: not known, or a here-document
    descriptor: str = ""
    body: str | None = None


@dataclass(frozen=True)
class Step:
    """One program call. `words` is what was written, `argv` what remains behind launchers such as mpirun."""

    words: tuple[str | None, ...]
    argv: tuple[str | None, ...]
    line: int
    file: str | None = None  # the script it stands in; None: the command itself
    cwd: str | None = ""  # relative to the job folder; None: not known or outside
    launcher: Launcher | None = None
    redirects: tuple[Redirect, ...] = ()
    environment: Mapping[str, str | None] = field(default_factory=dict)
    conditional: bool = False
    looped: bool = False
    after: str = ""
    before: str = ""
    shown: tuple[str, ...] = ()  # the words as they are written
    globs: frozenset[int] = frozenset()  # positions in argv that hold an unquoted pattern
    tree: Tree = field(default_factory=lambda: Tree(()))  # as it is before this step

    @property
    def program(self) -> str:
        """The last part of the program's path, "" if unknown."""
        return posixpath.basename((self.argv[0] or "") if self.argv else "")

    @property
    def stdin(self) -> str | None:
        return next((r.target for r in self.redirects if r.operator == "<" and r.descriptor in ("", "0")), None)

    def path(self, word: str | None) -> str | None:
        """The name in the job folder that `word` means here; None if unknown or outside."""
        return None if word is None or self.cwd is None else resolve(self.cwd, word)

    def option(self, *names: str) -> str | None:
        """The value behind the last of the options, `-o value` or `--option=value`."""
        found = None
        for at, word in enumerate(self.argv[1:], 1):
            if word in names and at + 1 < len(self.argv):
                found = self.argv[at + 1]
            elif word and word.startswith("--") and word.partition("=")[0] in names and "=" in word:
                found = word.partition("=")[2]
        return found


@dataclass
class Plan:
    steps: list[Step]
    tree: Tree  # as it is after the last step
    functions: set[str]

    def until(self, step: Step) -> list[Step]:
        """The steps that come before this one."""
        return self.steps[: next((at for at, other in enumerate(self.steps) if other is step), 0)]

    def of(self, *programs: str) -> list[Step]:
        return [step for step in self.steps if step.program in programs]


def make_plan(request: Request) -> Plan:
    skipped = [name for name, _ in getattr(request.inputs, "skipped", ())]
    tree = Tree([*request.inputs.names(), *skipped], getattr(request.inputs, "folders", ()))
    known = {"HEADRACE_CORES": str(request.cores), "HEADRACE_NODES": str(request.nodes),
             "SLURM_NTASKS": str(request.cores), **request.environment}  # fmt: skip
    reader = _Reader(request.inputs, tree, dict(known))
    reader.read(request.command, None, 0)
    return Plan(reader.steps, reader.tree, reader.functions)


class _Reader:
    def __init__(self, inputs: Inputs, tree: Tree, variables: dict[str, str | None]) -> None:
        self.inputs = inputs
        self.tree = tree
        self.variables = variables
        self.cwd: str | None = ""
        self.steps: list[Step] = []
        self.functions: set[str] = set()
        self.reading: list[str] = []
        self.guarded = False  # by a test before &&

    def read(self, text: str, file: str | None, depth: int, offset: int = 0, outer: Step | None = None) -> None:
        if len(self.steps) >= _STEPS:
            return
        script = parse(text)
        self.functions |= script.functions
        for name in script.loop_variables:
            self.variables[name] = None
        saved: list[tuple[int, str | None]] = []
        for command in script.commands:
            self._subshells(command, saved)
            if len(self.steps) < _STEPS:
                self._command(command, file, depth, offset, outer)
        if saved:
            self.cwd = saved[0][1]

    def _subshells(self, command: Command, saved: list[tuple[int, str | None]]) -> None:
        """A `cd` in a subshell ends with it."""
        while saved and saved[-1][0] not in command.subshells:
            self.cwd = saved.pop()[1]
        for number in command.subshells:
            if number not in [known for known, _ in saved]:
                saved.append((number, self.cwd))

    def _command(self, command: Command, file: str | None, depth: int, offset: int, outer: Step | None) -> None:
        assigned = {name: self._value(word) for name, word in command.assignments}
        if not command.words:
            self.variables.update(assigned)
        self._guard(command)
        step = self._step(command, assigned, file, offset, outer)
        self._before(step)
        self.steps.append(step)
        if not self._inline(step, depth):
            self._after(step)
        self._written(step)

    def _guard(self, command: Command) -> None:
        """`[ -f x ] && cat x`: what follows runs only if the test says so."""
        before = self.steps[-1].program if self.steps else ""
        self.guarded = command.after == "&&" and (self.guarded or before in _TESTS)

    def _step(self, command: Command, assigned: dict[str, str | None], file: str | None, offset: int, outer: Step | None) -> Step:
        words, kept = self._words(command.words)
        argv, launcher, more = unwrap(words, self.variables | assigned)
        lost = len(words) - len(argv)
        globs = {at - lost for at, word in enumerate(kept) if _is_pattern(word)}
        redirects = tuple(self._redirect(found) for found in command.redirections)
        beside = command.after in ("|", "|&") and self.steps  # the programs of a pipe start together
        tree = self.steps[-1].tree if beside else self.tree.copy()
        return Step(
            words, argv, command.line + offset, file, self.cwd,
            launcher or (outer.launcher if outer else None), redirects,
            {**self.variables, **assigned, **more},
            command.conditional or command.after == "||" or self.guarded or bool(outer and outer.conditional),
            command.looped or bool(outer and outer.looped),
            command.after, command.before, tuple(word.shown for word in command.words), frozenset(globs), tree,
        )  # fmt: skip

    def _words(self, written: list[Word]) -> tuple[tuple[str | None, ...], list[Word]]:
        """Values of the words; an unquoted variable may stand for several words or none."""
        values: list[str | None] = []
        kept: list[Word] = []
        for word in written:
            value = self._value(word)
            alone = len(word.parts) == 1 and word.parts[0].kind is Kind.VARIABLE
            pieces: list[str | None] = [*value.split()] if alone and value is not None else [value]
            values += pieces
            kept += [word] * len(pieces)
        return tuple(values), kept

    def _redirect(self, found: Redirection) -> Redirect:
        target = self._value(found.target) if found.target else None
        body = "\n".join(found.body) if found.operator in ("<<", "<<-") else None
        return Redirect(found.operator, target, found.descriptor, body)

    def _before(self, step: Step) -> None:
        """`export`, `cd` and their like change what the next step sees."""
        if step.program in ("export", "declare", "local", "readonly", "typeset"):
            for word in step.argv[1:]:
                name, equals, value = (word or "").partition("=")
                if equals:
                    self.variables[name] = value
        elif step.program in ("read", "unset"):
            self.variables.update(dict.fromkeys((word or "" for word in step.argv[1:]), None))
        elif step.program in ("cd", "pushd"):
            self._enter(step)
        elif step.program == "popd":
            self.cwd = None

    def _enter(self, step: Step) -> None:
        target = next((word for word in step.argv[1:] if word != "--"), None)
        if target in ("$HEADRACE_JOB_DIR", "$OLDPWD") or target == "-":
            target = None
        if target is None and step.file and any(_OWN_FOLDER.search(word) for word in step.shown):
            self.cwd = posixpath.dirname(step.file)
        elif step.conditional or target is None:
            self.cwd = None
        else:
            self.cwd = step.path(target)

    def _after(self, step: Step) -> None:
        if step.program in self.functions:
            return
        made, anything = effects(step, self.inputs)
        names = [step.path(word) for word in made]
        if any(word is None for word in made) or (names and step.cwd is None):
            anything = True
        self.tree.make(*filter(None, names))
        self.tree.anything = self.tree.anything or anything

    def _written(self, step: Step) -> None:
        for redirect in step.redirects:
            if redirect.operator in (">", ">>", ">|", "&>", "&>>", "<>", ">&"):
                name = step.path(redirect.target)
                if name:
                    self.tree.make(name)
                elif redirect.target is None and redirect.operator != ">&":
                    self.tree.anything = True

    def _inline(self, step: Step, depth: int) -> bool:
        """Read the script that this step runs; False if it runs none that we can read."""
        if depth >= _DEPTH:
            return False
        if step.program in SHELLS and re.match(r"-[a-z]*c$", (step.argv[1] if len(step.argv) > 1 else "") or ""):
            text = step.argv[2] if len(step.argv) > 2 else None
            if text is None:
                return False
            self.read(text, step.file, depth + 1, step.line - 1, step)
            return True
        name = self._script(step)
        if name is None or name in self.reading:
            return False
        return self._read_script(name, step, depth)

    def _script(self, step: Step) -> str | None:
        if step.program in SHELLS:
            words = [word for word in step.argv[1:] if word is None or not word.startswith("-")]
            return step.path(words[0]) if words else step.path(step.stdin)
        if step.program in ("source", "."):
            return step.path(step.argv[1]) if len(step.argv) > 1 else None
        if step.argv and "/" in (step.argv[0] or ""):
            return step.path(step.argv[0])
        return None

    def _read_script(self, name: str, step: Step, depth: int) -> bool:
        text = script_text(self.inputs, name, direct=step.program not in (*SHELLS, "source", "."))
        if text is None:
            return False
        self.reading.append(name)
        cwd, variables = self.cwd, dict(self.variables)
        self.variables.update({str(at): word for at, word in enumerate(_arguments(step))})
        self.read(text, name, depth + 1, 0, step)
        if step.program not in ("source", "."):
            self.cwd, self.variables = cwd, variables
        self.reading.pop()
        return True

    def _value(self, word: Word) -> str | None:
        parts = [self._part(part) for part in word.parts]
        return None if None in parts else "".join(part or "" for part in parts)

    def _part(self, part: Part) -> str | None:
        if part.kind is Kind.UNKNOWN:
            return None
        if part.kind is not Kind.VARIABLE:
            return part.text
        if part.text in self.variables:
            return self.variables[part.text]
        return {"HOME": "~", "TMPDIR": "/tmp", "PWD": None if self.cwd is None else "."}.get(part.text)


def _arguments(step: Step) -> list[str | None]:
    """$0, $1, ... of the script that a step runs."""
    if step.program in (*SHELLS, "source", "."):
        words = list(step.argv[1:])
        while words and (words[0] or "").startswith("-"):
            words.pop(0)
        return words
    return list(step.argv)


def _is_pattern(word: Word) -> bool:
    return any(part.kind is Kind.TEXT and any(char in part.text for char in "*?[{") for part in word.parts)

"""Reads a LAMMPS script into commands, following `include`.

The one idea to know: variables are put in where their value is plain text (a string, an index, an equal-style number);
a word with any other variable is unknown, and nothing is said about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error, warning
from ..plan import Step
from ..text import MOST_INCLUDES, byte_order_mark, lines, not_text, too_many_includes
from ..tree import resolve

_WORD = re.compile(r'"""(.*?)"""|"([^"]*)"|\'([^\']*)\'|(\S+)', re.S)
_DEPTH = 12
_MOST = 100_000


@dataclass(frozen=True)
class Command:
    name: str
    words: tuple[str, ...]  # behind the name; variables that are known are put in
    file: str
    line: int
    text: str = ""

    def word(self, at: int) -> str:
        return self.words[at] if at < len(self.words) else ""

    @property
    def where(self) -> str:
        return f"{self.file} line {self.line}"


@dataclass
class Script:
    name: str
    commands: list[Command] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True
    whole: bool = True  # every line of it and of what it includes was read, wherever it jumps
    variables: dict[str, str | None] = field(default_factory=dict)
    absent: list[Command] = field(default_factory=list)  # includes of files that are not among the inputs

    def of(self, *names: str) -> Iterator[Command]:
        return (command for command in self.commands if command.name in names)


def is_known(word: str) -> bool:
    """No variable is left in it."""
    return "$" not in word and not word.startswith("v_")


def number(word: str) -> float | None:
    """The word as a number; INF and EDGE, which LAMMPS knows too, are none."""
    try:
        return float(word) if not word.lstrip("+-")[:1].isalpha() else None
    except ValueError:
        return None


def read_script(inputs: Inputs, step: Step, name: str, given: dict[str, str]) -> Script:
    script = Script(name, variables=dict(given))
    _Reader(inputs, step, script, set(given)).file(name, [])
    return script


class _Reader:
    def __init__(self, inputs: Inputs, step: Step, script: Script, fixed: set[str]) -> None:
        self.inputs, self.step, self.script, self.fixed = inputs, step, script, fixed
        self.odd = False
        self.files = 0

    def file(self, name: str, above: list[str]) -> None:
        if trouble := not_text(self.inputs, name):
            self.script.findings.append(trouble)
            self.script.complete = self.script.whole = False
            return
        if mark := byte_order_mark(self.inputs, name, "older versions of LAMMPS fail on line 1."):
            self.script.findings.append(mark)
        pending, start = "", 0
        in_quotes = False
        for line in lines(self.inputs, name, _MOST):
            self._characters(name, line.number, line.text)
            text = line.text if in_quotes else _without_comment(line.text)
            start = start or line.number
            if pending.count('"""') % 2 or text.count('"""') % 2:
                pending += text + "\n"
                in_quotes = pending.count('"""') % 2 == 1
                if in_quotes and len(pending) < 1 << 20:
                    continue
                in_quotes = False
                text = ""
            if text.rstrip().endswith("&") and len(pending) < 65_536:
                pending += text.rstrip()[:-1] + " "
                continue
            self._command(pending + text, name, start, above)
            pending, start = "", 0
        self._command(pending, name, start, above)

    def _characters(self, name: str, number: int, text: str) -> None:
        if not self.odd and not text.isascii() and not _without_comment(text).isascii():
            self.odd = True
            char = next(char for char in text if ord(char) > 127)
            self.script.findings.append(
                warning(
                    f"{name} line {number} has a non-ASCII character (U+{ord(char):04X}); newer versions of LAMMPS replace "
                    "it, older ones fail.",
                    file=name,
                    line=number,
                    thing=f"U+{ord(char):04X}",
                    remedy="Type the line again in plain ASCII.",
                )  # fmt: skip
            )

    def _command(self, text: str, name: str, number: int, above: list[str]) -> None:
        text = text.replace("\u00a0", " ").strip()
        if not text:
            return
        words = tuple(self._value(word) for word in _words(text))
        if found := re.search(r"(?:^|\s)([\"'])(?!\1)(?:(?!\1).)*$", re.sub(r"\"\"\".*?\"\"\"|\"[^\"]*\"|'[^']*'", "Q", text)):
            self.script.findings.append(error(f"{name} line {number}: a quote {found.group(1)} is not closed.", file=name, line=number,
                                              thing=found.group(1), remedy="Close it."))  # fmt: skip
        command = Command(words[0], words[1:], name, number, text)
        if len(self.script.commands) < _MOST:
            self.script.commands.append(command)
        if command.name == "variable":
            self._variable(command)
        elif command.name == "include":
            self._include(command, above)
        elif command.name in ("jump", "next"):
            self.script.complete = self.script.complete and command.word(0) == "SELF"
            self.script.whole &= command.name == "next" or command.word(0) in ("SELF", name)
        elif command.name in ("plugin", "python", "kim", "read_restart", "clear"):
            self.script.complete = False
            self.script.whole &= command.name in ("read_restart", "clear")

    def _variable(self, command: Command) -> None:
        name, style, words = command.word(0), command.word(1), command.words[2:]
        if name in self.fixed:
            return
        single = style in ("string", "index", "getenv") and len(words) == 1 and is_known(words[0])
        plain = style == "equal" and len(words) == 1 and number(words[0]) is not None
        again = name in self.script.variables and self.script.variables[name] != (words[0] if words else None)
        self.script.variables[name] = words[0] if (single or plain) and style != "getenv" and not again else None

    def _value(self, word: str) -> str:
        def known(found: re.Match[str]) -> str:
            value = self.script.variables.get(found.group(1) or found.group(2))
            return found.group() if value is None else value

        return re.sub(r"\$\{(\w+)\}|\$(\w)", known, word)

    def _include(self, command: Command, above: list[str]) -> None:
        path = command.word(0)
        inside = resolve(self.step.cwd or "", path) if self.step.cwd is not None and is_known(path) else None
        here = [*above, command.file]
        if inside is not None and inside in here:
            self.script.findings.append(error(f"{command.where} includes {path}, which includes itself: an endless loop.",
                                              file=command.file, line=command.line, thing=path,
                                              remedy="Take one of the include lines out."))  # fmt: skip
        elif self.files > MOST_INCLUDES:
            self.script.findings += [too_many_includes(command.file, command.line)] if self.files < 2 * MOST_INCLUDES else []
            self.files = 2 * MOST_INCLUDES
        elif inside in self.step.tree.inputs and inside not in self.step.tree.made and len(here) < _DEPTH:
            self.files += 1
            self.file(str(inside), here)
            return
        elif is_known(path) and not self.step.conditional:
            self.script.absent.append(command)
        self.script.complete = self.script.whole = False


def _without_comment(text: str) -> str:
    if "#" not in text:
        return text
    quote = ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#":
            return text[:at]
    return text


def _words(text: str) -> list[str]:
    return [next((group for group in found.groups() if group is not None), "") for found in _WORD.finditer(text)] or [""]

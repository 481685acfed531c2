"""Reads OpenFOAM dictionaries: keyword value; and keyword { ... }, with comments, includes and macros.

The one idea to know: a dictionary that includes what we can't see, or uses macros, is `open`. Then nothing in it is
called missing. A value `$name` is that of the entry read before, where it is one word. What the solver would refuse
while it reads (braces, semicolons) is kept as `problems`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .keywords import KEYWORDS
from .tokens import MOST_TOKENS, Token, tokens

_OPENING, _CLOSING = "([{", ")]}"
_MACRO = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_ONE_WORD = {"type", "solver", "preconditioner", "smoother", "application", "startFrom", "stopAt", "writeControl", "method"}
_NUMBER = re.compile(r"[-+]?\.?\d[\d.]*([eE][-+]?\d+)?\Z")
DEEPEST = 60


@dataclass
class Entry:
    key: str
    line: int
    pattern: bool = False  # the keyword stands in quotes: a regular expression
    values: list[Token] = field(default_factory=list)
    sub: Dictionary | None = None

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.values)

    @property
    def word(self) -> str | None:
        """The value if it is one word without macros."""
        if len(self.values) == 1 and not self.values[0].text.startswith(("$", "#")):
            return self.values[0].text
        return None

    @property
    def number(self) -> float | None:
        """The value if it is a number, with or without name and dimensions in front of it."""
        values = self.values[-1:] if self.values and ("]" in [v.text for v in self.values]) else self.values
        try:
            return float(values[0].text) if len(values) == 1 else None
        except ValueError:
            return None


@dataclass(frozen=True)
class Problem:
    line: int
    message: str
    thing: str
    sure: bool = True


@dataclass
class Dictionary:
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    open: bool = False
    includes: list[tuple[str, str, int]] = field(default_factory=list)  # (directive, path, line)
    problems: list[Problem] = field(default_factory=list)

    def get(self, key: str) -> Entry | None:
        """The last entry of this keyword, as OpenFOAM takes it; patterns count as well."""
        for entry in reversed(self.entries):
            if not entry.pattern and entry.key == key:
                return entry
        for entry in reversed(self.entries):
            if entry.pattern and _fits(entry.key, key):
                return entry
        return None

    def sub(self, key: str) -> Dictionary | None:
        entry = self.get(key)
        return entry.sub if entry else None


Include = Callable[[str, str, int], "Dictionary | None"]  # (directive, path, line) -> what it holds, None if not known


def parse(text: str, include: Include | None = None) -> Dictionary:
    found = list(tokens(text))
    reader = Reader(found, include)
    top = Dictionary()
    reader.read(top, 0, 0)
    if len(found) >= MOST_TOKENS:
        top.open, reader.problems = True, []
    top.problems = reader.problems
    return top


class Reader:
    def __init__(self, found: list[Token], include: Include | None) -> None:
        self.tokens, self.at, self.include = found, 0, include
        self.problems: list[Problem] = []
        self.scopes: list[Dictionary] = []

    def read(self, into: Dictionary, depth: int, opened: int) -> None:
        self.scopes.append(into)
        self._read(into, depth, opened)
        self.scopes.pop()

    def _read(self, into: Dictionary, depth: int, opened: int) -> None:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.text == "}" and not token.quoted:
                if depth == 0:
                    self._problem(token.line, "a } that closes nothing", "}")
                    continue
                return
            if token.text == ";" or self._directive(token, into):
                continue
            if token.text in ("(", ")", "[", "]", "{") and not token.quoted:
                into.open = True  # a bare list, as in polyMesh/boundary
                self._skip(token.text)
            else:
                self._entry(token, into, depth)
        if depth:
            self._problem(opened, "a { that is never closed", "{")

    def _directive(self, token: Token, into: Dictionary) -> bool:
        if token.quoted or token.text[0] not in "#$":
            return False
        if token.text in ("#include", "#includeIfPresent", "#includeEtc", "#includeFunc", "#sinclude", "#sinclude"):
            self._include(token, into)
        elif token.text.startswith("$"):
            into.open = True
            self._until_end(token.line)
        else:
            into.open = True
            self._rest_of_line(token.line)
        return True

    def _include(self, token: Token, into: Dictionary) -> None:
        path = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        self.at += 1
        found = self.include(token.text, path, token.line) if self.include else None
        if found is None:
            into.open = True
            self._rest_of_line(token.line) if token.text == "#includeFunc" else None
        else:
            into.entries += found.entries
            into.open = into.open or found.open
        into.includes.append((token.text, path, token.line))

    def _entry(self, token: Token, into: Dictionary, depth: int) -> None:
        entry = Entry(token.text, token.line, token.quoted)
        into.entries.append(entry)
        if self._peek() == "{":
            opening = self.tokens[self.at]
            self.at += 1
            entry.sub = Dictionary(entry.key)
            if depth < DEEPEST:
                self.read(entry.sub, depth + 1, opening.line)
            else:
                into.open = True
                self._problem(token.line, f"blocks that are nested more than {DEEPEST} deep", entry.key)
                self._skip("{")
        else:
            self._values(entry, into, depth)

    def _values(self, entry: Entry, into: Dictionary, depth: int) -> None:
        level = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if level == 0 and not token.quoted and token.text in (";", "}"):
                break
            if level == 0 and token.text == "{" and not token.quoted and entry.values:
                self._sudden_block(entry)
                return
            if not token.quoted and token.text in _OPENING:
                level += 1
            elif not token.quoted and token.text in _CLOSING:
                level -= 1
            if level < 0:
                self._problem(token.line, f"a {token.text} too many in the entry {entry.key}", entry.key)
                level = 0
            if level == 0:
                self._joined(entry, token)
                self._glued(entry, token)
            entry.values.append(self._meant(token))
            self.at += 1
        self._ended(entry, depth, level)

    def _ended(self, entry: Entry, depth: int, level: int) -> None:
        if self.at >= len(self.tokens):
            last = entry.values[-1].line if entry.values else entry.line
            what = "a bracket that is never closed in" if level > 0 else "no ; at the end of"
            self._problem(entry.line if level > 0 else last, f"{what} the entry {entry.key}", entry.key)
        elif self.tokens[self.at].text == "}":
            last = entry.values[-1].line if entry.values else entry.line
            self._problem(last, f"no ; (semicolon) at the end of the entry {entry.key}", entry.key)
        else:
            self.at += 1

    def _joined(self, entry: Entry, token: Token) -> None:
        """The first word of a new line inside an entry: perhaps the line before lacks its semicolon."""
        before = entry.values[-1] if entry.values else None
        if not before or token.line == before.line or token.quoted or before.text in _CLOSING:
            return
        word = re.match(r"[A-Za-z]\w*\Z", token.text)
        if word and (token.text in KEYWORDS or _NUMBER.match(before.text)) and before.text not in KEYWORDS:
            self._problem(before.line, f"no ; (semicolon) after {entry.key} {entry.text[:60]}", entry.key)
        elif re.match(r"(div|grad|laplacian|ddt)\(", token.text) and before.text not in ("linearUpwind", "linearUpwindV", "LUST"):
            self.problems.append(Problem(before.line, f"no ; (semicolon) after {entry.key} {entry.text[:60]}?", entry.key, False))

    def _glued(self, entry: Entry, token: Token) -> None:
        """`tolerance 1e-06 relTol 0.1;` in one line: an entry that takes one word or number, and then the next keyword."""
        before = entry.values[0] if len(entry.values) == 1 else None
        if before is None or before.line != token.line or token.quoted or token.text not in KEYWORDS or entry.key not in KEYWORDS:
            return
        if _NUMBER.match(before.text) or (entry.key in _ONE_WORD and before.text not in KEYWORDS):
            self._problem(before.line, f"no ; (semicolon) after {entry.key} {before.text}", entry.key)

    def _meant(self, token: Token) -> Token:
        """The value that a macro stands for, if it is one plain word of an entry around it."""
        found = None if token.quoted else _MACRO.fullmatch(token.text)
        name = (found[1] or found[2]) if found else ""
        for scope in reversed(self.scopes) if name else ():
            entry = next((one for one in reversed(scope.entries) if one.key == name and not one.pattern), None)
            if entry and entry.values:
                return Token(entry.word, token.line) if entry.word else token
        return token

    def _sudden_block(self, entry: Entry) -> None:
        last = entry.values[-1]
        if last.line > entry.line and len(entry.values) > 1:
            self._problem(entry.line, f"no ; (semicolon) after {entry.key} {entry.values[0].text}", entry.key)
        self.at += 1
        self._skip("{")

    def _skip(self, opening: str) -> None:
        """Past the bracket that closes the one just read."""
        level = 1 if opening in _OPENING else 0
        while level > 0 and self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if not token.quoted:
                level += (token.text in _OPENING) - (token.text in _CLOSING)

    def _until_end(self, line: int) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].text not in (";", "}"):
            if self.tokens[self.at].line > line:
                return
            self.at += 1

    def _rest_of_line(self, line: int) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].line == line and self.tokens[self.at].text not in "{}":
            self.at += 1

    def _peek(self) -> str | None:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token.text if token and not token.quoted else None

    def _problem(self, line: int, message: str, thing: str) -> None:
        self.problems.append(Problem(line, message, thing))


def _fits(pattern: str, key: str) -> bool:
    try:
        return re.fullmatch(pattern, key) is not None
    except re.error:
        return True

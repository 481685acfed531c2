"""Splits a shell text into words, without running any of it.

The one idea to know: a word is a list of parts, and whatever only a running shell can know (a substitution, an
arithmetic value) is a part of kind UNKNOWN. Nothing is guessed, nothing raises: `bash -n` judges the syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    TEXT = 1
    QUOTED = 2  # text in quotes: no pattern, no tilde
    VARIABLE = 3
    UNKNOWN = 4


@dataclass(frozen=True)
class Part:
    kind: Kind
    text: str
    default: str | None = None  # of ${NAME:-default}


@dataclass(frozen=True)
class Word:
    parts: tuple[Part, ...]
    line: int

    @property
    def literal(self) -> str | None:
        """The text if no expansion is in it, else None."""
        if any(part.kind in (Kind.VARIABLE, Kind.UNKNOWN) for part in self.parts):
            return None
        return "".join(part.text for part in self.parts)

    @property
    def bare(self) -> str | None:
        """The text if nothing in it is quoted or expanded: what can be a reserved word."""
        if len(self.parts) == 1 and self.parts[0].kind is Kind.TEXT:
            return self.parts[0].text
        return None

    @property
    def shown(self) -> str:
        return "".join(f"${part.text}" if part.kind is Kind.VARIABLE else part.text for part in self.parts)


@dataclass
class Mark:
    """An operator: ; & && || | |& newline ( ) ;; or a redirection (`descriptor` is the number before it)."""

    text: str
    line: int
    descriptor: str = ""
    body: list[str] = field(default_factory=list)  # of a here-document, filled at the end of its line


Token = Word | Mark

_MARKS = ("&>>", "<<<", "<<-", ";;&", "&&", "||", "|&", ";;", ";&", "<<", ">>", ">&", "<&", "<>", ">|", "&>",
          ";", "&", "|", "<", ">", "(", ")")  # fmt: skip
_MARK = re.compile("|".join(re.escape(mark) for mark in _MARKS))
_BLANK = re.compile(r"[^\S\n]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_PLAIN = re.compile(r"[^\s\"'`$\\;&|<>()]+")
_BRACES = re.compile(r"([A-Za-z_]\w*)(?::?[-=]([^{}$`\"']*))?$")
LIMIT = 128 << 10  # bytes of a script that are looked at


def tokens(text: str) -> Iterator[Token]:
    return iter(_Lexer(text[:LIMIT]).run())


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.found: list[Token] = []
        self.documents: list[tuple[Mark, str, bool]] = []

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            self._step()
        return self.found

    def _step(self) -> None:
        char = self.text[self.at]
        if char == "\n":
            self._newline()
        elif blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        elif self.text.startswith("\\\n", self.at):
            self._skip(2)
        elif char == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif mark := self._mark():
            self._operator(mark)
        else:
            self._word()

    def _mark(self) -> str | None:
        if self.text[self.at] in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
            return None  # process substitution: part of a word
        found = _MARK.match(self.text, self.at)
        return found.group() if found else None

    def _operator(self, mark: str) -> None:
        descriptor = ""
        glued = self.at > 0 and self.text[self.at - 1].isdigit()
        if mark[0] in "<>" and glued and self.found and isinstance(self.found[-1], Word):
            bare = self.found[-1].bare or ""
            if bare.isdigit():
                descriptor = bare
                self.found.pop()
        self.at += len(mark)
        made = Mark(mark, self.line, descriptor)
        self.found.append(made)
        if mark in ("<<", "<<-"):
            self._expect_document(made, mark == "<<-")

    def _expect_document(self, mark: Mark, tabs: bool) -> None:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        if self.at < len(self.text) and self.text[self.at] != "\n":
            self._word()
            word = self.found.pop()
            assert isinstance(word, Word)
            self.documents.append((mark, "".join(part.text for part in word.parts), tabs))

    def _newline(self) -> None:
        self.found.append(Mark("\n", self.line))
        self._skip(1)
        for mark, end, tabs in self.documents:
            self._document(mark, end, tabs)
        self.documents.clear()

    def _document(self, mark: Mark, end: str, tabs: bool) -> None:
        while self.at < len(self.text):
            stop = self.text.find("\n", self.at)
            stop = len(self.text) if stop < 0 else stop
            line = self.text[self.at : stop]
            self._skip(stop + 1 - self.at)
            line = line.lstrip("\t") if tabs else line
            if line == end:
                return
            mark.body.append(line)

    def _word(self) -> None:
        parts: list[Part] = []
        line = self.line
        while self.at < len(self.text) and not self._at_end():
            self._part(parts)
        self.found.append(Word(tuple(parts), line))

    def _at_end(self) -> bool:
        char = self.text[self.at]
        return char.isspace() or (char in ";&|<>()" and self._mark() is not None)

    def _part(self, parts: list[Part]) -> None:
        char = self.text[self.at]
        if char == "'":
            end = self._find("'", self.at + 1)
            parts.append(Part(Kind.QUOTED, self.text[self.at + 1 : end]))
            self._skip(end + 1 - self.at)
        elif char == '"':
            self._double(parts)
        elif char == "\\":
            parts.append(Part(Kind.QUOTED, self.text[self.at + 1 : self.at + 2].replace("\n", "")))
            self._skip(2)
        elif char in "$`<>":
            self._expansion(parts)
        else:
            plain = _PLAIN.match(self.text, self.at)
            text = plain.group() if plain else char
            parts.append(Part(Kind.TEXT, text))
            self._skip(len(text))
            self._array(parts, text)

    def _array(self, parts: list[Part], text: str) -> None:
        if text.endswith("=") and self.text[self.at : self.at + 1] == "(":
            self._nested(parts, self.at)

    def _double(self, parts: list[Part]) -> None:
        self._skip(1)
        parts.append(Part(Kind.QUOTED, ""))
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            if char in "$`":
                self._expansion(parts)
            elif char == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`", "\n"):
                parts.append(Part(Kind.QUOTED, self.text[self.at + 1].replace("\n", "")))
                self._skip(2)
            else:
                parts.append(Part(Kind.QUOTED, char))
                self._skip(1)
        self._skip(1)

    def _expansion(self, parts: list[Part]) -> None:
        text, at = self.text, self.at
        if text[at] == "`":
            self._to(parts, self._find("`", at + 1) + 1)
        elif text[at] in "<>" or text.startswith("$(", at):
            self._nested(parts, at + 1)
        elif text.startswith("${", at):
            self._braces(parts, self._find("}", at + 2))
        elif text.startswith(("$'", '$"'), at):
            self._skip(1)
            parts.append(Part(Kind.UNKNOWN, ""))
        elif name := _NAME.match(text, at + 1):
            parts.append(Part(Kind.VARIABLE, name.group()))
            self._skip(name.end() - at)
        else:
            parts.append(Part(Kind.QUOTED, "$"))
            self._skip(1)

    def _braces(self, parts: list[Part], end: int) -> None:
        inner = _BRACES.match(self.text[self.at + 2 : end])
        kind = Kind.VARIABLE if inner else Kind.UNKNOWN
        text = inner.group(1) if inner else self.text[self.at : end + 1]
        parts.append(Part(kind, text, inner.group(2) if inner else None))
        self._skip(end + 1 - self.at)

    def _nested(self, parts: list[Part], start: int) -> None:
        """An UNKNOWN part up to the bracket that closes the one at `start`."""
        depth, at = 0, start
        while at < len(self.text):
            char = self.text[at]
            if char in "'\"" and depth:
                at = self._find(char, at + 1)
            depth += (char == "(") - (char == ")")
            at += 1
            if depth == 0:
                break
        self._to(parts, at)

    def _to(self, parts: list[Part], end: int) -> None:
        parts.append(Part(Kind.UNKNOWN, self.text[self.at : end]))
        self._skip(end - self.at)

    def _find(self, what: str, start: int) -> int:
        found = self.text.find(what, start)
        return len(self.text) if found < 0 else found

    def _skip(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count

"""Splits the text of an OpenFOAM dictionary into tokens.

The one idea to know: brackets that follow a word without a blank belong to it, so that div(phi,U) is one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>\"(?:[^\"\\]|\\.)*\"?)|(?P<code>#\{.*?(?:#\}|\Z))|"
    r"(?P<macro>\$\{(?:[^{}\n]|\{[^{}\n]*\})*\})|(?P<mark>[;{}()\[\]])|(?P<word>[^\s;{}()\[\]\"]+)",
    re.S,
)
MOST_TOKENS = 200_000


@dataclass(frozen=True)
class Token:
    text: str
    line: int
    quoted: bool = False


def tokens(text: str) -> Iterator[Token]:
    line, at, count = 1, 0, 0
    while at < len(text) and count < MOST_TOKENS:
        found = _TOKEN.match(text, at)
        if found is None:
            at += 1
            continue
        end = found.end()
        if found.lastgroup == "word":
            end = _with_brackets(text, end)
        piece = text[at:end]
        if found.lastgroup == "string":
            yield Token(piece.strip('"'), line, True)
        elif found.lastgroup != "space":
            yield Token(piece, line)
        count += 1
        line += piece.count("\n")
        at = end


def _with_brackets(text: str, at: int) -> int:
    """The end of a word such as div(phi,U): brackets without blanks belong to it."""
    while at < len(text) and text[at] == "(":
        depth, end = 0, at
        while end < len(text) and not text[end].isspace() and text[end] not in ";{}":
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
            if depth == 0:
                break
        if depth:
            return at
        at = end
        rest = re.compile(r"[^\s;{}()\[\]\"]+").match(text, at)
        at = rest.end() if rest else at
    return at

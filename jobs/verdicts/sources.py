"""Where a run's output is: named by the command (`> bar.log`, `| tee log.x`, `-log f`), given as stdout, or found by sniffing.

The one idea: a candidate is only believed when its first bytes carry the solver's own signature; names alone prove nothing.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from .base import Files
from .text import head, tail, words

STDOUT = ("process_output.log", "stdout", "stdout.log", "stdout.txt", "output.log", "job.log", "run.out", "nohup.out")
_LOGLIKE = re.compile(
    r"(?:^|/)(?:log[._-][^/]*|log|[^/]*\.(?:log|out|stdout|txt|err|screen)|[^/]*[._-](?:log|out)(?:\.\d+)?|slurm-[^/]*)$", re.I
)
MOST = 60
_OPENERS = {"(", ")", "{", "}", "!", "time", "nice", "nohup", "exec", "if", "then", "do", "while", "else"}


@dataclass(frozen=True)
class Part:
    """One simple command: its words, its folder, where its output goes, whether it is left in the background."""

    words: tuple[str, ...]
    folder: str = ""
    output: tuple[str, ...] = ()
    input: str | None = None
    background: bool = False
    piped: bool = False  # its output goes into a pipe

    def place(self, name: str) -> str:
        """A file name of this command, seen from the job folder."""
        return posixpath.normpath(posixpath.join(self.folder, name))


def parts(command: str) -> list[Part]:
    """The simple commands of a launch command in order; empty where the shell itself would not understand it."""
    return list(_parts(command))


@lru_cache(maxsize=32)
def _parts(command: str) -> tuple[Part, ...]:
    """Kept for a moment: every solver's module asks for those of the same command."""
    found: list[Part] = []
    folder = ""
    for line in command.replace("\\\n", " ").splitlines():
        for tokens, sign in _simple(line):
            part = _part(tokens, folder, sign)
            if part.words[:1] == ("cd",) and len(part.words) > 1:
                folder = posixpath.normpath(posixpath.join(folder, part.words[1]))
            found.append(part)
    return tuple(_with_tees(found))


def expanded(folder: Files, command: str) -> str:
    """The command followed by the text of the scripts of the job folder that it runs (one level)."""
    names, texts = set(folder.names()), [command]
    for part in parts(command):
        for word in part.words[:3]:
            name = part.place(word)
            if name in names and 0 < folder.size(name) < 256 << 10 and _script(head(folder, name, 4096), name):
                texts.append(words(folder, name, 256 << 10))
    return "\n".join(texts)


def programs(command: str) -> list[str]:
    """The base names of all words of the command that may be programs."""
    return [posixpath.basename(word) for part in parts(command) for word in part.words]


def logs(folder: Files, command: str, log: str | None, signature: Callable[[bytes], bool], more: Iterable[str] = ()) -> list[str]:
    """Files that hold output of the wanted kind, the likeliest first: the command's targets, stdout, then what else fits."""
    names = folder.names()
    present = set(names)
    likely = [part.place(name) for part in parts(command) for name in part.output]
    likely += [log or "", *STDOUT, *more]
    rest = sorted((name for name in names if _LOGLIKE.search(name)), key=lambda name: (name.count("/"), name))
    found: list[str] = []
    for name in dict.fromkeys([*likely, *rest][: MOST + len(likely)]):
        if name in present and folder.size(name) and signature(head(folder, name)):
            found.append(name)
    return found


def stdout_of(folder: Files, log: str | None) -> str | None:
    """The file that holds what the command itself printed, if the folder has one."""
    names = set(folder.names())
    return next((name for name in (log, *STDOUT) if name and name in names), None)


def last_words(folder: Files, log: str | None, size: int = 16 << 10) -> str:
    name = stdout_of(folder, log)
    return tail(folder, name, size).decode("utf-8", "replace") if name else ""


def background(command: str) -> str | None:
    """The part of the command that is left in the background without anything that waits for it."""
    found = parts(command)
    left = None
    for part in found:
        if part.words[:1] == ("wait",):
            left = None
        elif part.background:
            left = " ".join(part.words)
    return left


def at_once(found: list[Part]) -> list[Part]:
    """Commands that are started again, word for word and in the same folder, before anything waits for the first."""
    running: list[Part] = []
    copies: list[Part] = []
    loops = 0
    for part in found:
        first = part.words[:1]
        loops += (first in (("for",), ("while",), ("until",))) - (first == ("done",))
        if first == ("wait",):
            running = []
        again = any((one.words, one.folder) == (part.words, part.folder) for one in running)
        looped = part.background and loops > 0 and not any("$" in word for word in part.words)
        copies += [part] if again or looped else []
        running += [part] if part.background else []
    return copies


def _script(start: bytes, name: str) -> bool:
    shell = start.startswith(b"#!") and b"sh" in start.split(b"\n", 1)[0]
    return shell or name.endswith(".sh") or posixpath.basename(name).startswith("All")


def _simple(line: str) -> list[tuple[list[str], str]]:
    """A line cut at ; & && || | into (words, the sign that follows)."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, "#"
    found: list[tuple[list[str], str]] = []
    current: list[str] = []
    try:
        for token in (piece for joined in lexer for piece in _marks(joined)):
            if token in (";", "&", "&&", "||", "|", "|&", ";;"):
                found.append((current, token))
                current = []
            else:
                current.append(token)
    except ValueError:
        return []
    return [(tokens, sign) for tokens, sign in [*found, (current, "")] if tokens]


def _marks(token: str) -> list[str]:
    """`&)` and `);` come as one token."""
    joined = set(token) <= set("();<>|&") and set(token) & set("()") and len(token) > 1
    return re.findall(r"&&|\|\||\|&|;;|&>>?|>>|>&|>\||<<<|<<|[();<>|&]", token) if joined else [token]


def _part(tokens: list[str], folder: str, sign: str) -> Part:
    said: list[str] = []
    output: list[str] = []
    given = None
    rest = iter(tokens)
    for token in rest:
        if token in (">", ">>", "&>", "&>>", ">&", ">|"):
            target = next(rest, "")
            if said and said[-1] in ("1", "2"):
                said.pop()
            if target and not target.startswith(("&", "/dev/")) and not target.isdigit():
                output.append(target)
        elif token in ("<", "<<<", "<<"):
            given = next(rest, None)
        elif token.strip("()") and (token not in _OPENERS or said):
            said.append(token)
    while said and re.match(r"^\w+=", said[0]):
        said.pop(0)
    return Part(tuple(said), folder, tuple(output), given, sign == "&", sign in ("|", "|&"))


def _with_tees(found: list[Part]) -> list[Part]:
    """`a | tee log` gives the log to `a` too."""
    for at in range(len(found) - 1, 0, -1):
        part, before = found[at], found[at - 1]
        if before.piped and part.words[:1] == ("tee",):
            files = tuple(word for word in part.words[1:] if not word.startswith("-"))
            found[at - 1] = Part(before.words, before.folder, before.output + files, before.input, before.background, True)
    return found

"""Groups the words of a shell text into simple commands, in the order in which they are written.

The one idea to know: `if`, loops, `case` and functions are not understood, only noticed: what stands in them is
`conditional`, so that nobody builds a refusal on it. A `for` over written words surely runs, so what stands in it is not; it
is written out, once for each word. Subshells are kept, for the sake of `cd`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .words import Kind, Mark, Token, Word, tokens

_OPENERS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac"}
_CLOSERS = {"fi", "done", "esac", "}"}
_SKIPPED = {"then", "else", "elif", "do", "!", "time", "coproc", "if", "while", "until"}
_WRITTEN_OUT = 500  # commands of a loop, over all its words
_LEAVES = {"break", "continue", "exit", "return"}
REDIRECTIONS = {"<", ">", ">>", ">|", "<>", "&>", "&>>", ">&", "<&", "<<", "<<-", "<<<"}


@dataclass
class Redirection:
    operator: str
    target: Word | None
    descriptor: str = ""
    body: list[str] = field(default_factory=list)


@dataclass
class Command:
    """One simple command. `after` is the operator before it: "" at the start, else ; && || | & or a newline."""

    line: int
    words: list[Word] = field(default_factory=list)
    assignments: list[tuple[str, Word]] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    after: str = ""
    before: str = ""  # the operator behind it
    conditional: bool = False
    looped: bool = False
    subshells: tuple[int, ...] = ()


@dataclass(frozen=True)
class Block:
    closer: str
    certain: int | None = None  # a loop that surely runs: how many commands stand before it
    variable: str = ""
    words: tuple[Word, ...] = ()  # what it runs over, where all of it is plain text


@dataclass
class Script:
    commands: list[Command] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    loop_variables: set[str] = field(default_factory=set)


def parse(text: str) -> Script:
    return _Parser(list(tokens(text))).run()


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0
        self.script = Script()
        self.blocks: list[Block] = []
        self.subshells: list[int] = []
        self.subshell_count = 0
        self.command: Command | None = None
        self.after = ""

    def run(self) -> Script:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if isinstance(token, Mark):
                self._mark(token)
            else:
                self._word(token)
        self._end("")
        return self.script

    def _mark(self, mark: Mark) -> None:
        if mark.text in REDIRECTIONS:
            self._redirect(mark)
        elif mark.text == "(":
            self._open_bracket(mark)
        elif mark.text == ")":
            self._end(";")
            if self.subshells:
                self.subshells.pop()
            self.after = ";"
        else:
            self._end(mark.text)
            if mark.text in (";;", ";&", ";;&") and self.blocks and self.blocks[-1].closer == "esac":
                self._skip_pattern()

    def _open_bracket(self, mark: Mark) -> None:
        if self.command and len(self.command.words) == 1 and self._next_is(")"):
            self._function(self.command.words[0].literal)
            self.at += 1
        elif self.command is None and self._next_is("("):
            self._skip_until(lambda token: isinstance(token, Mark) and token.text == ")")
            self.at += 1  # the second bracket of (( ))
        else:
            self.subshell_count += 1
            self.subshells.append(self.subshell_count)

    def _function(self, name: str | None) -> None:
        self.script.functions.add(name or "")
        self.command = None
        self.after = ";"

    def _redirect(self, mark: Mark) -> None:
        target = None
        if mark.text not in ("<<", "<<-") and self.at < len(self.tokens):
            word = self.tokens[self.at]
            if isinstance(word, Word):
                target = word
                self.at += 1
        made = Redirection(mark.text, target, mark.descriptor, mark.body)
        self._current(mark.line).redirections.append(made)

    def _word(self, word: Word) -> None:
        if self.command is None or not self.command.words:
            if self._reserved(word.bare or "", word):
                return
            if assigned := _assignment(word):
                self._current(word.line).assignments.append(assigned)
                return
        self._current(word.line).words.append(word)

    def _reserved(self, bare: str, word: Word) -> bool:
        if bare == "[[":
            self._current(word.line).words.append(word)
            self._skip_until(lambda token: isinstance(token, Word) and token.bare == "]]")
            return True
        if bare in ("for", "select", "case", "function"):
            self._header(bare)
            return True
        if bare in _OPENERS:
            self.blocks.append(Block(_OPENERS[bare]))
        elif bare in _CLOSERS:
            self._close(bare, word)
        elif bare == "{":
            self.blocks.append(Block("}"))
        return bare in _SKIPPED or bare in _CLOSERS or bare == "{"

    def _close(self, bare: str, word: Word) -> None:
        if self.blocks and self.blocks[-1].closer == bare:
            block = self.blocks.pop()
            inside = self.script.commands[block.certain :] if block.certain is not None else []
            if any(command.words and command.words[0].literal in _LEAVES for command in inside):
                for command in inside:
                    command.conditional = True
            elif inside and block.words and len(inside) * len(block.words) <= _WRITTEN_OUT:
                self._write_out(block, inside)
        self._current(word.line)  # so that `done < file` has a place for its redirection

    def _write_out(self, block: Block, inside: list[Command]) -> None:
        """The body of a loop once for each word, with the variable set before it."""
        del self.script.commands[block.certain :]
        for word in block.words:
            self.script.commands.append(Command(word.line, assignments=[(block.variable, word)], after=";", before=";", looped=True))
            self.script.commands += [replace(command, looped=any(one.closer == "done" for one in self.blocks)) for command in inside]

    def _header(self, bare: str) -> None:
        name = self._next_word()
        if bare == "function":
            self.script.functions.add(name or "")
            return
        if bare == "case":
            self.blocks.append(Block("esac"))
            self._skip_until(lambda token: isinstance(token, Word) and token.bare == "in")
            self._skip_pattern()
            return
        self.script.loop_variables.add(name or "")
        start = self.at
        if self._next_is("("):  # for ((i = 0; ...))
            self._skip_until(lambda token: isinstance(token, Mark) and token.text == ")")
        self._skip_until(lambda token: isinstance(token, Mark) and token.text in (";", "\n"))
        header = [token for token in self.tokens[start : self.at] if isinstance(token, Word)]
        certain = bare == "for" and _are_written(header)
        plain = tuple(header[1:]) if certain and all(_is_plain(word) for word in header[1:]) else ()
        self.blocks.append(Block("done", len(self.script.commands) if certain else None, name or "", plain))

    def _skip_pattern(self) -> None:
        """Past the pattern of a case branch; stops before `esac`."""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if isinstance(token, Word) and token.bare == "esac":
                return
            self.at += 1
            if isinstance(token, Mark) and token.text == ")":
                return

    def _next_word(self) -> str | None:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        if isinstance(token, Word):
            self.at += 1
            return token.literal
        return None

    def _next_is(self, text: str) -> bool:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return isinstance(token, Mark) and token.text == text

    def _skip_until(self, wanted: Callable[[Token], bool]) -> None:
        while self.at < len(self.tokens):
            self.at += 1
            if wanted(self.tokens[self.at - 1]):
                return

    def _current(self, line: int) -> Command:
        if self.command is None:
            conditional = any(block.closer != "}" and block.certain is None for block in self.blocks) or self._in_function()
            looped = any(block.closer == "done" for block in self.blocks)
            self.command = Command(line, after=self.after, conditional=conditional, looped=looped)
            self.command.subshells = tuple(self.subshells)
        return self.command

    def _in_function(self) -> bool:
        return bool(self.script.functions) and any(block.closer == "}" for block in self.blocks)

    def _end(self, operator: str) -> None:
        if self.command is not None:
            self.command.before = operator
            self.script.commands.append(self.command)
            self.command = None
        if operator:
            self.after = operator


def _are_written(words: list[Word]) -> bool:
    """Whether `in a b c` of a loop names at least one word, and none that only the running shell knows."""
    return len(words) > 1 and words[0].bare == "in" and all(_is_written(word) for word in words[1:])


def _is_written(word: Word) -> bool:
    if len(word.parts) == 1 and word.parts[0].kind is Kind.UNKNOWN:
        return word.parts[0].text.startswith(("$(seq ", "`seq "))
    return word.literal is not None and not any(char in word.literal for char in "*?[")


def _is_plain(word: Word) -> bool:
    return word.literal is not None and not set(word.literal) & set("{}~*?[")


def _assignment(word: Word) -> tuple[str, Word] | None:
    """NAME=value in front of a command."""
    if not word.parts or word.parts[0].kind is not Kind.TEXT:
        return None
    name, equals, rest = word.parts[0].text.partition("=")
    if not equals or not name.rstrip("+").isidentifier() or not name.isascii():
        return None
    first = type(word.parts[0])(Kind.TEXT, rest)
    return name.rstrip("+"), Word((first, *word.parts[1:]), word.line)

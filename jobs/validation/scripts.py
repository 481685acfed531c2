"""Scripts that the command runs: whether their interpreter exists, and whether it would understand them.

The one idea to know: a shell script runs up to the line that it can't understand, a Python script not at all; both are read here
before hardware is paid for. What stands behind an `exit` is never reached, so nothing is said of it.
"""

from __future__ import annotations

import ast
import difflib
import re
import subprocess
import warnings
from collections.abc import Iterator

from .base import Finding, Inputs, error, warning
from .shebang import script_text
from .words import LIMIT

_BASH = re.compile(r"^(?:bash|\S*/bash|-|/dev/stdin): (?:-: )?line (\d+): (.*)$", re.M)
_OPEN = re.compile(r"here-document at line (\d+) delimited by end-of-file \(wanted `([^']*)'\)")
_INTERPRETERS = frozenset(
    """sh bash dash zsh ksh csh tcsh fish ash perl python python2 python3 pypy pypy3 ruby env awk gawk mawk nawk sed lua julia Rscript
    node octave php tclsh wish expect make groovy guile bc gnuplot busybox matlab deno bun racket scala swift runghc nu pwsh true
    false cat""".split()
)
_BROKEN = re.compile(
    rb"(?m)^[ \t]*(?:(?:set|cd|source|\.|shift|module)[ \t][^\r\n]*|(?:if|for|while|until|case)[ \t(\[][^\r\n]*|"
    rb"(?:then|do|done|fi|else|esac|\{|\})[ \t;]*|[^\r\n#]*\\|[\w./-]+)\r$"
)  # words of the shell that a carriage return makes others, and lines of one word
_PLACES = re.compile(r"#!\s*(/bin|/usr/bin|/usr/local/bin)/([\w.+-]+)(?:\s+(?:-S\s+)?([\w.+-]+))?\s*$")


def unfinished(text: str) -> Iterator[tuple[int, str]]:
    """(line, word) of here-documents that nothing ends: the rest of the text is swallowed."""
    if "<<" in text and "\0" not in text:
        for found in _OPEN.finditer(_bash(text)[1]):
            yield int(found[1]), found[2]


def shell(inputs: Inputs, name: str, direct: bool) -> Iterator[Finding]:
    """A shell script among the inputs."""
    text = script_text(inputs, name, direct)
    if text is None or len(text) >= LIMIT or "\0" in text or "extglob" in text or re.match(r"#!.*\b(zsh|ksh|csh|tcsh|fish)\b", text):
        return
    code, said = _bash(text)
    found = _BASH.search(said) if code else None
    lines = text.split("\n")
    if found and not any(re.match(r"\s*(exit|exec)\b", line) for line in lines[: int(found[1]) - 1]):
        line = min(int(found[1]), len(lines))
        wanted = _closer(found[2], text)
        yield error(f"{name} line {line} is not valid shell: {found[2]}.", file=name, line=line, thing=wanted or "syntax",
                    remedy=f"Close every block; {wanted} is missing." if wanted else "Check quotes, brackets and the words around this place.")  # fmt: skip
    for line, word in unfinished(text):
        yield warning(f"{name} line {line}: nothing ends this here-document (it wants a line {word}), so the rest of the script is "
                      "taken for its text.", file=name, line=line, thing=word, remedy=f"Add a line that holds only {word}.")  # fmt: skip


def breaks_with_windows_ends(text: bytes) -> bool:
    """Whether carriage returns surely break a script, and not only spoil an argument."""
    return b"<<" not in text and bool(_BROKEN.search(text))


def _closer(said: str, text: str) -> str:
    """What is probably missing: the end of the blocks that are opened more often than closed."""
    if "unexpected" not in said:
        return ""
    bare = re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", text)
    count = {word: len(re.findall(rf"(?<![\w$-]){word}(?![\w-])", bare)) for word in ("if", "fi", "do", "done", "case", "esac")}
    missing = [end for start, end in (("if", "fi"), ("do", "done"), ("case", "esac")) if count[start] > count[end]]
    return missing[0] if len(missing) == 1 else ""


def interpreter(inputs: Inputs, name: str) -> Iterator[Finding]:
    """The first line of a script that is started by its name."""
    try:
        with inputs.open(name) as stream:
            first = stream.read(256).partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    except (OSError, KeyError, ValueError):
        return
    found = _PLACES.match(first)
    if not found:
        return
    word = found[3] if found[2] == "env" else found[2]
    if not word or word.startswith("-") or _is_interpreter(word):
        return
    near = difflib.get_close_matches(word, _INTERPRETERS, 1, 0.7)
    if near:
        yield error(f"{name} line 1 names the interpreter {first[2:].strip()}, which no machine is known to have.", file=name, line=1,
                    thing=first[2:].strip(), remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _is_interpreter(word: str) -> bool:
    return word in _INTERPRETERS or bool(re.fullmatch(r"(python|perl|ruby|lua|pypy|php|node|tclsh|wish)[\d.]+", word))


def python(inputs: Inputs, name: str) -> Iterator[Finding]:
    """A Python 3 script that no Python would even begin."""
    try:
        if inputs.size(name) > LIMIT:
            return
        with inputs.open(name) as stream:
            data = stream.read(LIMIT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data, name)
    except SyntaxError as wrong:
        text = (wrong.text or "").strip()
        if "f-string" not in (wrong.msg or "") and not re.match(r"type\s|(?:def|class)\s+\w+\[", text):  # words of a newer Python
            yield error(f"{name} line {wrong.lineno} is not valid Python: {wrong.msg} ({text[:60]}).", file=name, line=wrong.lineno,
                        thing="syntax", remedy="Correct this line, or the one above it.")  # fmt: skip
    except (OSError, KeyError, ValueError, RecursionError, MemoryError):
        return


def _bash(text: str) -> tuple[int, str]:
    """(exit code, messages) of a look at the syntax; nothing is run."""
    try:
        done = subprocess.run(["bash", "-n"], input=text.encode("utf-8", "replace"), capture_output=True, timeout=3)
    except (OSError, subprocess.SubprocessError):
        return 0, ""
    return done.returncode, done.stderr.decode("utf-8", "replace")

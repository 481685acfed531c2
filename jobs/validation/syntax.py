"""Shell syntax of the launch command: `bash -n`, and those findings of ShellCheck that are real faults.

The one idea to know: ShellCheck has hundreds of opinions on style. Only codes in the table below are shown: what
they name does not do what was meant, whatever the taste of the author.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .base import Finding, Severity, error

# ShellCheck code -> (severity, remedy). The message is ShellCheck's own.
_CODES: dict[int, tuple[Severity, str]] = {
    1015: (Severity.ERROR, "Replace the curly quotes by straight ones."),
    1016: (Severity.ERROR, "Replace the curly quotes by straight ones."),
    1018: (Severity.ERROR, "Replace the no-break space by a plain one."),
    1035: (Severity.ERROR, "Put a space there."),
    1068: (Severity.ERROR, "Write NAME=value without spaces."),
    1069: (Severity.ERROR, "Put a space before the [."),
    1100: (Severity.ERROR, "Replace the long dash by a plain -."),
    1101: (Severity.ERROR, "Delete the space behind the backslash at the end of the line."),
    1110: (Severity.ERROR, "Replace the curly quotes by straight ones."),
    1111: (Severity.ERROR, "Replace the curly quotes by straight ones."),
    1112: (Severity.ERROR, "Replace the curly quotes by straight ones."),
    2238: (Severity.WARNING, "A redirection writes to a file of that name."),
    2283: (Severity.ERROR, "Write NAME=value without spaces."),
}
_HARMLESS = re.compile(r"[\w\s./:,+@%&|;<>=\"'-]*\Z", re.ASCII)  # nothing that a code of the table could be about
_SPACED = re.compile(r"\s=|\\[ \t]+\n|=\s")
_BASH = re.compile(r"^(?:bash|\S*/bash|-): (?:-: )?line (\d+): (.*)$")


def check(command: str) -> Iterator[Finding]:
    broken = list(_bash(command))
    yield from broken
    if "\0" in command:
        yield error("The command holds a NUL byte.", thing="NUL", remedy="Type the command again.")
    elif not _HARMLESS.match(command) or _SPACED.search(command):
        yield from _shellcheck(command)


def _bash(command: str) -> Iterator[Finding]:
    if "\0" in command or trivial(command):
        return
    try:
        done = subprocess.run(["bash", "-n"], input=command.encode("utf-8", "replace"), capture_output=True, timeout=3)
    except (OSError, subprocess.SubprocessError):
        return
    if done.returncode == 0:
        return
    for text in done.stderr.decode("utf-8", "replace").splitlines():
        found = _BASH.match(text)
        if found and not found.group(2).startswith("`"):
            yield error(f"The command is not valid shell: {found.group(2)}.", line=int(found.group(1)),
                        thing="syntax", remedy="Check quotes, brackets and the words around this place.")  # fmt: skip
            return
    yield error("The command is not valid shell.", thing="syntax", remedy="Check quotes and brackets.")


def trivial(command: str) -> bool:
    """Words only: nothing that could be wrong, and no process needed to know."""
    if not re.fullmatch(r"[\w\s./:,+@%=-]*", command, re.ASCII):
        return False
    reserved = {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
                "select", "function", "time", "coproc"}  # fmt: skip
    return not reserved & set(command.split())


def _shellcheck(command: str) -> Iterator[Finding]:
    program = _program()
    if program is None:
        return
    codes = ",".join(str(code) for code in _CODES)
    call = [program, "-s", "bash", "-f", "json", "--norc", f"--include={codes}", "-"]
    try:
        done = subprocess.run(call, input=command.encode("utf-8", "replace"), capture_output=True, timeout=3)
        comments = json.loads(done.stdout or b"[]")
    except (OSError, subprocess.SubprocessError, ValueError):
        return
    seen: set[int] = set()
    for comment in comments:
        code = comment.get("code")
        if code in _CODES and code not in seen:
            seen.add(code)
            severity, remedy = _CODES[code]
            yield Finding(severity, f"The command: {comment.get('message', '')} (ShellCheck {code})",
                          line=comment.get("line"), thing=f"SC{code}", remedy=remedy)  # fmt: skip


def _program() -> str | None:
    beside = Path(sys.executable).with_name("shellcheck")
    return str(beside) if beside.exists() else shutil.which("shellcheck")

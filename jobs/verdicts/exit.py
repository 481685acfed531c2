"""Exit codes and signals in words for people: what happened, and what to try.

The one idea: a shell tells "ended by signal n" as 128 + n, so both spellings lead to the same sentence; and whatever
the number says, text of the last lines and the parts of the pipeline make it more exact.
Sources: POSIX shell command language (2.8.2), signal(7), the manual pages of bash and timeout.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .base import Ending

PIPE_CLOSED = 13


@dataclass(frozen=True)
class Explanation:
    sentence: str
    advice: str = ""


@dataclass(frozen=True)
class Meaning:
    name: str
    sentence: str  # follows "The command "
    advice: str


CODES = {
    0: Meaning("success", "ended with exit code 0", "Exit 0 says that the command reported no error; it is no proof of a good result."),
    1: Meaning("error", "ended with exit code 1: it reported "
        "an error", "Read the last lines of its output; the first line that says error is usually the cause."),
    2: Meaning("usage or syntax", "ended with exit code 2: most programs mean a wrong option, a syntax error or a file that is "
        "missing", "Check options and file names of the command, and the last lines of its output."),
    124: Meaning("time out", "ended with exit code 124: the timeout in the command "
        "ended it", "Give `timeout` more time, or drop it: the walltime of the job limits it anyway."),
    125: Meaning("not started", "ended with exit code 125: a wrapper such as timeout or a container tool failed before the program "
        "started", "Check the options of the wrapper in the command."),
    126: Meaning("not executable", "was found but could not be executed (exit "
        "code 126)", "Set its x bit (`chmod +x`) or start it through its interpreter (`bash run.sh`); check that it was built for "
            "this processor and is no folder."),
    127: Meaning("command not found", "was not found (exit code 127)", "Check the spelling, choose the software version that has it, or "
        "start a "
        "program of "
        "the job "
        "folder as "
        "./name."),
    128: Meaning("wrong exit", "ended with exit code 128: a script called exit with something that is no "
        "exit code", "Look at the `exit` lines of the script."),
    255: Meaning("error -1", "ended with exit code 255 (-1): the program gave up, or a connection by ssh or "
        "mpirun failed", "Read the last lines of its output."),
}  # fmt: skip

SIGNALS = {
    1: Meaning("SIGHUP", "was ended by signal 1 (hang-up)", "Its terminal or parent went away; start it without nohup and &, so that the "
        "job waits "
        "for it."),
    2: Meaning("SIGINT", "was interrupted (signal 2, as by Ctrl-C)", "Somebody or a script interrupted it; start it again."),
    3: Meaning("SIGQUIT", "was told to quit (signal 3)", "Somebody or a script ended it; start it again."),
    4: Meaning("SIGILL", "crashed: illegal instruction (signal 4)", "The program was built for another processor; choose another "
        "version or "
        "coretype."),
    5: Meaning("SIGTRAP", "crashed at a trap (signal 5)", "The program stopped itself, as compilers do for impossible cases; read its "
        "last lines."),
    6: Meaning("SIGABRT", "aborted itself (signal 6)", "The program found something impossible and gave up, often memory that ran out or "
        "a wrong "
        "input; "
        "read its "
        "last lines."),
    7: Meaning("SIGBUS", "crashed: bus error (signal 7)", "A mapped file shrank, the disk is full, or shared memory is too small "
        "(/dev/shm); check "
        "disk and "
        "memory."),
    8: Meaning("SIGFPE", "crashed: floating point exception (signal 8), a division by zero or an "
        "overflow", "In a simulation this nearly always means that the solution blew up: smaller time step, better mesh, checked "
            "boundary conditions."),
    9: Meaning("SIGKILL", "was killed (signal 9)", "If the memory chart touches the limit it was memory; else a time limit, an admin "
        "or the "
        "system "
        "ended it."),
    10: Meaning("SIGUSR1", "was ended by signal 10 (user signal 1), which it does "
        "not handle", "A batch system or a script sends it as a warning; look for `kill -USR1`."),
    11: Meaning("SIGSEGV", "crashed: segmentation fault (signal 11)", "Often a damaged or unexpected input, a stack that is too small "
        "(`ulimit -s "
        "unlimited`) or a "
        "bug; try a "
        "smaller "
        "case or another version."),
    12: Meaning("SIGUSR2", "was ended by signal 12 (user signal 2), which it does "
        "not handle", "A batch system or a script sends it as a warning; look for `kill -USR2`."),
    13: Meaning("SIGPIPE", "wrote into a pipe whose reader had already ended "
        "(signal 13)", "The next part of the pipeline ended early (as `head` does); write to a file instead."),
    14: Meaning("SIGALRM", "was ended by an alarm clock of its own "
        "(signal 14)", "The program set itself a time limit; look for such an option."),
    15: Meaning("SIGTERM", "was asked to end (signal 15)", "A stop, a time limit or a script ended it before it was done; results up to "
        "the last "
        "save are "
        "usable."),
    24: Meaning("SIGXCPU", "used more CPU time than its limit allows (signal 24)", "Raise or drop `ulimit -t` in the command."),
    25: Meaning("SIGXFSZ", "wrote a file larger than its limit allows "
        "(signal 25)", "Raise or drop `ulimit -f` in the command, or write less often."),
    31: Meaning("SIGSYS", "made a system call that is forbidden here "
        "(signal 31)", "The sandbox forbids it; tell an admin which program needs what."),
}  # fmt: skip

MEMORY = Explanation(
    "The command was killed because it used more memory than the cluster has.",
    "Choose a coretype with more memory, fewer ranks on a node, or a smaller model.",
)
STOPPED = "Results up to the last save are usable."

_MISSING = re.compile(r"(?:^|[\s:])([^\s:]+): (?:command )?not found\s*$", re.M)
_NO_FILE = re.compile(r"(?:^|: )([^\s:]+): (?:cannot execute: required file not found|No such file or directory)\s*$", re.M)
_LIBRARY = re.compile(r"error while loading shared libraries: (\S+?):")
_INTERPRETER = re.compile(r"(?:^|: )([^\s:]+): (?:cannot execute: required file not found|[^\n]*bad interpreter)", re.M)
_REFUSED = re.compile(r"(?:^|: )([^\s:]+): (Permission denied|Is a directory|cannot execute binary file[^\n]*|bad interpreter[^\n]*)", re.M)


def explain(ending: Ending, command: str = "", text: str = "") -> Explanation:
    """The ending in one sentence, and what to try. `text` are the last lines of the output: they name what is missing."""
    if ending.memory_killed:
        return MEMORY
    if ending.stopped:
        return Explanation(f"The command was stopped before it was done ({_number(ending)}).", STOPPED)
    piped = _piped(ending, command, text)
    if piped:
        return piped
    return _plain(ending.exit_code, ending.ended_by, text, "The command")


def name_of(code: int | None, signal: int | None = None) -> str:
    """The short name: "SIGSEGV", "command not found", "exit code 3"."""
    number = Ending(code, signal).ended_by
    if number:
        return SIGNALS[number].name if number in SIGNALS else f"signal {number}"
    return CODES[code].name if code in CODES else f"exit code {code}"


def table() -> list[tuple[str, Meaning]]:
    """Every exit code and signal that is explained, for the help page: ("139 or signal 11", Meaning)."""
    codes = [(str(code), meaning) for code, meaning in CODES.items()]
    return codes + [(f"{128 + number} or signal {number}", meaning) for number, meaning in SIGNALS.items()]


def parts_of(command: str) -> list[str]:
    """The parts of the last pipeline of a command ("a | b" gives ["a", "b"]); quotes are respected."""
    parts: list[str] = []
    quote = word = ""
    text = re.sub(r"\|&", "|", command.strip())
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in ";\n" or text[at : at + 2] in ("&&", "||") or text[max(at - 1, 0) : at + 1] in ("&&", "||"):
            parts, word = [], ""
            continue
        elif sign == "|":
            parts, word = [*parts, word.strip()], ""
            continue
        word += sign
    return [*parts, word.strip()]


def _piped(ending: Ending, command: str, text: str) -> Explanation | None:
    codes: Sequence[int] = ending.pipe or ()
    failed = [at for at, code in enumerate(codes) if code not in (0, 128 + PIPE_CLOSED)] or [at for at, code in enumerate(codes) if code]
    if len(codes) < 2 or not failed:
        return None
    at, parts = failed[0], parts_of(command)
    named = f" ({_cut(parts[at])})" if len(parts) == len(codes) else ""
    told = _plain(codes[at], Ending(codes[at]).ended_by, text, f"Part {at + 1} of {len(codes)} of the pipeline{named}")
    hidden = " The exit code of the whole command is 0 and hides this." if ending.exit_code == 0 and not ending.signal else ""
    return Explanation(told.sentence + hidden, told.advice)


def _plain(code: int | None, signal: int | None, text: str, who: str) -> Explanation:
    if code is None and signal is None:
        return Explanation(f"{who} ended, but nobody saw how: its node was lost.", "Submit the job again.")
    exact = None if signal else _exact(code, text, who)
    if exact:
        return exact
    meaning = SIGNALS.get(signal) if signal else CODES.get(code or 0)
    told = f" The shell tells this as exit code {code}." if signal and code and code > 128 else ""
    if meaning:
        return Explanation(f"{who} {meaning.sentence}.{told}", meaning.advice)
    if signal:
        return Explanation(f"{who} was ended by signal {signal}.{told}", "Read the last lines of its output.")
    return Explanation(
        f"{who} ended with exit code {code}: the number's meaning is the program's own.", "Read the last lines of its output."
    )


def _exact(code: int | None, text: str, who: str) -> Explanation | None:
    """What the last lines say of 126 and 127."""
    library = _LIBRARY.search(text)
    if code == 127 and library:
        return Explanation(
            f"{who} needs the library {library[1]}, which is not there (exit code 127).",
            "Choose a version that was built for this system, or bring the library along and set LD_LIBRARY_PATH.",
        )
    interpreter = _INTERPRETER.search(text) if code in (126, 127) else None
    if interpreter:
        return Explanation(
            f"{interpreter[1]} could not be started (exit code {code}): the interpreter that its first line names is not there.",
            "Has the script Windows line ends (CRLF)? Convert them, or start it as `bash NAME`.",
        )
    missing = (_MISSING.findall(text) or _NO_FILE.findall(text)) if code == 127 else []
    if missing:
        return Explanation(f"{missing[-1]}: command not found (exit code 127).", CODES[127].advice)
    refused = _REFUSED.findall(text) if code == 126 else []
    if refused:
        return Explanation(f"{refused[-1][0]} could not be executed (exit code 126): {refused[-1][1]}.", CODES[126].advice)
    return None


def _number(ending: Ending) -> str:
    signal = ending.ended_by
    return f"signal {signal}" if signal else f"exit code {ending.exit_code}"


def _cut(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"

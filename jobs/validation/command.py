"""The launch command: every file it names must exist by then, and what it writes must come back.

The one idea to know: a word counts as a file that is read only where the program is known to read it there, or where
it looks like an input by its place and its name. Everything else is passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from . import beside, binaries, elsewhere, launched, mpi, programs, programs_named, ranks, scripts, solvers, syntax, text
from .base import Finding, Request, Severity, error, mode_of, nearest, warning
from .paths import check_read, check_written, spot
from .plan import Plan, Step
from .shebang import script_text
from .tree import is_system, is_windows

_INPUT_OPTIONS = {"-i", "-in", "-input", "--input", "-inp", "--inp", "--config", "-c", "-f", "--file", "--in", "-mesh",
                  "--mesh", "-geo", "--deck", "-deck", "-license", "--license", "-licence", "--licence"}  # fmt: skip
_OUTPUT_OPTIONS = {"-o", "--output", "-out", "--out", "-O", "--outdir", "--output-dir", "-log", "--log", "-l", "-d",
                   "--logfile", "-results", "--results"}  # fmt: skip
_FILE = re.compile(r"[\w./+~-]*[\w-]\.[A-Za-z][\w]{0,9}$")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
LOOKERS = {"cat", "cut", "du", "file", "find", "grep", "head", "ls", "readlink", "sha256sum", "stat", "strings", "tail", "tr", "wc"}
"""Programs that only look: a path outside may well be there on the node, so naming one is no reason to refuse the job."""
_CREATES = {"cp", "mv", "tee", "touch", "mkdir", "rsync", "install", "tar", "zip", "gzip"}


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    if not request.command.strip():
        yield error("There is no launch command.", thing="command", remedy="Say what is to be run.")
        return
    yield from syntax.check(request.command)
    for line, word in scripts.unfinished(request.command):
        yield warning(f"{spot(None, line)}: nothing ends the here-document (it wants a line {word}), so the rest of the command is taken "
                      "for its text.", line=line, thing=word, remedy=f"Add a line that holds only {word}.")  # fmt: skip
    yield from _pasted(request.command)
    yield from ranks.check(request, plan)
    for step in plan.steps:
        if not step.conditional:
            yield from _step(request, plan, step)
    yield from _licences(plan)
    yield from beside.check(plan)
    yield from programs_named.check(request, plan)


def _pasted(command: str) -> Iterator[Finding]:
    """Dashes that a word processor has made longer, and paths of a Windows machine, whose backslashes the shell takes away."""
    for number, line in enumerate(command.split("\n"), 1):
        for found in re.finditer(r"(?<!\S)[\u2010-\u2015\u2212]+\w+", line):
            yield error(f"{spot(None, number)} has a long dash in {found.group()}, which is no option.", line=number,
                        thing=found.group(), remedy=f"Type it again: -{found.group().lstrip(_DASHES)}.")  # fmt: skip
        for found in re.finditer(r"(?<![\w:/\\])\\\\[\w.-]+\\[^\s'\";|&<>]+", line):
            base = found.group().rsplit("\\", 1)[-1]
            yield error(f"{spot(None, number)} names {found.group()}, a folder shared by Windows computers.", line=number,
                        thing=found.group(), remedy=f"Upload {base} and use its plain name.")  # fmt: skip
        for found in re.finditer(r"(?<![\w:/])[A-Za-z]:\\[^\s'\";|&<>]+", line):
            base = found.group().rsplit("\\", 1)[-1]
            yield error(f"{spot(None, number)} names {found.group()}, a path of your own (Windows) computer.", line=number,
                        thing=found.group(), remedy=f"Upload {base} and use its plain name.")  # fmt: skip


def _step(request: Request, plan: Plan, step: Step) -> Iterator[Finding]:
    yield from _written(step)
    if step.before == "||":
        return  # its failure is provided for
    yield from _redirected(step)
    yield from _entered(step)
    yield from _program(request, plan, step)
    yield from _scripts(request, step)
    yield from _files(plan, step)
    yield from elsewhere.environment(step)
    yield from elsewhere.made(step)
    yield from launched.check(request, step)
    yield from mpi.check(request, step)


def _redirected(step: Step) -> Iterator[Finding]:
    for redirect in step.redirects:
        if redirect.operator == "<" and redirect.target:
            yield from _read(step, redirect.target, "reads")


def _entered(step: Step) -> Iterator[Finding]:
    """`cd` into a folder that is not there, or is a file, or is outside."""
    if step.program not in ("cd", "pushd"):
        return
    word = next((word for word in step.argv[1:] if word and word != "--"), None)
    if not word or word == "-" or word.startswith("+"):
        return
    inside = step.path(word)
    if inside is None:
        yield from _entered_outside(step, word)
    elif step.tree.is_folder(inside) is False:
        near = step.tree.nearest_folder(inside)
        remedy = f"There is {near}." if near else "Folders are kept only if files were uploaded in them."
        is_file = inside in step.tree.inputs
        what = "which is a file" if is_file else "which is not among the uploaded folders"
        yield error(f"{spot(step.file, step.line)} enters the folder {word}, {what}.", file=step.file, line=step.line,
                    thing=word, remedy=remedy)  # fmt: skip


def _entered_outside(step: Step, word: str) -> Iterator[Finding]:
    if step.cwd is None or word.startswith("~") or is_system(word):
        return
    where = spot(step.file, step.line)
    if is_windows(word):
        yield error(f"{where} enters {word}, a path of your own (Windows) computer.", file=step.file, line=step.line,
                    thing=word, remedy="The command starts in the job folder; leave the cd out.")  # fmt: skip
        return
    yield warning(f"{where} goes to {word}, outside the job folder; what is written there is lost.", file=step.file,
                  line=step.line, thing=word, remedy="Stay in the job folder, where the command starts.")  # fmt: skip


def _program(request: Request, plan: Plan, step: Step) -> Iterator[Finding]:
    """A program of the job folder: is it there, and may it be run?"""
    word = programs.handed(step) or (step.argv[0] if step.argv else None)
    if not word or "/" not in word or 0 in step.globs:
        return
    name = step.path(word)
    if word.startswith(("/", "~")) or is_windows(word) or name is None:
        if not is_system(word):
            yield from _read(step, word, "starts")
        return
    yield from _read(step, word, "starts")
    if name in step.tree.inputs and name not in step.tree.made:
        yield from _startable(request, plan, step, name)


def _startable(request: Request, plan: Plan, step: Step, name: str) -> Iterator[Finding]:
    mode = mode_of(request.inputs, name)
    if mode is not None and not mode & 0o111 and not any(_gives_right(other, name) for other in plan.until(step)):
        yield error(f"{spot(step.file, step.line)} starts {name}, which is not executable.", file=name, thing=name,
                    remedy=f"Set the permission: chmod +x {name}.", fix="executable")  # fmt: skip
    first = text.head(request.inputs, name, 256).partition(b"\n")[0] + b"\n"
    if first.startswith(b"\xef\xbb\xbf#!"):
        yield error(f"{name} starts with a byte-order mark (BOM): started directly, its interpreter is not found.", file=name,
                    line=1, thing="byte-order mark", remedy="Save it as UTF-8 without BOM.", fix="strip-bom")  # fmt: skip
    if found := re.match(rb"#!\s*((?:/home|/Users|/root|[A-Za-z]:)\S*)", first):
        interpreter = found.group(1).decode("utf-8", "replace")
        yield error(f"{name} line 1 names the interpreter {interpreter}, a path of your own computer.", file=name, line=1,
                    thing=interpreter, remedy=f"Write #!/usr/bin/env {interpreter.rsplit('/', 1)[-1]}.")  # fmt: skip
    yield from binaries.check(request.inputs, name)
    yield from scripts.interpreter(request.inputs, name)
    if not first.startswith(b"#!") or b"sh" in first:
        yield from scripts.shell(request.inputs, name, direct=True)
    if first.startswith(b"#!") and first.endswith(b"\r\n"):
        yield error(f"{name} has Windows line ends (CRLF): started directly, its interpreter is not found.", file=name,
                    line=1, thing="CRLF", remedy="Convert it to Unix line ends.", fix="unix-line-ends")  # fmt: skip


def _gives_right(step: Step, name: str) -> bool:
    if step.program != "chmod":
        return False
    wide = any(word is None or "*" in word or word in ("-R", ".") for word in step.argv)
    return wide or name in [step.path(word) for word in step.argv[2:]]


def _scripts(request: Request, step: Step) -> Iterator[Finding]:
    """The script that an interpreter is given; shell scripts with Windows line ends."""
    word = programs.script(step)
    if word and not is_system(word):
        yield from _read(step, word, "runs")
    name = step.path(word) if word else step.path(step.argv[1]) if step.program in ("source", ".") and step.argv[1:] else None
    if name in step.tree.inputs and name not in step.tree.made:
        if trouble := text.not_text(request.inputs, str(name)):
            yield trouble
            return
        if step.program not in ("python", "python3"):
            yield from _windows_script(request, str(name))
        if step.program in ("bash", "sh", "dash", "source", "."):
            yield from scripts.shell(request.inputs, str(name), direct=False)
        elif re.fullmatch(r"python3[\d.]*", step.program):
            yield from scripts.python(request.inputs, str(name))


def _windows_script(request: Request, name: str) -> Iterator[Finding]:
    if script_text(request.inputs, name, direct=False) is None:
        return
    head = text.head(request.inputs, name, 65536)
    if mark := text.byte_order_mark(request.inputs, name, "the shell takes it as part of the first word."):
        yield mark
    if b"\r\n" in head:
        make = error if scripts.breaks_with_windows_ends(head) else warning
        yield make(f"{name} has Windows line ends (CRLF), which the shell takes as part of the words.", file=name,
                   line=head[: head.index(b"\r\n")].count(b"\n") + 1, thing="CRLF",
                   remedy="Convert it to Unix line ends.", fix="unix-line-ends")  # fmt: skip


def _files(plan: Plan, step: Step) -> Iterator[Finding]:
    known = [*programs.reads(step), *filter(None, [programs.archive(step)])]
    for word in known:
        if word and not _has_pattern(step, word):
            yield from _read(step, word, "reads")
    if known or programs.is_known(step.program) or step.program in _CREATES or step.program in plan.functions:
        return
    if not solvers.claims(step.program):
        yield from elsewhere.arguments(step)
        yield from _guessed(step)


def _guessed(step: Step) -> Iterator[Finding]:
    """Words of a program that nobody here knows. The last of several may be what it writes."""
    script = programs.script(step)
    places = [at for at, word in enumerate(step.argv) if at and word and not word.startswith("-")]
    for joined in step.argv[1:]:
        option, _, value = (joined or "").partition("=")
        if option.startswith("--") and value and option not in _OUTPUT_OPTIONS:
            yield from _named(step, value, sure=False)
    for at in places:
        word, before = step.argv[at] or "", step.argv[at - 1] or ""
        if word == script or before in _OUTPUT_OPTIONS or at in step.globs or "=" in word or "://" in word:
            continue
        unknown = re.match(r"-(?!\d+$)", before)
        by_option = before in _INPUT_OPTIONS
        if is_windows(word) and "\\" in word:
            yield from _read(step, word, "names")
        elif by_option or _FILE.match(word):
            last = unknown or (at == places[-1] and len(places) > 1)
            yield from _named(step, word, sure=by_option or not last)


def _named(step: Step, word: str, sure: bool) -> Iterator[Finding]:
    name = step.path(word)
    if name is None or step.tree.exists(name) is not False or not _FILE.match(word):
        return
    near = nearest(name, step.tree.inputs)
    found = check_read(step.tree, word, verb="names", file=step.file, line=step.line, cwd=step.cwd)
    if found and near and sure:
        yield found
    elif found and (sure or (near or "").lower() == name.lower()):
        yield warning(found.message, file=found.file, line=found.line, thing=found.thing, remedy=found.remedy)


def _read(step: Step, word: str, verb: str) -> Iterator[Finding]:
    if word == "-" or (is_windows(word) and step.file is None) or word.startswith("/dev/"):
        return
    if word.startswith("~") or (step.cwd is None and not is_windows(word)):
        return
    found = check_read(step.tree, word, verb=verb, file=step.file, line=step.line, cwd=step.cwd)
    if found and step.program in LOOKERS and _leads_out(step, word):
        found = replace(found, severity=Severity.WARNING, message=f"{found.message[:-1]}; it may not be there.")
    if found:
        yield found


def _leads_out(step: Step, word: str) -> bool:
    """Whether a look goes to the node itself (/opt/data, a dot file): what is named like somebody's own file is not meant."""
    if is_windows(word) or word.startswith(elsewhere.HOMES):
        return False
    return word.startswith("/") or (step.path(word) is None and word.rpartition("/")[2].startswith("."))


def _has_pattern(step: Step, word: str) -> bool:
    return any(step.argv[at] == word for at in step.globs if at < len(step.argv))


def _written(step: Step) -> Iterator[Finding]:
    targets = [r.target for r in step.redirects if r.operator[:1] in ">&" and r.operator != "<&" and r.target]
    if step.program not in ("gcc", "g++", "gfortran", "cc", "ps", "grep", "mount", "set", "sort"):
        targets += [word for at, word in enumerate(step.argv) if word and step.argv[at - 1] in ("-o", "--output")]
    if step.program in ("cp", "mv", "tee", "rsync") and len(step.argv) > 1:
        targets += [word for word in programs.plain(step.argv[1:])[-1:] if word and ":" not in word]
    for target in targets:
        if step.cwd is not None or target.startswith(("/", "~")):
            found = check_written(target, verb="writes to", file=step.file, line=step.line, cwd=step.cwd)
            if found:
                yield found


def _licences(plan: Plan) -> Iterator[Finding]:
    """Files that variables such as LM_LICENSE_FILE name; a server (port@host) is none."""
    told: set[str] = set()
    for step in plan.steps:
        for name, value in step.environment.items():
            if not re.search(r"LICEN[CS]E", name) or not value or "@" in value or not re.search(r"[./\\]", value) or name in told:
                continue
            told.add(name)
            for path in [value] if is_windows(value) else value.split(":"):
                found = check_read(step.tree, path, verb=f"sets {name} to", file=step.file, line=step.line, cwd=step.cwd)
                if found and path and not step.conditional:
                    yield found

"""What surrounds a program that is started: words of its launcher, folders it is to work in or write into, make and its file.

The one idea to know: each rule is one with which the launcher, the shell or make itself ends at once.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator

from .base import Finding, Request, error, warning
from .launch import Launcher, unwrap
from .paths import check_read, spot
from .plan import Step
from .text import head

_UNITS = ("none", "hwthread", "core", "l1cache", "l2cache", "l3cache", "socket", "numa", "board", "package", "machine", "cpu-list", "slot",
          "node", "seq", "dist", "ppr", "rr", "user", "rankfile", "pe-list")  # fmt: skip
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_LONGEST = 255  # bytes of a file's name


def check(request: Request, step: Step) -> Iterator[Finding]:
    if step.launcher and step.words and step.words[0]:
        yield from _launcher(step, step.launcher)
    yield from _written(step)
    yield from _parted(step)
    yield from _assigned(step)
    yield from _make(step)
    yield from _unpacked(step)
    yield from _script(request, step)


def _launcher(step: Step, launcher: Launcher) -> Iterator[Finding]:
    where, at = spot(step.file, step.line), {"file": step.file, "line": step.line}
    inside = step.path(launcher.folder) if launcher.folder else None
    if inside and step.tree.is_folder(inside) is False:
        yield error(f"{where} is to work in the folder {launcher.folder}, which is not among the uploaded folders.", thing=launcher.folder or "",
                    remedy=f"Begin the command with mkdir -p {launcher.folder}, or leave the option out.", **at)  # type: ignore[arg-type] # fmt: skip
    for word in launcher.placing:
        first = word.lower().partition(":")[0]
        near = difflib.get_close_matches(first, _UNITS, 1, 0.75) if first not in _UNITS else []
        if near:
            yield error(f"{where}: {launcher.name} can't bind or map to {word}.", thing=word, remedy=f"Did you mean {near[0]}?", **at)  # type: ignore[arg-type]
    if "-np" in step.argv[1:-1] and not launcher.word and "/" in (step.argv[0] or "") and ":" not in step.argv:
        yield warning(f"{where}: -np stands behind {step.argv[0]}, so it goes to the program and not to {launcher.name}.", thing="-np",
                      remedy=f"Write {launcher.name} -np N {step.argv[0]}.", **at)  # type: ignore[arg-type] # fmt: skip
    yield from _further(step, launcher)


def _further(step: Step, launcher: Launcher) -> Iterator[Finding]:
    """The programs behind the first of `mpirun -n 1 ./a : -n 1 ./b`."""
    parts = [at for at, word in enumerate(step.argv) if word == ":"] if launcher.parts > 1 and not launcher.folder else []
    for at, end in zip(parts, [*parts[1:], len(step.argv)], strict=False):
        words = unwrap((launcher.name, *step.argv[at + 1 : end]), {})[0]
        program = words[0] if words else None
        if program and "/" in program and not program.startswith(("/", "~")):
            found = check_read(step.tree, program, verb="starts", file=step.file, line=step.line, cwd=step.cwd)
            yield from [found] if found else []


def _written(step: Step) -> Iterator[Finding]:
    """Files that redirections and tee are to write: into a folder which is not there, or under a name that can't be."""
    targets = [redirect.target for redirect in step.redirects if redirect.operator in (">", ">>", ">|", "&>", "&>>")]
    named = [word for word in step.argv[1:] if word and not word.startswith("-")]
    for target in [*targets, *(named if step.program in ("tee", "mkdir", "touch", "cp", "mv") else [])]:
        if any(len(part.encode()) > _LONGEST for part in (target or "").split("/")):
            yield error(f"{spot(step.file, step.line)} writes to a file whose name is longer than {_LONGEST} bytes; no such file can be made.",
                        file=step.file, line=step.line, thing=(target or "")[:60], remedy="Give it a shorter name.")  # fmt: skip
            return
    for target in [*targets, *(named if step.program == "tee" else [])]:
        found = list(into_missing(step, target or ""))
        yield from found
        if found:
            return


def into_missing(step: Step, target: str) -> Iterator[Finding]:
    """A file that is to be written into a folder which is not there."""
    folder = posixpath.dirname(target)
    inside = step.path(folder) if folder and not folder.startswith(("/", "~")) and not re.search(r"[*?$\[{]", folder) else None
    if inside and step.tree.is_folder(inside) is False:
        yield error(f"{spot(step.file, step.line)} writes to {target}, but there is no folder {folder}.", file=step.file, line=step.line,
                    thing=target, remedy=f"Begin the command with mkdir -p {folder}.")  # fmt: skip


def _assigned(step: Step) -> Iterator[Finding]:
    """`NAME = value` in a script: the shell takes NAME for a program."""
    if step.file and len(step.shown) > 1 and step.shown[1] == "=" and re.fullmatch(r"[A-Za-z_]\w*", step.shown[0]):
        name = step.shown[0]
        yield error(f"{spot(step.file, step.line)}: {name} = ... starts a program {name}; there must be no blank around =.", file=step.file,
                    line=step.line, thing=name, remedy=f"Write {name}={' '.join(step.shown[2:])}.")  # fmt: skip


def _parted(step: Step) -> Iterator[Finding]:
    """`-p my topol.top` for a file `my topol.top`: without quotes the shell makes two words of it."""
    words = list(step.argv)
    for count in (2, 3):
        for at in range(1, len(words) - count + 1):
            part = words[at : at + count]
            if None in part or step.tree.exists(step.path(part[0]) or "?"):
                continue
            name = " ".join(word or "" for word in part)
            if step.path(name) in step.tree.inputs:
                yield error(f"{spot(step.file, step.line)} names {name} without quotes: the shell takes it for {count} words.",
                            file=step.file, line=step.line, thing=name, remedy=f"Write '{name}', or rename the file without blanks.")  # fmt: skip
                return


def _make(step: Step) -> Iterator[Finding]:
    """make without its file, or in a folder that is not there."""
    if step.program not in ("make", "gmake") or step.cwd is None or step.environment.get("MAKEFILES"):
        return
    at = {"file": step.file, "line": step.line}
    there, given = step.option("-C", "--directory"), step.option("-f", "--file", "--makefile")
    folder = step.path(there or ".")
    if there and folder is not None and step.tree.is_folder(folder) is False:
        near = step.tree.nearest_folder(folder)
        yield error(f"{spot(step.file, step.line)} runs make in the folder {there}, which is not among the uploaded folders.", thing=there,
                    remedy=f"There is {near}." if near else "Upload it.", **at)  # type: ignore[arg-type] # fmt: skip
    elif given and folder is not None:
        found = check_read(step.tree, given, verb="runs make: it reads", file=step.file, line=step.line, cwd=folder)
        yield from [found] if found else []
    elif folder is not None and len(step.argv) == (3 if there else 1):
        names = [posixpath.normpath(posixpath.join(folder, name)) for name in _MAKEFILES]
        configured = step.tree.exists(names[-1] + ".in")  # then a script makes it, in ways that are not read here
        if not configured and all(step.tree.exists(name) is False for name in names):
            near = step.tree.nearest(names[-1])
            yield error(f"{spot(step.file, step.line)} runs make, but there is no Makefile.", thing="Makefile",
                        remedy=f"There is {near}." if near else "Upload it, or name what to make.", **at)  # type: ignore[arg-type] # fmt: skip


def _unpacked(step: Step) -> Iterator[Finding]:
    """tar makes no folder for -C; unzip makes that of -d."""
    there = step.option("-C", "--directory") if step.program in ("tar", "bsdtar") else None
    inside = step.path(there) if there else None
    if inside and step.tree.is_folder(inside) is False:
        yield error(f"{spot(step.file, step.line)} unpacks into the folder {there}, which is not there; tar makes none.", file=step.file,
                    line=step.line, thing=there or "", remedy=f"Begin the command with mkdir -p {there}.")  # fmt: skip


def _script(request: Request, step: Step) -> Iterator[Finding]:
    """A Python script started by its name, without a first line that says so."""
    word = step.argv[0] if step.argv else None
    name = step.path(word) if word and "/" in word and word.endswith(".py") else None
    if (
        name in step.tree.inputs
        and name not in step.tree.made
        and not head(request.inputs, str(name), 5).lstrip(b"\xef\xbb\xbf").startswith(b"#!")
    ):
        yield error(f"{name} is started by its name, but does not begin with #!, so it is not known to be Python.", file=name, line=1,
                    thing=str(name), remedy=f"Write python3 {word}, or begin it with #!/usr/bin/env python3.")  # fmt: skip

"""Absolute paths of another machine as arguments of programs that nobody here knows, and in the environment.

The one idea to know: whether such a program reads there or writes there is not known, and either is wrong: what is read is not
there, what is written fails for want of its folder or is not copied back. Places that only some sites have are warned of too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .base import Finding, warning
from .paths import spot
from .plan import Step

HOMES = tuple(f"/{folder}/" for folder in ("home", "Users", "root", "Volumes"))
_SITES = tuple(f"/{folder}/" for folder in "scratch data data1 mnt media work project projects gpfs lustre nfs storage beegfs ceph "
               "fast lscratch glade export".split())  # fmt: skip
_PATH = re.compile(r"(?:-{0,2}[A-Za-z][\w.-]*=)?(/.*|~[a-z_][\w-]*/.*)", re.S)


def is_elsewhere(path: str) -> bool:
    """A place of somebody's own machine or of one site: no node is known to have it."""
    return path.startswith((*HOMES, *_SITES)) or bool(re.match(r"~[a-z_]", path))


def arguments(step: Step) -> Iterator[Finding]:
    told: set[str] = set()
    for word in step.argv[1:]:
        found = _PATH.fullmatch(word or "")
        path = found[1] if found else ""
        if path in told or not is_elsewhere(path):
            continue
        told.add(path)
        base = path.rstrip("/").rsplit("/", 1)[-1]
        yield warning(f"{spot(step.file, step.line)} gives {step.program or 'the program'} {path}, a path of another machine: it is not there, "
                      "and what is written there is not copied back.", file=step.file, line=step.line, thing=path,
                      remedy=f"Use a name in the job folder: {base}.")  # fmt: skip


def made(step: Step) -> Iterator[Finding]:
    """`mkdir /home/ann/out`."""
    if step.program in ("mkdir", "touch", "install"):
        yield from arguments(step)


def environment(step: Step) -> Iterator[Finding]:
    """`export LD_LIBRARY_PATH=/home/ann/lib:...`: what is searched for there is not found."""
    if step.program not in ("export", "declare"):
        return
    for word in step.shown[1:]:
        name, equals, value = word.partition("=")
        path = next((part for part in value.split(":") if part.startswith(HOMES)), None) if equals else None
        if path and not re.search(r"LICEN[CS]E", name):
            yield warning(f"{spot(step.file, step.line)} sets {name} to {path}, a path of another machine; it is not there.", file=step.file,
                          line=step.line, thing=path, remedy="Upload what is needed from there and name it in the job folder.")  # fmt: skip

"""The inputs as files: names that can't be, archives that can't be unpacked, empty and overwritten files.

The one idea to know: an archive is judged as a whole, entry by entry, before a byte of it is written anywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from . import archives, programs, truncated
from .base import Finding, Inputs, Request, error, warning
from .paths import spot
from .plan import Plan, Step
from .tree import is_windows


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    yield from _names(request.inputs)
    yield from _archives(request.inputs, plan)
    emptied = list(truncated.check(plan))
    yield from emptied
    told = {(finding.file, finding.line) for finding in emptied}
    for step in plan.steps:
        yield from _empty(request, step)
        yield from _overwritten(step) if (step.file, step.line) not in told else ()


def _names(inputs: Inputs) -> Iterator[Finding]:
    names = list(inputs.names())
    for name, times in Counter(names).items():
        if times > 1:
            yield error(f"{times} inputs have the name {name}; only one of them would be kept.", file=name, thing=name,
                        remedy="Rename or remove one of them.")  # fmt: skip
        if why := _impossible(name):
            yield error(f"The name {name[:120]!r} {why}.", file=name, thing=name[:120], remedy="Rename the file.")
        elif any(ord(char) < 32 or ord(char) == 127 for char in name):
            yield warning(f"The name {name[:120]!r} has control characters in it; few programs can open such a file.",
                          file=name, thing=name[:120], remedy="Rename the file.")  # fmt: skip
    yield from _file_and_folder(set(names))
    for name, kind in list(getattr(inputs, "skipped", ()))[:20]:
        what = "a link" if kind == "symlink" else "no regular file"
        yield warning(f"{name} is {what}; it is not followed.", file=name, thing=name,
                      remedy="Put the file itself in its place.")  # fmt: skip


def _impossible(name: str) -> str | None:
    if not name or name.startswith("/") or is_windows(name):
        return "is an absolute path"
    if ".." in name.split("/"):
        return "leads out of the job folder"
    if any(len(part.replace("\ufffd", "?").encode("utf-8", "replace")) > 255 for part in name.split("/")):  # a byte that is no text
        return "is longer than 255 bytes"
    return None


def _file_and_folder(names: set[str]) -> Iterator[Finding]:
    for name in names:
        parent = name.rpartition("/")[0]
        while parent:
            if parent in names:
                yield error(f"{parent} is a file, and the folder of {name} as well.", file=name, thing=parent,
                            remedy="Rename one of them.")  # fmt: skip
            parent = parent.rpartition("/")[0]


def _archives(inputs: Inputs, plan: Plan) -> Iterator[Finding]:
    names = set(inputs.names())
    wanted = dict.fromkeys(getattr(inputs, "archives", ()))
    for step in plan.steps:
        if step.program in ("tar", "unzip", "7z") and (name := archives.named_by(step)) in names:
            wanted[str(name)] = None
    for name in wanted:
        looked = archives.look(inputs, name)
        yield from looked.findings
        if not looked.entries and not looked.findings:
            yield warning(f"{name} is an empty archive.", file=name, thing=name, remedy="Pack the files again.")
        yield from _twice(name, looked)
    for name, counts, other in list(getattr(inputs, "replaced", ()))[:20]:
        first, second = (f"in {one}" if one != name else "among the inputs" for one in (other, counts))
        yield warning(f"{name} is {first} and {second}; the latter counts.", file=name, thing=name, remedy="Leave one of them out.")


def _twice(name: str, looked: archives.Looked) -> Iterator[Finding]:
    counted = Counter(entry.name for entry in looked.entries if entry.kind == "file")
    twice = [entry for entry, times in counted.items() if times > 1]
    if twice:
        yield warning(f"{name} holds {twice[0]} more than once; the last one counts.", file=name, thing=twice[0],
                      remedy="Pack it once.")  # fmt: skip


def _empty(request: Request, step: Step) -> Iterator[Finding]:
    words = [*programs.reads(step), programs.script(step), step.stdin]
    for word in words:
        name = step.path(word)
        if name in step.tree.inputs and name not in step.tree.made and _size(request.inputs, str(name)) == 0:
            yield warning(f"{spot(step.file, step.line)} reads {name}, which is empty (0 bytes).", file=name, thing=str(name),
                          remedy="Upload it again, if it should hold something.")  # fmt: skip


def _size(inputs: Inputs, name: str) -> int:
    try:
        return inputs.size(name)
    except KeyError:
        return -1


def _overwritten(step: Step) -> Iterator[Finding]:
    """A redirection empties its file before the program reads it."""
    for redirect in step.redirects:
        name = step.path(redirect.target)
        if redirect.operator not in (">", ">|", "&>") or name not in step.tree.inputs or name in step.tree.made:
            continue
        words = [word for word in [*step.argv[1:], step.stdin] if word]
        reads = name in {step.path(word + end) for word in words for end in ("", ".inp", ".nw")}
        where = spot(step.file, step.line)
        if reads:
            yield error(f"{where} reads {name} and writes its output into it; the file is emptied first.",
                        file=step.file, line=step.line, thing=str(name), remedy="Write to another name.")  # fmt: skip
        else:
            yield from _replaced(step, where, str(name))


def _replaced(step: Step, where: str, name: str) -> Iterator[Finding]:
    if re.search(r"(^|/)log\.|\.(log|out|err)$", name):
        return  # what is left of an earlier run
    yield warning(f"{where} overwrites the uploaded file {name}.", file=step.file, line=step.line,
                  thing=name, remedy="Write to another name if you still need it.")  # fmt: skip

"""Files that an NWChem deck reads, and folders that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..base import Finding, Severity, error, warning
from ..paths import check_read
from ..plan import Step
from ..tree import is_windows, resolve
from .deck import Block, Deck, Row

_NO_FILES = {"atomic", "hcore", "project", "fragment", "swap", "rotate", "lock", "output", "alpha", "beta", "overlap"}


def check(step: Step, deck: Deck) -> Iterator[Finding]:
    if step.conditional:
        return
    made = set(_made(deck))
    for block in deck.items:
        if block.name == "restart":
            yield from _restart(step, deck, block.head)
        elif block.name in ("permanent_dir", "scratch_dir"):
            yield from _folder(step, block.head)
        yield from _read(step, block, made)


def _made(deck: Deck) -> Iterator[str]:
    """Vectors that the deck writes before it reads them."""
    start = next((block.head.words[1] for block in deck.of("start", "restart") if len(block.head.words) > 1), deck.name.rsplit(".", 1)[0])
    if any(True for _ in deck.of("task")):
        yield f"{start}.movecs"
        yield f"{start}.mcscf"
    for block in deck.items:
        for row in (block.head, *block.rows):
            output = row.after("output")
            if output:
                yield output


def _restart(step: Step, deck: Deck, row: Row) -> Iterator[Finding]:
    name = row.words[1] if len(row.words) > 1 else deck.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    folder = next((block.head.words[1] for block in deck.of("permanent_dir") if len(block.head.words) > 1), "")
    path = f"{folder.rstrip('/')}/{name}.db" if folder else f"{name}.db"
    yield from _missing(step, row, path, f"restarts from {name}: it reads", "Add it from the results of the earlier job, or write start.")


def _folder(step: Step, row: Row) -> Iterator[Finding]:
    path = row.words[1] if len(row.words) > 1 else ""
    at = {"file": row.file, "line": row.line, "thing": path}
    if path.startswith(("/tmp", "/dev/shm", "/var/tmp")):
        if row.name == "permanent_dir":
            yield warning(f"{row.where}: {row.name} is {path}, outside the job folder; what is written there is lost.",
                          remedy="Leave the line out.", **at)  # type: ignore[arg-type] # fmt: skip
    elif is_windows(path) or path.startswith(("/", "~")) or (step.cwd is not None and resolve(step.cwd, path) is None):
        yield error(f"{row.where}: {row.name} is {path}, a path of another machine or outside the job folder; it does not exist here.",
                    remedy="Leave the line out.", **at)  # type: ignore[arg-type] # fmt: skip
    elif path and step.cwd is not None and step.tree.is_folder(resolve(step.cwd, path) or "") is False:
        yield error(f"{row.where}: {row.name} is {path}, but there is no such folder and NWChem makes none.",
                    remedy=f"Begin the command with mkdir -p {path}.", **at)  # type: ignore[arg-type] # fmt: skip


def _read(step: Step, block: Block, made: set[str]) -> Iterator[Finding]:
    for row in (block.head, *block.rows):
        lower = [word.lower() for word in row.words]
        if lower[0] == "vectors" and "input" in lower:
            yield from _vectors(step, row, made, forgiving=block.name != "scf")
        elif lower[0] == "load" and block.name == "geometry":
            path = row.words[-1] if len(row.words) > 1 else ""
            yield from _missing(step, row, path, "loads", "") if re.search(r"\.\w+$", path) else ()
        elif lower[0] == "library" and "file" in lower:
            yield from _missing(step, row, row.after("file") or "", "reads", "")


def _vectors(step: Step, row: Row, made: set[str], forgiving: bool) -> Iterator[Finding]:
    """Vectors of an earlier run. dft begins from atoms where they are missing, scf stops."""
    path = row.after("input") or ""
    if path.lower() in _NO_FILES or path in made or f"{path}.movecs" in made or not path:
        return
    for found in _missing(step, row, path, "reads the vectors", "Add it from the results of the earlier job."):
        yield replace(found, severity=Severity.WARNING) if forgiving and not is_windows(path) else found


def _missing(step: Step, row: Row, path: str, verb: str, missing: str) -> Iterator[Finding]:
    found = check_read(step.tree, path, verb=verb, file=row.file, line=row.line, cwd=step.cwd, missing=missing) if path else None
    if found:
        yield found

"""Pseudopotentials that a deck names: whether they are there, and whole.

The one idea to know: they lie in pseudo_dir; without it pw.x looks into a folder of the installation, which nobody knows here.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..plan import Step
from ..text import head
from ..tree import is_system, is_windows, resolve
from .deck import Deck
from .variables import BROUGHT


def check(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    species = deck.cards.get("ATOMIC_SPECIES")
    value = deck.value("control", "pseudo_dir")
    folder = value.string if value else None
    if not species or step.conditional:
        return
    if value and folder and not is_system(folder) and (is_windows(folder) or folder.startswith("/") or
                                                       step.cwd is not None and resolve(step.cwd, folder) is None):  # fmt: skip
        yield _wrong(deck, value.line, folder, f"pseudo_dir is {folder}, a path of another machine or outside the job folder",
                     "Upload the pseudopotentials and write pseudo_dir='.'.")  # fmt: skip
        return
    if step.environment.get("ESPRESSO_PSEUDO") or (folder and (is_system(folder) or folder.startswith(("$", "~")))):
        return
    for line, words in species.rows:
        if len(words) >= 3 and not words[2].startswith("$"):
            yield from _pseudopotential(step, deck, line, words[2], folder)
            yield from _damaged(request, step, deck, line, posixpath.join(folder or ".", words[2]))


def _damaged(request: Request, step: Step, deck: Deck, line: int, path: str) -> Iterator[Finding]:
    """Empty, cut off in an upload, or the page of a web site in its place."""
    inside = resolve(step.cwd, path) if step.cwd is not None else None
    if inside not in step.tree.inputs or inside in step.tree.made:
        return
    name = str(inside)
    start = head(request.inputs, name, 4096)
    if not request.inputs.size(name):
        yield _wrong(deck, line, path, f"the pseudopotential {path} is empty (0 bytes)", "Upload it again.")
    elif start.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        yield _wrong(deck, line, path, f"{path} is a page of a web site, no pseudopotential", "Download the file itself.")
    elif b"<UPF version=" in start and b"</UPF>" not in _tail(request, name):
        yield error(f"{name} is cut off: it does not end with </UPF>.", file=name, thing=path, remedy="Upload it again.")


def _tail(request: Request, name: str) -> bytes:
    try:
        with request.inputs.open(name) as stream:
            stream.seek(-min(65_536, request.inputs.size(name)), io.SEEK_END)
            return stream.read(65_536)
    except (OSError, ValueError):
        return b"</UPF>"  # what can't be read from its end is not judged


def _pseudopotential(step: Step, deck: Deck, line: int, name: str, folder: str | None) -> Iterator[Finding]:
    inside = resolve(step.cwd, posixpath.join(folder or ".", name)) if step.cwd is not None else None
    if inside is None or (folder is not None and step.tree.exists(inside) is not False):
        return
    near = step.tree.nearest(inside)
    if folder is None:
        there = step.tree.exists(resolve(step.cwd or "", name) or "?")
        yield warning(f"{deck.name} line {line}: the pseudopotential {name} is looked for in a folder of the installation, as pseudo_dir "
                      "is not set.", file=deck.name, line=line, thing=name,
                      remedy="Write pseudo_dir='.'." if there else "Upload it and write pseudo_dir='.'.")  # fmt: skip
        return
    at = {"file": deck.name, "line": line, "thing": name}
    message = f"{deck.name} line {line} names the pseudopotential {name}, which is not among the uploaded files (pseudo_dir is {folder})."
    if near and near.lower().endswith(name.lower()) or near and posixpath.basename(near) == name:
        yield error(message, remedy=f"There is {near}.", **at)  # type: ignore[arg-type]
    elif name in BROUGHT:
        yield warning(message, remedy="Upload it, unless the installation brings it.", **at)  # type: ignore[arg-type]
    else:
        yield error(message, remedy=f"Did you mean {near}?" if near else "Upload it.", **at)  # type: ignore[arg-type]


def _wrong(deck: Deck, line: int, thing: str, what: str, remedy: str) -> Finding:
    return error(f"{deck.name} line {line}: {what}.", file=deck.name, line=line, thing=thing, remedy=remedy)

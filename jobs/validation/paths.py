"""Judges a path that a deck or a command names.

The one idea to know: all solvers share these four answers (a path of another computer, out of the job folder,
missing but there under another name, missing), so that they are said in the same words everywhere.
"""

from __future__ import annotations

import posixpath

from .base import Finding, error, warning
from .tree import Tree, is_system, is_windows, resolve


def check_read(
    tree: Tree, path: str, *, verb: str, file: str | None, line: int | None, cwd: str | None = "", missing: str = ""
) -> Finding | None:
    """A finding if `path`, which `file` reads in `line`, will not be there. `verb`: "includes", "reads"..."""
    where = spot(file, line)
    if is_windows(path):
        return _windows(tree, path, where, verb, file, line)
    if path.startswith(("/", "~")) or (cwd is not None and resolve(cwd, path) is None):
        return None if is_system(path) else _outside(tree, path, where, verb, file, line)
    if cwd is None or tree.exists(resolve(cwd, path) or "") is not False:
        return None
    return _missing(tree, path, resolve(cwd, path) or path, where, verb, file, line, missing, cwd)


def check_written(path: str, *, verb: str, file: str | None, line: int | None, cwd: str | None = "") -> Finding | None:
    """A warning if what is written there, seen from the folder `cwd`, will not be copied back."""
    if path.startswith("/dev/") and not path.startswith("/dev/shm/"):
        return None
    if not (is_windows(path) or path.startswith(("/", "~")) or resolve(cwd or "", path) is None):
        return None
    return warning(f"{spot(file, line)} {verb} {path}, outside the job folder; it will be lost when the job ends.",
                   file=file, line=line, thing=path,
                   remedy=f"Write it into the job folder: {posixpath.basename(path.rstrip('/')) or 'a relative name'}.")  # fmt: skip


def spot(file: str | None, line: int | None) -> str:
    """Words for a place: "block.inp line 3", "The command"."""
    if file is None:
        return "The command" if line in (None, 1) else f"The command (line {line})"
    return f"{file} line {line}" if line else file


def _windows(tree: Tree, path: str, where: str, verb: str, file: str | None, line: int | None) -> Finding:
    base = path.replace("\\", "/").rsplit("/", 1)[-1]
    there = next((name for name in sorted(tree.inputs, key=len) if posixpath.basename(name).lower() == base.lower()), None)
    remedy = f"Use {there}, which you uploaded." if there else f"Upload {base} and use its plain name."
    return error(f"{where} {verb} {path}, a path of your own (Windows) computer.", file=file, line=line, thing=path,
                 remedy=remedy)  # fmt: skip


def _outside(tree: Tree, path: str, where: str, verb: str, file: str | None, line: int | None) -> Finding:
    base = posixpath.basename(path.rstrip("/"))
    there = next((name for name in sorted(tree.inputs, key=len) if posixpath.basename(name) == base), None)
    remedy = f"Use {there}, which you uploaded." if there else f"Upload {base} and use its name."
    return error(f"{where} {verb} {path}, outside the job folder.", file=file, line=line, thing=path, remedy=remedy)


def _missing(
    tree: Tree, path: str, name: str, where: str, verb: str, file: str | None, line: int | None, missing: str, cwd: str
) -> Finding:
    near = tree.nearest(name)
    fix = None
    if near and near.lower() == name.lower():
        remedy = f"Names are case-sensitive: there is {near}."
        fix = f"rename:{name}"
    elif near and posixpath.basename(near) == posixpath.basename(name):
        folder = posixpath.dirname(near)
        there = f"in another folder: {near}" if folder else "at the top of the job folder"
        remedy = f"It lies {there}. Run the command there{f' (cd {folder})' if folder else ''}, or use that name."
    elif near:
        remedy = f"Did you mean {near}?"
    else:
        remedy = missing or f"Upload {path}, or correct the name."
    return error(f"{where} {verb} {path}, which is not among the uploaded files.", file=file, line=line, thing=path,
                 remedy=remedy, fix=fix)  # fmt: skip

"""Files that a Python script opens by a name written in it, and modules of its own folder.

The one idea to know: only a plain text as the first argument of a function that surely reads is a file name. What a function or a
condition holds may never run, so there a missing file is only warned of.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace

from . import programs
from .base import Finding, Request, Severity, warning
from .elsewhere import HOMES
from .paths import check_read
from .plan import Plan, Step
from .text import read_small
from .tree import is_windows

_READERS = {"loadtxt", "genfromtxt", "read_csv", "read_excel", "read_json", "read_table", "read_parquet", "imread", "fromfile", "loadmat",
            "read_fwf", "read_hdf"}  # fmt: skip
_SCRIPTS = 50  # that are read
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If, ast.While, ast.For, ast.ClassDef)


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    told: set[str] = set()
    for step in plan.steps:
        word = programs.script(step) if step.program.startswith("python") else step.argv[0] if step.argv else None
        name = step.path(word) if word and word.endswith(".py") else None
        if (
            name
            and len(told) < _SCRIPTS
            and name not in told
            and name in step.tree.inputs
            and name not in step.tree.made
            and not step.conditional
        ):
            told.add(name)
            yield from _script(request, step, name)


def _script(request: Request, step: Step, name: str) -> Iterator[Finding]:
    content = read_small(request.inputs, name, 256 << 10)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _modules(step, name, tree)
    if not content or "chdir" in content:
        return
    for node, sure in _calls(tree, True):
        path = _read(node)
        if path and (content.count(path) == 1 or is_windows(path)) and not path.startswith(("/dev/", "/proc/")):
            found = check_read(step.tree, path, verb="opens", file=name, line=node.lineno, cwd=step.cwd)
            if found and not is_windows(path) and path.startswith("/") and not path.startswith(HOMES):
                continue
            yield from [found if sure else replace(found, severity=Severity.WARNING)] if found else []


def _calls(node: ast.AST, sure: bool) -> Iterator[tuple[ast.Call, bool]]:
    """Calls with whether they surely run; none within `try`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Try, ast.Raise)):
            continue
        if isinstance(child, ast.Call):
            yield child, sure
        yield from _calls(child, sure and not isinstance(child, _NESTED))


def _read(call: ast.Call) -> str | None:
    """The name of the file that a call reads."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
    owner = call.func.value.id if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) else ""
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str) or "\n" in first.value or "://" in first.value:
        return None
    if function == "open" and not owner:
        mode = next((key.value for key in call.keywords if key.arg == "mode"), call.args[1] if len(call.args) > 1 else None)
        reads = mode is None or (isinstance(mode, ast.Constant) and str(mode.value).startswith("r"))
        return first.value if reads and first.value else None
    known = function in _READERS or (function == "load" and owner in ("np", "numpy"))
    return first.value if known and re.search(r"\.\w+$", first.value) else None


def _modules(step: Step, name: str, tree: ast.Module) -> Iterator[Finding]:
    """`import mesh_utils` where only Mesh_utils.py was uploaded."""
    folder = posixpath.dirname(name)
    beside = {other.lower(): other for other in step.tree.inputs if posixpath.dirname(other) == folder and other.endswith(".py")}
    for node in tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for module in names:
            near = beside.get(posixpath.join(folder, f"{module}.py").lower())
            if near and posixpath.basename(near) != f"{module}.py" and module not in sys.stdlib_module_names:
                yield warning(f"{name} line {node.lineno} imports {module}, but the file is {near}.", file=name, line=node.lineno, thing=module,
                              remedy="Names are case-sensitive: rename the file, or the import.")  # fmt: skip

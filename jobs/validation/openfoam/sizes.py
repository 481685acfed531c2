"""Fields with a value for each cell: as many as they announce, and as many as the mesh has cells.

The one idea to know: the number of cells is only known of a mesh that blockMesh makes, or that is uploaded and no step changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from ..text import head
from .case import Case
from .dictionary import Dictionary, Entry
from .mesh import cells_of_blocks

_CHANGES = re.compile(r"refine\w*|merge\w*|\w*[dD]ynamic\w*|renumberMesh|redistributePar|mapFields\w*")


def cells(case: Case) -> int | None:
    """Cells of the mesh, None if not known."""
    if case.mesh_is_made() or any(_CHANGES.fullmatch(step.program) for step in case.steps):
        return None
    for name in ("system/blockMeshDict", "constant/polyMesh/blockMeshDict") if case.ran("blockMesh") else ():
        if case.has(name):
            parsed = case.dictionary(name)
            return cells_of_blocks(parsed) if parsed and not parsed.problems and not parsed.open else None
    owner = case.path("constant/polyMesh/owner")
    if case.ran("blockMesh") or owner not in case.first.tree.inputs or any(owner in step.tree.made for step in case.steps):
        return None
    found = re.search(rb"nCells:\s*(\d+)", head(case.inputs, owner, 2000))
    return int(found[1]) if found else None


def check(path: str, parsed: Dictionary, count: int | None) -> Iterator[Finding]:
    """`count`: cells of the mesh, if known."""
    entry = parsed.get("internalField")
    values = [token.text for token in entry.values] if entry and not parsed.open else []
    if entry is None or len(values) < 5 or values[0] != "nonuniform" or not values[2].isdigit() or values[3] != "(":
        return
    announced, given = int(values[2]), _given(values[3:])
    if given is not None and given != announced:
        yield _wrong(path, entry, f"internalField announces {announced} values and lists {given}", announced)
    elif count is not None and announced != count:
        yield _wrong(path, entry, f"internalField has {announced} values, but the mesh has {count} cells", announced)


def _given(values: list[str]) -> int | None:
    """Values of a list: plain numbers, or brackets of them."""
    level = numbers = groups = 0
    for at, text in enumerate(values):
        level += (text == "(") - (text == ")")
        groups += text == "(" and level == 2
        numbers += level == 1 and text not in "()"
        if level == 0:
            return (groups or numbers) if at == len(values) - 1 and not (groups and numbers) else None
    return None


def _wrong(path: str, entry: Entry, what: str, announced: int) -> Finding:
    return error(f"{path} line {entry.line}: {what}.", file=path, line=entry.line, thing=str(announced),
                 remedy="Write the field anew for this mesh, or make it uniform.")  # fmt: skip

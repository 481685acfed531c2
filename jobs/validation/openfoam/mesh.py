"""The mesh: blockMeshDict, surfaces that are named, and whether there is a mesh at all.

The one idea to know: blockMesh crashes with a signal on a block that it does not understand, so a block is judged here
by its vertices and its numbers of cells.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import spot
from ..plan import Step
from ..text import read_small
from . import outside
from .blocks import named_blocks
from .case import Case, solves
from .dictionary import Dictionary, Entry, Token, tokens

_SHAPES = ["hex", "prism", "tet", "pyr", "wedge", "tetWedge"]
_BYTES_PER_CELL = 1_000  # what a solver needs for a cell at the very least
_NEEDS_NO_MESH = {"blockMesh", "snappyHexMesh", "foamyHexMesh", "decomposePar", "checkMesh", "extrudeMesh", "PDRblockMesh",
                  "surfaceFeatureExtract", "surfaceFeatures", "financialFoam", "chemFoam", "thermoFoam", "cartesianMesh",
                  "reconstructPar", "reconstructParMesh", "surfaceMeshTriangulate", "mergeMeshes", "mapFields",
                  "redistributePar", "foamRun", "foamMultiRun", "mdEquilibrationFoam"}  # fmt: skip
_BOUNDARY = "constant/polyMesh/boundary"


def check(request: Request, case: Case) -> Iterator[Finding]:
    yield from _present(case)
    if case.ran("snappyHexMesh"):
        yield from _surfaces(case)
    if case.ran("blockMesh"):
        for name in ("system/blockMeshDict", "constant/polyMesh/blockMeshDict"):
            if case.has(name) and (parsed := case.dictionary(name)):
                yield from _blocks(request, case, name, parsed)
                return
        yield from _no_dictionary(case)


def patches(case: Case) -> dict[str, Dictionary] | None:
    """Patches of the mesh by name; None if they can't be known before the run."""
    if case.mesh_is_made():
        return None
    for name in ("system/blockMeshDict", "constant/polyMesh/blockMeshDict") if case.ran("blockMesh") else ():
        parsed = case.dictionary(name) if case.has(name) else None
        entry = parsed.get("boundary") if parsed and not parsed.problems and not parsed.open else None
        return _blocks_of(entry.values) if entry else None
    if case.has(_BOUNDARY):
        made = any(case.path(_BOUNDARY) in step.tree.made for step in case.steps)
        return None if made else _boundary_file(case)
    return None


def cells_of_blocks(parsed: Dictionary) -> int | None:
    """Cells that blockMesh makes of plain hex blocks."""
    blocks, merged = parsed.get("blocks"), parsed.get("mergePatchPairs")
    if blocks is None or any(token.text.startswith(("$", "#")) for token in blocks.values) or (merged and len(merged.values) > 2):
        return None
    shapes = list(_shapes(blocks.values))
    plain = shapes and all(shape.text == "hex" and len(corners) == 8 and len(numbers) == 3 for shape, corners, numbers in shapes)
    return sum(x * y * z for _, _, (x, y, z) in shapes) if plain else None


def _boundary_file(case: Case) -> dict[str, Dictionary] | None:
    text = read_small(case.inputs, case.path(_BOUNDARY))
    if not text or "$" in text or "#" in text:
        return None
    return {name: block for name, block in named_blocks(list(tokens(text))).items() if name != "FoamFile"} or None


def _blocks_of(values: list[Token]) -> dict[str, Dictionary] | None:
    if any(token.text.startswith(("$", "#")) for token in values):
        return None
    return named_blocks(values) or None


def _present(case: Case) -> Iterator[Finding]:
    """A solver without mesh and without a step that makes one."""
    for step in case.steps:
        if step.program in _NEEDS_NO_MESH or not solves(step.program) or step.conditional:
            continue
        if case.has("constant/polyMesh/points") or any(name.startswith(case.path("constant") + "/") and "/polyMesh/" in name
                                                       for name in step.tree.inputs):  # fmt: skip
            return
        earlier = case.steps[: case.steps.index(step)]
        if not earlier and not step.tree.anything and "constant/*" not in " ".join(step.tree.patterns) \
                and not any(name.startswith("processor") for name in case.folders()):  # fmt: skip
            made = "system/blockMeshDict" if case.has("system/blockMeshDict") else None
            yield error(f"{spot(step.file, step.line)} runs {step.program}, but the case has no mesh (constant/polyMesh).",
                        file=step.file, line=step.line, thing="constant/polyMesh",
                        remedy="Run blockMesh before it." if made else "Upload the mesh, or make it in a step before.")  # fmt: skip
        return


def _no_dictionary(case: Case) -> Iterator[Finding]:
    step = next(step for step in case.steps if step.program == "blockMesh")
    if "-dict" in step.argv or "-region" in step.argv or step.conditional or step.tree.anything:
        return
    names = ("system/blockMeshDict", "constant/polyMesh/blockMeshDict")
    if not any(case.may_have(name, step) for name in names) and not any(case.has(name) for name in names):
        near = step.tree.nearest(case.path(names[0]))
        yield error(f"{spot(step.file, step.line)} runs blockMesh, but there is no {case.path(names[0])}.", file=step.file,
                    line=step.line, thing=names[0], remedy=f"There is {near}." if near else "Upload it.")  # fmt: skip


def _blocks(request: Request, case: Case, name: str, parsed: Dictionary) -> Iterator[Finding]:
    blocks, vertices = parsed.get("blocks"), parsed.get("vertices")
    if blocks is None or any(token.text.startswith(("$", "#")) for token in blocks.values):
        return
    count = _vertices(vertices.values if vertices else [])
    path, cells = case.path(name), 0
    shapes = list(_shapes(blocks.values))
    if not shapes and len(blocks.values) == 2:
        yield error(f"{path} line {blocks.line} has no blocks: zero cells.", file=path, line=blocks.line, thing="blocks",
                    remedy="Add a block: hex (0 1 2 3 4 5 6 7) (10 10 10) simpleGrading (1 1 1).")  # fmt: skip
    for shape, corners, numbers in shapes:
        at = {"file": path, "line": shape.line}
        if shape.text not in _SHAPES:
            near = difflib.get_close_matches(shape.text, _SHAPES, 1, 0.5)
            yield error(f"{path} line {shape.line}: a block has the unknown shape {shape.text}; blockMesh may crash on it.",
                        thing=shape.text, remedy=f"Did you mean {near[0]}?" if near else "Write hex.", **at)  # type: ignore[arg-type] # fmt: skip
        if count and any(corner >= count for corner in corners):
            yield error(f"{path} line {shape.line}: a block uses vertex {max(corners)}, but there are {count} (0 to {count - 1}).",
                        thing=str(max(corners)), remedy="Correct the number or add the vertex.", **at)  # type: ignore[arg-type] # fmt: skip
        if any(number < 1 for number in numbers):
            yield error(f"{path} line {shape.line}: a block has {' x '.join(map(str, numbers))} cells; that is none.",
                        thing="0 cells", remedy="Give at least 1 in each direction.", **at)  # type: ignore[arg-type] # fmt: skip
        if len(numbers) == 3:
            cells += max(0, numbers[0] * numbers[1] * numbers[2])
    yield from _faces(path, parsed, count)
    boundary = parsed.get("boundary")
    named = _blocks_of(boundary.values) if boundary and not parsed.open and not parsed.problems else None
    if named and not case.mesh_is_made():
        hexes = [corners for shape, corners, _ in shapes if shape.text == "hex"]
        yield from outside.check(path, parsed, named, hexes, len(hexes) < len(shapes) or _default_faces(case))
    yield from _memory(request, path, cells)


def _default_faces(case: Case) -> bool:
    """A field of the start says what defaultFaces are, so they are meant."""
    for folder in ("0", "0.orig"):
        for path in case.files(folder):
            parsed = case.dictionary(path[len(case.folder) + 1 :] if case.folder else path)
            boundary = parsed.sub("boundaryField") if parsed else None
            if boundary is None or boundary.open or boundary.get("defaultFaces"):
                return True
    return False


def _faces(path: str, parsed: Dictionary, count: int) -> Iterator[Finding]:
    """Faces of patches whose corners are not there."""
    boundary = parsed.get("boundary")
    for name, block in (_blocks_of(boundary.values) or {}).items() if boundary and count and not parsed.open else ():
        entry = block.get("faces")
        corner = next((token for token in entry.values if token.text.isdigit() and int(token.text) >= count), None) if entry else None
        if corner:
            yield error(f"{path} line {corner.line}: a face of the patch {name} uses vertex {corner.text}, but there are {count} (0 to "
                        f"{count - 1}).", file=path, line=corner.line, thing=corner.text, remedy="Correct the number.")  # fmt: skip


def _memory(request: Request, path: str, cells: int) -> Iterator[Finding]:
    if request.memory and cells * _BYTES_PER_CELL > request.memory * request.nodes:
        make = error if cells * _BYTES_PER_CELL > 2 * request.memory * request.nodes else warning
        yield make(f"{path} makes {cells:,} cells: that needs at least {cells * _BYTES_PER_CELL >> 30} GiB of memory, "
                      f"the hardware has {request.memory * request.nodes / (1 << 30):.0f} GiB.", file=path, thing="memory",
                      remedy="Choose hardware with more memory, or a coarser mesh.")  # fmt: skip


def _vertices(values: list[Token]) -> int:
    """Number of vertices of a plain list; 0 if the list is not that plain."""
    if any(token.text.startswith(("$", "#")) or token.text in ("project", "name") or token.text == "{" for token in values):
        return 0
    level = count = 0
    for token in values:
        level += (token.text == "(") - (token.text == ")")
        count += token.text == "(" and level == 2
    return count


def _shapes(values: list[Token]) -> Iterator[tuple[Token, list[int], list[int]]]:
    """(shape, corners, cells) of each block in `( hex (0 1 ..) [zone] (10 10 1) simpleGrading (..) ... )`."""
    at = 1
    while at < len(values):
        token = values[at]
        if token.text == "name":
            at += 2
            continue
        if token.text in ("(", ")") or at + 1 >= len(values) or values[at + 1].text != "(":
            at += 1
            continue
        corners, at = _list(values, at + 1)
        if at < len(values) and values[at].text != "(":
            at += 1  # the name of a zone
        numbers, at = _list(values, at)
        yield token, corners, numbers
        at = _past_grading(values, at)


def _past_grading(values: list[Token], at: int) -> int:
    """Behind `simpleGrading (...)` or `edgeGrading (...)`, whose brackets may be nested."""
    if at < len(values) and values[at].text != "(" and values[at].text.endswith("Grading"):
        at += 1
    level = 0
    while at < len(values):
        level += (values[at].text == "(") - (values[at].text == ")")
        at += 1
        if level <= 0:
            break
    return at


def _list(values: list[Token], at: int) -> tuple[list[int], int]:
    found: list[int] = []
    if at >= len(values) or values[at].text != "(":
        return found, at
    at += 1
    while at < len(values) and values[at].text != ")":
        text = values[at].text
        if text.lstrip("-").isdigit():
            found.append(int(text))
        at += 1
    return found, at + 1


def _surfaces(case: Case) -> Iterator[Finding]:
    """Files of constant/triSurface that snappyHexMeshDict names."""
    name = "system/snappyHexMeshDict"
    parsed = case.dictionary(name) if case.has(name) else None
    geometry = parsed.sub("geometry") if parsed else None
    step = next(step for step in case.steps if step.program == "snappyHexMesh")
    controls = parsed.sub("castellatedMeshControls") if parsed and not step.conditional else None
    yield from _features(case, step, case.path(name), controls.get("features") if controls else None)
    for entry in geometry.entries if geometry and not step.conditional else ():
        kind = entry.sub.get("type") if entry.sub else None
        if not entry.sub or not kind or kind.word not in ("triSurfaceMesh", "distributedTriSurfaceMesh"):
            continue
        given = entry.sub.get("file")
        surface = given.word if given else entry.key
        places = [f"constant/triSurface/{surface}", f"constant/geometry/{surface}"]
        if surface and "$" not in surface and "/" not in surface and not any(case.may_have(place, step) for place in places):
            near = step.tree.nearest(case.path(places[0]))
            path = case.path(name)
            yield error(f"{path} line {entry.line} names the surface {surface}, which is not in {case.path('constant/triSurface')}.",
                        file=path, line=entry.line, thing=surface, remedy=f"There is {near}." if near else "Upload it there.")  # fmt: skip


def _features(case: Case, step: Step, path: str, entry: Entry | None) -> Iterator[Finding]:
    """Edges that a step before has to take out of the surfaces."""
    values = entry.values if entry else []
    for word, token in zip(values, values[1:], strict=False):
        places = [f"constant/{folder}/{token.text}" for folder in ("triSurface", "extendedFeatureEdgeMesh", "geometry")]
        if word.text == "file" and not set("$#/") & set(token.text) and not any(case.may_have(place, step) for place in places):
            yield error(f"{path} line {token.line} names the edges {token.text}, which are not in {case.path('constant/triSurface')}.", file=path,
                        line=token.line, thing=token.text, remedy="Run surfaceFeatureExtract before snappyHexMesh, or upload them there.")  # fmt: skip

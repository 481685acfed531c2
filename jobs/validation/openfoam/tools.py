"""Tools beside the solvers: the dictionary that each reads, the mesh file that a converter wants, parts that must be there.

The one idea to know: a tool without its dictionary ends at once, and the steps behind it then work on what was there before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from ..paths import check_read, spot
from ..plan import Step
from ..programs import plain
from .case import Case

_DICTIONARIES = {
    "setFields": "setFieldsDict", "topoSet": "topoSetDict", "snappyHexMesh": "snappyHexMeshDict", "extrudeMesh": "extrudeMeshDict",
    "createPatch": "createPatchDict", "surfaceFeatureExtract": "surfaceFeatureExtractDict", "mirrorMesh": "mirrorMeshDict",
    "createBaffles": "createBafflesDict", "changeDictionary": "changeDictionaryDict", "extrudeToRegionMesh": "extrudeToRegionMeshDict",
    "cartesianMesh": "meshDict", "foamyHexMesh": "foamyHexMeshDict", "surfaceFeatures": "surfaceFeaturesDict",
}  # fmt: skip
_CONVERTERS = re.compile(
    r"(fluent|fluent3D|gmsh|ansys|gambit|cfx4|ideasUnv|star4|netgenNeutral|tetgen|plot3d|vtkUnstructured|dat)(Mesh)?ToFoam"
)


def check(case: Case) -> Iterator[Finding]:
    for at, step in enumerate(case.steps):
        if step.conditional or step.tree.anything:
            continue
        yield from _chosen(case, step)
        if step.program in _DICTIONARIES:
            yield from _dictionary(case, step)
        elif _CONVERTERS.fullmatch(step.program):
            yield from _mesh_file(step)
        elif step.program in ("reconstructPar", "reconstructParMesh"):
            yield from _parts(case, step, case.steps[:at])
        elif step.program == "mapFields":
            yield from _source(step)


def _dictionary(case: Case, step: Step) -> Iterator[Finding]:
    if any(option in step.argv for option in ("-dict", "-region", "-instance", "-allRegions")):
        return
    names = [f"{folder}/{_DICTIONARIES[step.program]}" for folder in ("system", "constant")]
    if not any(case.may_have(name, step) for name in names):
        near = step.tree.nearest(case.path(names[0]))
        yield error(f"{spot(step.file, step.line)} runs {step.program}, but there is no {case.path(names[0])}.", file=step.file,
                    line=step.line, thing=names[0], remedy=f"There is {near}." if near else "Upload it.")  # fmt: skip


def _chosen(case: Case, step: Step) -> Iterator[Finding]:
    """A dictionary under another name: as it is written, or in system."""
    given = step.option("-dict") or ""
    places = [given, f"system/{given}"]
    regions = "-region" in step.argv or "-allRegions" in step.argv  # then it is looked for in the region's own folder
    if not given or regions or given.startswith(("/", "-", "~")) or "$" in given or any(case.may_have(place, step) for place in places):
        return
    near = step.tree.nearest(case.path(given))
    yield error(f"{spot(step.file, step.line)} runs {step.program} with -dict {given}, which is not among the uploaded files.", file=step.file,
                line=step.line, thing=given, remedy=f"There is {near}." if near else "Upload it, or correct the name.")  # fmt: skip


def _mesh_file(step: Step) -> Iterator[Finding]:
    words = [word for word in plain(step.argv[1:]) if word and not re.fullmatch(r"[-+\d.eE]+", word)]
    if words and "$" not in words[0]:
        found = check_read(step.tree, words[0], verb=f"runs {step.program}: it reads", file=step.file, line=step.line, cwd=step.cwd)
        yield from [found] if found else []


def _parts(case: Case, step: Step, earlier: list[Step]) -> Iterator[Finding]:
    made = any(other.program in ("decomposePar", "redistributePar") or other.tree.anything for other in earlier)
    there = any(name.startswith("processor") for name in case.folders()) or step.tree.matches(case.path("processor*"))
    if not made and not there:
        yield error(f"{spot(step.file, step.line)} runs {step.program}, but there are no processor folders.", file=step.file,
                    line=step.line, thing=step.program, remedy="Run decomposePar and the solver in parallel before, or leave it out.")  # fmt: skip


def _source(step: Step) -> Iterator[Finding]:
    words = [word for word in plain(step.argv[1:]) if word]
    if not words or "$" in words[0]:
        return
    inside = step.path(words[0])
    if inside is None or step.tree.is_folder(inside) is False:
        yield error(f"{spot(step.file, step.line)} maps fields from the case {words[0]}, which is not among the uploaded folders.",
                    file=step.file, line=step.line, thing=words[0], remedy="Upload that case beside this one, and use its name.")  # fmt: skip

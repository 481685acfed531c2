"""Fields of the start time: are they there, and do they fit the patches of the mesh?

The one idea to know: a patch is looked up by its name, then by patterns and groups. Where a pattern, a group or an
include could cover it, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, error
from ..paths import spot
from ..plan import Step
from . import conditions, demands, models, shape, sizes
from .case import Case, solves, times
from .control import start_time
from .dictionary import Dictionary
from .mesh import patches

_CONSTRAINTS = {"empty", "wedge", "symmetryPlane"}  # the field must say the same
_INCOMPRESSIBLE = {"icoFoam", "simpleFoam", "pisoFoam", "pimpleFoam", "nonNewtonianIcoFoam"}
_NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_INCOMPRESSIBLE, ("p", "U")),
    "interFoam": ("p_rgh", "U"), "potentialFoam": ("U",), "laplacianFoam": ("T",), "scalarTransportFoam": ("T", "U"),
    "rhoCentralFoam": ("p", "U", "T"), "buoyantSimpleFoam": ("U", "T", "p_rgh"), "buoyantPimpleFoam": ("U", "T", "p_rgh"),
    "rhoSimpleFoam": ("p", "U", "T"), "rhoPimpleFoam": ("p", "U", "T"), "sonicFoam": ("p", "U", "T"),
}  # fmt: skip
_PROPERTIES = ("constant/transportProperties", "constant/physicalProperties")


def check(case: Case) -> Iterator[Finding]:
    step = _solver(case)
    folder = _folder(case)
    if step is None or folder is None:
        return
    yield from _properties(case, step)
    if _given(case, folder):
        yield from _needed(case, step, folder)
        yield from _boundaries(case, folder)
        yield from demands.check(case, step, folder)
    elif not _may_come(case, step, folder):
        yield _no_folder(case, step, folder)


def _solver(case: Case) -> Step | None:
    """The first step that solves."""
    for step in case.steps:
        if not step.conditional and (solves(step.program) or not step.program):
            return step
    return None


def _folder(case: Case) -> str | None:
    control = case.dictionary("system/controlDict")
    if control is None or any(problem.sure for problem in control.problems):
        return None
    start = start_time(case, control)
    if start is None:
        return None
    there = [name for name in case.folders() if _same_time(name, start)]
    return there[0] if there else f"{start:g}"


def _same_time(name: str, time: float) -> bool:
    try:
        return float(name) == time
    except ValueError:
        return False


def _given(case: Case, folder: str) -> bool:
    """The fields are inputs, and no step made them anew."""
    return bool(case.files(folder)) and not any(name.startswith(case.path(folder) + "/") for step in case.steps for name in step.tree.made)


def _may_come(case: Case, step: Step, folder: str) -> bool:
    earlier = case.steps[: case.steps.index(step)]
    makers = ("mapFields", "mapFieldsPar", "setFields", "restore0Dir", "redistributePar", "decomposePar")
    return (
        step.tree.is_folder(case.path(folder)) is not False and case.path(folder) in step.tree.made | step.tree.folders
        or step.tree.anything
        or any(other.program in makers or other.program.endswith("Foam") for other in earlier)
        or any(name.startswith("processor") for name in case.folders())
        or step.program not in _NEEDS
    )  # fmt: skip


def _no_folder(case: Case, step: Step, folder: str) -> Finding:
    there = [f"{time:g}" for time in times(case)]
    if "0.orig" in case.folders() or "0.org" in case.folders():
        remedy = "There is 0.orig: copy it first (cp -r 0.orig 0)."
    else:
        remedy = f"There are {', '.join(there)}." if there else "Upload the folder with the fields."
    control = case.dictionary("system/controlDict")
    given = control.get("startTime") if control and _word(control) == "startTime" else None
    file, line = (case.path("system/controlDict"), given.line) if given else (step.file, step.line)
    return error(f"{spot(step.file, step.line)} starts {step.program or 'the solver'} at time {folder}, but there is no folder "
                 f"{case.path(folder)}.", file=file, line=line, thing=case.path(folder), remedy=remedy)  # fmt: skip


def _word(control: Dictionary) -> str | None:
    entry = control.get("startFrom")
    return entry.word if entry else None


def _properties(case: Case, step: Step) -> Iterator[Finding]:
    if step.program not in ("icoFoam", "simpleFoam", "pisoFoam", "pimpleFoam") or step.tree.anything:
        return
    if not any(case.may_have(name, step) for name in _PROPERTIES):
        near = step.tree.nearest(case.path(_PROPERTIES[0]))
        yield error(f"{step.program} reads {case.path(_PROPERTIES[0])}, which is not among the uploaded files.",
                    thing=_PROPERTIES[0], remedy=f"There is {near}." if near else "Upload it.")  # fmt: skip
        return
    parsed = case.dictionary(_PROPERTIES[0])
    nu = parsed.get("nu") if parsed else None
    if nu and nu.number is None and nu.values and nu.values[-1].text.isalpha() and not parsed.open:  # type: ignore[union-attr]
        path = case.path(_PROPERTIES[0])
        yield error(f"{path} line {nu.line}: nu must be a number, not {nu.text}.", file=path, line=nu.line, thing="nu",
                    remedy="Write for instance nu [0 2 -1 0 0 0 0] 1e-05;")  # fmt: skip
    elif nu and nu.number is not None and nu.number < 0:
        path = case.path(_PROPERTIES[0])
        yield error(f"{path} line {nu.line}: the viscosity nu is negative.", file=path, line=nu.line, thing="nu",
                    remedy="Give a value above zero.")  # fmt: skip
    elif parsed and nu is None and step.program == "icoFoam" and not parsed.open and not parsed.problems:
        path = case.path(_PROPERTIES[0])
        yield error(f"{path} has no entry nu.", file=path, line=1, thing="nu", remedy="Add nu [0 2 -1 0 0 0 0] 0.01;")


def _needed(case: Case, step: Step, folder: str) -> Iterator[Finding]:
    names = [*_NEEDS.get(step.program, ()), *_model_fields(case, step)]
    there = {name.rsplit("/", 1)[-1].removesuffix(".gz") for name in case.files(folder)}
    for name in names:
        if name not in there and not step.tree.anything and step.tree.exists(case.path(f"{folder}/{name}")) is False:
            near = next((other for other in there if other.lower() == name.lower()), None)
            path = case.path(f"{folder}/{name}")
            yield error(f"{step.program} reads {path}, which is not among the uploaded files.", file=path, thing=name,
                        remedy=f"There is {case.path(folder)}/{near}." if near else f"Upload the field {name}.")  # fmt: skip


def _model_fields(case: Case, step: Step) -> tuple[str, ...]:
    return models.read_fields(models.model(case)) if step.program in ("simpleFoam", "pisoFoam", "pimpleFoam") else ()


def _boundaries(case: Case, folder: str) -> Iterator[Finding]:
    known, count = patches(case), sizes.cells(case)
    for path in case.files(folder):
        name = path[len(case.folder) + 1 :] if case.folder else path
        parsed = case.dictionary(name)
        boundary = parsed.sub("boundaryField") if parsed and not parsed.problems else None
        if parsed is None or boundary is None:
            continue
        yield from conditions.check(case, path, boundary)
        yield from shape.check(path, parsed, boundary, _solver(case))
        yield from sizes.check(path, parsed, count if _is_volume_field(parsed) else None)
        if known and not parsed.open and not boundary.open and _is_volume_field(parsed):
            yield from _patches(path, boundary, known)


def _is_volume_field(parsed: Dictionary) -> bool:
    entry = (parsed.sub("FoamFile") or Dictionary()).get("class")
    return bool(entry and entry.word and entry.word.startswith("vol"))


def _patches(path: str, boundary: Dictionary, known: dict[str, Dictionary]) -> Iterator[Finding]:
    names = [entry.key for entry in boundary.entries]
    for patch, block in known.items():
        entry = boundary.get(patch)
        kind = block.get("type")
        if entry is None:
            if not _covered(boundary, block) and (kind and kind.word) not in ("empty", "processor"):
                yield _no_entry(path, patch, names, known)
        elif entry.pattern and kind and kind.word == "empty":
            continue  # a patch that is empty asks no pattern
        elif entry.sub and kind and kind.word and not entry.sub.open:
            yield from _constraint(path, patch, kind.word, entry.sub)


def _covered(boundary: Dictionary, block: Dictionary) -> bool:
    groups = block.get("inGroups")
    words = {token.text for token in groups.values} if groups else set()
    kind = block.get("type")
    words.add(kind.word or "" if kind else "")
    return any(entry.key in words or any(re.search(entry.key, word) for word in words) and entry.pattern
               for entry in boundary.entries)  # fmt: skip


def _no_entry(path: str, patch: str, names: list[str], known: dict[str, Dictionary]) -> Finding:
    extra = [name for name in names if name not in known]
    found = f" (found {', '.join(extra[:3])}, which is no patch of the mesh)" if extra else ""
    return error(f"{path} has no entry for the patch {patch}{found}.", file=path, thing=patch,
                 remedy=f"Rename {extra[0]} to {patch}." if len(extra) == 1 else f"Add {patch} to boundaryField.")  # fmt: skip


def _constraint(path: str, patch: str, mesh_type: str, entry: Dictionary) -> Iterator[Finding]:
    kind, mesh = entry.get("type"), entry.get("patchType")
    if not kind or not kind.word or (mesh and mesh.word == mesh_type):
        return
    if mesh_type in _CONSTRAINTS and kind.word != mesh_type:
        yield error(f"{path} line {kind.line}: the patch {patch} is {mesh_type} in the mesh, so its type must be {mesh_type}, "
                    f"not {kind.word}.", file=path, line=kind.line, thing=patch, remedy=f"Write type {mesh_type};")  # fmt: skip
    elif kind.word in _CONSTRAINTS and mesh_type in ("wall", "patch"):
        yield error(f"{path} line {kind.line}: the patch {patch} is of type {mesh_type} in the mesh and can't be {kind.word}.",
                    file=path, line=kind.line, thing=patch, remedy=f"Make the patch {kind.word} in the mesh as well.")  # fmt: skip

"""One OpenFOAM case: its folder, its files, and the steps that work on it.

The one idea to know: a case may be half there when the job starts, since earlier steps make its mesh, its fields and
its processor folders. What a step may have made is never called missing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error
from ..plan import Step
from ..text import MOST_INCLUDES, byte_order_mark, not_text, odd_blank, read_small, too_many_includes
from ..tree import is_system, is_windows
from .dictionary import Dictionary, parse

LARGEST = 1 << 20  # bytes of a dictionary that is read
_REMARK = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
# Programs that make or change a mesh, so that the patches are theirs.
_MESHERS = re.compile(
    r"(snappyHexMesh|createPatch|createBaffles|extrude\w*|mergeMeshes|stitchMesh|mirrorMesh|topoSet|splitMesh\w*|autoPatch|"
    r"\w+ToFoam|cartesianMesh|foamyHexMesh|refineWallLayer|subsetMesh|mergeOrSplitBaffles|createNonConformalCouples|"
    r"PDRblockMesh|polyDualMesh|combinePatchFaces|attachMesh|collapseEdges|changeDictionary|foamDictionary|singleCellMesh|"
    r"setSet|modifyMesh|flattenMesh|PDRMesh|moveDynamicMesh|moveMesh)"
)


@dataclass
class Case:
    inputs: Inputs
    folder: str
    steps: list[Step] = field(default_factory=list)
    version: str = ""
    findings: list[Finding] = field(default_factory=list)
    parsed: dict[str, Dictionary | None] = field(default_factory=dict)
    included: int = 0
    texts: dict[str, Dictionary | None] = field(default_factory=dict)  # by path, so that no file is read twice

    @property
    def first(self) -> Step:
        return self.steps[0]

    def path(self, name: str) -> str:
        return posixpath.normpath(posixpath.join(self.folder, name))

    def has(self, name: str) -> bool:
        """Among the inputs, packed by gzip as well, and not rewritten by a step."""
        path = self.path(name)
        return path in self.first.tree.inputs or path + ".gz" in self.first.tree.inputs

    def may_have(self, name: str, step: Step | None = None) -> bool:
        tree = (step or self.steps[-1]).tree
        path = self.path(name)
        return tree.exists(path) is not False or tree.exists(path + ".gz") is not False

    def folders(self) -> Iterator[str]:
        """Names of the folders at the top of the case."""
        prefix = f"{self.folder}/" if self.folder else ""
        for name in self.first.tree.folders:
            rest = name.removeprefix(prefix) if name.startswith(prefix) else ""
            if rest and "/" not in rest:
                yield rest

    def files(self, folder: str) -> list[str]:
        """The inputs right in a folder of the case."""
        top = self.path(folder) + "/"
        return sorted(name for name in self.first.tree.inputs if name.startswith(top) and "/" not in name[len(top) :])

    def ran(self, *programs: str) -> bool:
        return any(step.program in programs for step in self.steps)

    def mesh_is_made(self) -> bool:
        """A step other than blockMesh decides on the patches, or a step is not known."""
        return any(_MESHERS.fullmatch(step.program) or step.tree.anything for step in self.steps)

    def dictionary(self, name: str) -> Dictionary | None:
        """A dictionary of the case; None if it is absent, too big, or rewritten by a step."""
        if name not in self.parsed:
            self.parsed[name] = self._read(self.path(name), [])
        return self.parsed[name]

    def _read(self, path: str, above: list[str]) -> Dictionary | None:
        if path not in self.texts:
            self.texts[path] = self._parse(path, above)
        return self.texts[path]

    def _parse(self, path: str, above: list[str]) -> Dictionary | None:
        if path not in self.first.tree.inputs or any(path in step.tree.made for step in self.steps):
            return None
        if trouble := not_text(self.inputs, path):
            self.findings += [trouble] if not path.startswith(self.path("0")) else []
            return None
        if mark := byte_order_mark(self.inputs, path, "OpenFOAM stops at it in line 1."):
            self.findings.append(mark)
        text = read_small(self.inputs, path, LARGEST)
        self.findings += [blank] if text and not text.isascii() and (blank := _odd_blank(path, text)) else []
        if text is None or re.search(r"\bformat\s+binary", text[:2000]) and "boundaryField" in text:
            return None
        return parse(text, lambda directive, name, line: self._include(path, directive, name, line, [*above, path]))

    def _include(self, file: str, directive: str, name: str, line: int, above: list[str]) -> Dictionary | None:
        if directive in ("#includeEtc", "#includeFunc") or len(above) > 20:
            return None
        at = {"file": file, "line": line, "thing": name}
        inside = self._included(file, name)
        if inside in above:
            self.findings.append(error(f"{file} line {line} includes {name}, which includes itself: an endless loop.",
                                       remedy="Take one of the #include lines out.", **at))  # fmt: skip
            return None
        if self.included > MOST_INCLUDES:
            self.findings += [too_many_includes(file, line)] if self.included < 2 * MOST_INCLUDES else []
            self.included = 2 * MOST_INCLUDES
            return None
        if inside is not None and inside in self.first.tree.inputs:
            self.included += 1
            return self._read(inside, above)
        if directive == "#include" and self._is_missing(file, name, inside):
            self.findings.append(self._missing(file, name, at))
        return None

    def _included(self, file: str, name: str) -> str | None:
        name = re.sub(r"^(\$FOAM_CASE|\$\{FOAM_CASE\}|<case>)/", self.folder + "/" if self.folder else "", name)
        for word in ("system", "constant"):
            name = re.sub(rf"^<{word}>/", self.path(word) + "/", name)
            if name.startswith(self.path(word) + "/"):
                return posixpath.normpath(name)
        if "$" in name or "<" in name:
            return None
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
        if beside in self.first.tree.inputs:
            return beside
        return self.path(name) if self.path(name) in self.first.tree.inputs else beside

    def _is_missing(self, file: str, name: str, inside: str | None) -> bool:
        if is_windows(name) or name.startswith("/"):
            return not is_system(name)
        return inside is not None and self.steps[-1].tree.exists(inside) is False

    def _missing(self, file: str, name: str, at: dict[str, object]) -> Finding:
        what = "a path of your own (Windows) computer" if is_windows(name) else "outside the job folder"
        if not is_windows(name) and not name.startswith("/") and not (self._included(file, name) or "..").startswith(".."):
            what = "which is not among the uploaded files"
        near = self.first.tree.nearest(posixpath.join(posixpath.dirname(file), name.replace("\\", "/")))
        remedy = f"There is {near}." if near else "Upload it, or correct the name."
        return error(f"{file} line {at['line']} includes {name}, {what}.", remedy=remedy, **at)  # type: ignore[arg-type]


def _odd_blank(path: str, text: str) -> Finding | None:
    bare = _REMARK.sub(lambda found: "\n" * found.group().count("\n"), text)
    return next((found for number, line in enumerate(bare.split("\n"), 1) if (found := odd_blank(path, number, line))), None)


def solves(program: str) -> bool:
    """A program that computes: icoFoam, not paraFoam or fluentMeshToFoam."""
    return program.endswith("Foam") and "ToFoam" not in program and program not in ("paraFoam", "setsToFoam")


def number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def times(case: Case) -> list[float]:
    """Times of which there are folders."""
    return sorted(value for value in map(number, case.folders()) if value is not None)

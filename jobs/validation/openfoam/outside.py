"""The outside of a blockMesh: faces that no patch takes, and patches that want a partner.

The one idea to know: a face of a block that no second block shares is outside; blockMesh puts what no patch takes into
defaultFaces, which are empty, and the solver goes on without that wall.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, error, warning
from .dictionary import Dictionary, Entry, Token

_HEX = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
_PAIRED = {"cyclic", "cyclicAMI", "cyclicACMI", "cyclicSlip"}


def check(path: str, parsed: Dictionary, blocks: dict[str, Dictionary], corners: list[list[int]], named: bool) -> Iterator[Finding]:
    """`blocks`: the patches; `corners`: of each hex; `named`: a field has an entry for defaultFaces."""
    yield from pairs(path, blocks)
    merged = parsed.get("mergePatchPairs")
    plain = not parsed.open and parsed.get("defaultPatch") is None and parsed.get("patches") is None
    if named or not plain or (merged and len(merged.values) > 2) or any(len(set(block)) != 8 for block in corners):
        return
    taken = {frozenset(face) for block in blocks.values() for face in _faces(block.get("faces"))}
    sides = [frozenset(block[at] for at in side) for block in corners for side in _HEX]
    bare = [side for side in sides if sides.count(side) == 1 and side not in taken] if len(sides) < 600 else []
    entry = parsed.get("boundary")
    flat = any(kind.word == "empty" for block in blocks.values() if (kind := block.get("type")))
    if bare and entry and flat:  # without an empty patch, this is how a case is made flat
        face = " ".join(str(corner) for corner in sorted(bare[0]))
        yield warning(f"{path} line {entry.line}: {len(bare)} outer face{'s' * (len(bare) > 1)} of the blocks (vertices {face}) "
                      f"{'are' if len(bare) > 1 else 'is'} in no patch: blockMesh makes defaultFaces of type empty.", file=path,
                      line=entry.line, thing="defaultFaces", remedy="Add it to a patch, or say defaultPatch.")  # fmt: skip


def pairs(path: str, blocks: dict[str, Dictionary]) -> Iterator[Finding]:
    for name, block in blocks.items():
        kind, other = block.get("type"), block.get("neighbourPatch")
        if not kind or kind.word not in _PAIRED or block.open or block.get("coupleGroup"):
            continue
        at = {"file": path, "line": (other or kind).line}
        if other is None:
            yield error(f"{path} line {kind.line}: the {kind.word} patch {name} has no neighbourPatch.", thing="neighbourPatch",
                        remedy="Split it into two patches, each naming the other.", **at)  # type: ignore[arg-type] # fmt: skip
        elif other.word and other.word not in blocks:
            yield error(f"{path} line {other.line}: the neighbourPatch {other.word} of {name} is no patch of the mesh.", thing=other.word,
                        remedy="Name the patch on the other side.", **at)  # type: ignore[arg-type] # fmt: skip


def _faces(entry: Entry | None) -> Iterator[list[int]]:
    """Corners of each face of `((0 4 7 3) (2 6 5 1))`."""
    face: list[int] = []
    values: list[Token] = entry.values if entry else []
    for token in values:
        if token.text == "(":
            face = []
        elif token.text == ")" and face:
            yield face
            face = []
        elif token.text.isdigit():
            face.append(int(token.text))

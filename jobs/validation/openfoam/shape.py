"""Dimensions and values of a field against its class: a vector where a number must be, a pressure in wrong units."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, error
from ..plan import Step
from .dictionary import Dictionary, Entry

_KINEMATIC = {"icoFoam", "simpleFoam", "pisoFoam", "pimpleFoam", "nonNewtonianIcoFoam", "SRFSimpleFoam"}
_VELOCITY, _PRESSURE = [0.0, 1.0, -1.0], [0.0, 2.0, -2.0]


def check(path: str, parsed: Dictionary, boundary: Dictionary, step: Step | None) -> Iterator[Finding]:
    kind = (parsed.sub("FoamFile") or Dictionary()).get("class")
    if kind is None:
        return
    name = path.rsplit("/", 1)[-1]
    yield from _dimensions(path, name, parsed, step)
    entries = [parsed.get("internalField"), *(entry.sub.get("value") for entry in boundary.entries if entry.sub)]
    for entry in entries:
        if entry is not None:
            yield from _value(path, str(kind.word), entry)


def _dimensions(path: str, name: str, parsed: Dictionary, step: Step | None) -> Iterator[Finding]:
    entry = parsed.get("dimensions")
    wanted = {"U": _VELOCITY, "p": _PRESSURE}.get(name) if step and step.program in _KINEMATIC else None
    if not entry or not wanted:
        return
    try:
        given = [float(token.text) for token in entry.values if token.text not in "[]"]
    except ValueError:
        return
    if len(given) >= 3 and given[:3] != wanted:
        shown = " ".join(f"{value:g}" for value in wanted)
        yield error(f"{path} line {entry.line}: {name} has the dimensions {entry.text}; {step.program if step else ''} wants [{shown} 0 0 0 0].",
                    file=path, line=entry.line, thing="dimensions", remedy="Correct the dimensions.")  # fmt: skip


def _value(path: str, kind: str, entry: Entry) -> Iterator[Finding]:
    """`uniform 0` and `uniform (0 0 0)` against scalars and vectors."""
    values = [token.text for token in entry.values]
    if len(values) < 2 or values[0] != "uniform" or values[1].startswith(("$", "#")):
        return
    is_list = values[1] == "("
    if kind == "volVectorField" and not is_list or kind == "volScalarField" and is_list:
        shape = "a vector such as (0 0 0)" if kind == "volVectorField" else "one number"
        yield error(f"{path} line {entry.line}: {entry.key} {entry.text[:40]} in a {kind}, which wants {shape}.", file=path,
                    line=entry.line, thing=entry.key, remedy=f"Write uniform and {shape}.")  # fmt: skip

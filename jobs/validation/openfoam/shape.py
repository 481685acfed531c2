"""Dimensions and values of a field against its class: a vector where a number must be, a pressure in wrong units."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, error
from ..plan import Step
from .dictionary import Dictionary, Entry

_KINEMATIC = {"icoFoam", "simpleFoam", "pisoFoam", "pimpleFoam", "nonNewtonianIcoFoam", "SRFSimpleFoam"}
_NUMBERS = {"volScalarField": 1, "volVectorField": 3, "volSymmTensorField": 6, "volTensorField": 9}
_VALUES = ("value", "inletValue", "refValue", "gradient", "freestreamValue")
_DIMENSIONS = {"U": [0, 1, -1], "p": [0, 2, -2], "k": [0, 2, -2], "epsilon": [0, 2, -3], "omega": [0, 0, -1], "nut": [0, 2, -1],
               "nuTilda": [0, 2, -1]}  # fmt: skip
_DIVISORS = {"epsilon", "omega"}  # a model divides by them


def check(path: str, parsed: Dictionary, boundary: Dictionary, step: Step | None) -> Iterator[Finding]:
    kind = (parsed.sub("FoamFile") or Dictionary()).get("class")
    if kind is None:
        return
    name = path.rsplit("/", 1)[-1]
    yield from _dimensions(path, name, parsed, step)
    entries = [("internalField", parsed.get("internalField"))]
    entries += [(patch.key, patch.sub.get(key)) for patch in boundary.entries if patch.sub for key in _VALUES]
    for place, entry in entries:
        if entry is not None:
            yield from _value(path, str(kind.word), place, entry)


def _dimensions(path: str, name: str, parsed: Dictionary, step: Step | None) -> Iterator[Finding]:
    entry = parsed.get("dimensions")
    wanted = _DIMENSIONS.get(name) if step and step.program in _KINEMATIC else None
    if not entry or not wanted:
        return
    start = parsed.get("internalField")
    if (
        name in _DIVISORS
        and start
        and [token.text for token in start.values][:1] == ["uniform"]
        and start.values[-1].text.strip("0.") == ""
    ):
        yield error(f"{path} line {start.line}: {name} is zero at the start, and the turbulence model divides by it.", file=path, line=start.line,
                    thing="internalField", remedy=f"Give an estimate of {name} above zero.")  # fmt: skip
    try:
        given = [float(token.text) for token in entry.values if token.text not in "[]"]
    except ValueError:
        return
    if len(given) >= 3 and given[:3] != wanted:
        shown = " ".join(f"{value:g}" for value in wanted)
        yield error(f"{path} line {entry.line}: {name} has the dimensions {entry.text}; {step.program if step else ''} wants [{shown} 0 0 0 0].",
                    file=path, line=entry.line, thing="dimensions", remedy="Correct the dimensions.")  # fmt: skip


def _value(path: str, kind: str, place: str, entry: Entry) -> Iterator[Finding]:
    """`uniform 0` and `uniform (0 0 0)` against scalars, vectors and tensors."""
    values = [token.text for token in entry.values]
    if kind not in _NUMBERS or len(values) < 2 or values[0] != "uniform" or any(text.startswith(("$", "#")) for text in values):
        return
    numbers = len(values) - 3 if values[1] == "(" and values[-1] == ")" else 0
    if numbers == (_NUMBERS[kind] if _NUMBERS[kind] > 1 else 0):
        return
    shape = f"{_NUMBERS[kind]} numbers in brackets" if _NUMBERS[kind] > 1 else "one number"
    shape = "a vector such as (0 0 0)" if kind == "volVectorField" else shape
    told = entry.key if place == entry.key else f"{entry.key} of {place}:"
    yield error(f"{path} line {entry.line}: {told} {entry.text[:40]} in a {kind}, which wants {shape}.", file=path,
                line=entry.line, thing=entry.key if place == entry.key else place, remedy=f"Write uniform and {shape}.")  # fmt: skip

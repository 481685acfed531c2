"""Hardware that a job may have instead: the rows "or else on ..." of the form, beside the hardware it asks for first.

One idea: a row without a coretype is not there. What is left empty in it is as above (nodes) or all there is (cores a node).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import QuerySet

from jobs import scheduling
from jobs.models import Coretype, Workload

from . import within

ROWS = 3
Shape = tuple[Coretype, int, int]
"""Coretype, nodes, cores a node."""


@dataclass(frozen=True)
class Row:
    """The three bound fields of one row."""

    number: int
    coretype: forms.BoundField
    nodes: forms.BoundField
    cores: forms.BoundField

    @property
    def filled(self) -> bool:
        return bool(self.coretype.value() or self.coretype.errors or self.nodes.errors or self.cores.errors)


def fields(kinds: QuerySet[Coretype]) -> dict[str, forms.Field]:
    """Three a row."""
    made: dict[str, forms.Field] = {}
    for number in range(1, ROWS + 1):
        made[f"or_coretype_{number}"] = forms.ModelChoiceField(kinds, required=False)
        made[f"or_nodes_{number}"] = _count("node")
        made[f"or_cores_{number}"] = _count("core")
    return made


def rows(form: forms.BaseForm) -> list[Row]:
    return [Row(at, form[f"or_coretype_{at}"], form[f"or_nodes_{at}"], form[f"or_cores_{at}"]) for at in range(1, ROWS + 1)]


def initial(work: Workload) -> dict[str, Any]:
    """A draft's other choices as first values."""
    found: dict[str, Any] = {}
    for number, one in enumerate(work.choices.all()[1 : ROWS + 1], 1):
        found |= {f"or_coretype_{number}": one.coretype_id, f"or_nodes_{number}": one.nodes, f"or_cores_{number}": one.cores}
    return found


def accepted(data: Mapping[str, Any]) -> list[Shape]:
    """The first choice and the others, in order, of a form that was checked; those that could not be read are left out."""
    found: list[Shape] = []
    if data.get("coretype") and data.get("nodes") and data.get("cores"):
        found.append((data["coretype"], data["nodes"], data["cores"]))
    return [*found, *(shape for _, shape in _others(data))] if found else []


def faults(user: Any, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Field and message of what can't be among the choices, the first one included."""
    version, economy, seen = data.get("software"), data.get("economy"), set()
    for number, shape in [(0, first) for first in accepted(data)[:1]] + list(_others(data)):
        kind, nodes, cores = shape
        field = {name: f"or_{name}_{number}" if number else name for name in ("coretype", "nodes", "cores")}
        if shape in seen:
            yield field["coretype"], "This is the same as one above."
        seen.add(shape)
        if too_many := too_many_at_once(user, data.get("project"), shape):
            yield field["cores"], too_many
        if not number:
            continue  # the form itself has looked at the rest of it
        for name, message in within.beyond(kind, nodes=nodes, cores=cores, walltime=data.get("walltime")):
            yield field.get(name, field["coretype"]), message
        if economy and kind.economy_price is None:
            yield field["coretype"], f"{kind} is not offered as economy."
        if version is not None and (why := kind.refuses(user, version.software)):
            yield field["coretype"], why


def too_many_at_once(user: Any, project: Any, shape: Shape) -> str:
    """Why a limit never lets it start, however long it waits; empty if one does."""
    kind, nodes, cores = shape
    return scheduling.limits_now().why_never(Workload(owner=user, project=project, coretype=kind, nodes=nodes, cores=cores))


# --- private ----------------------------------------------------------------------------------------------------------
def _count(noun: str) -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, required=False, error_messages={"min_value": f"At least 1 {noun}.", "invalid": f"A whole number of {noun}s."}
    )


def _others(data: Mapping[str, Any]) -> Iterator[tuple[int, Shape]]:
    for number in range(1, ROWS + 1):
        kind = data.get(f"or_coretype_{number}")
        if kind is not None:
            yield number, (kind, data.get(f"or_nodes_{number}") or data.get("nodes") or 1, data.get(f"or_cores_{number}") or kind.cores)

"""Long forms in groups: a title, and the fields that belong together, two in a row where there is room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from django.forms import BoundField


@dataclass(frozen=True)
class Group:
    """`when` is a class of the group: a style sheet hides what the choice above it makes meaningless."""

    title: str
    names: tuple[str, ...]
    when: str = ""


class Grouped:
    """A form with GROUPS; fields in none of them come last."""

    GROUPS: ClassVar[tuple[Group, ...]] = ()

    def in_groups(self: Any) -> Iterator[tuple[Group, list[BoundField]]]:
        rest = {field.name: field for field in self.visible_fields()}
        for group in self.GROUPS:
            if fields := [rest.pop(name) for name in group.names if name in rest]:
                yield group, fields
        if rest:
            yield Group("More", tuple(rest)), list(rest.values())

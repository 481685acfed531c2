"""Who waits in the queue: what a turn looks at of a workload, as plain values.

One idea: a turn goes through the whole queue and changes few of it. Models take longer to make and to read than all that is
decided about them; so a turn reads these, and the few that start or end are fetched as models then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from django.db.models import TextField
from django.db.models.functions import Cast, Coalesce

from .. import lifecycle
from .catalogue import Coretype
from .choice import Choice
from .project import Project
from .workload import Workload


@dataclass(slots=True, eq=False)
class Asker:
    """The fields without a default are read from the database, in this order: first what it is sorted by, which takes half as long then."""

    status: ClassVar[str] = lifecycle.QUEUED

    pk: int
    priority: int
    economy: bool
    asked: datetime
    """Its place in line counts from then."""
    public_id: str
    kind: str
    name: str
    owner_id: int
    project_id: int | None
    coretype_id: int
    nodes: int
    cores: int
    walltime: int
    attempt: int
    not_before: datetime | None
    detail: str
    gate: str
    gate_text: str
    gate_more: str
    gate_since: datetime | None
    others: str
    """What it was told of its other choices, as JSON."""
    version: int
    total_cores: int = 0
    coretype: Coretype = None  # type: ignore[assignment]
    project: Project | None = None
    choice: int = 0
    acceptable: Sequence[Choice] = ()
    tried: int | None = None
    """Coretype of its last attempt, if the backend had nothing for that."""

    @property
    def price(self) -> Decimal:
        """Per core and hour, as the coretype has it today."""
        return self.coretype.price_of(self.economy)

    @property
    def topic(self) -> str:
        return f"{self.kind}:{self.public_id}"

    @property
    def gate_else(self) -> list[dict[str, Any]]:
        return json.loads(self.others) if self.others != "[]" else []

    @gate_else.setter
    def gate_else(self, told: list[dict[str, Any]]) -> None:
        self.others = json.dumps(told)

    def take(self, choice: Choice) -> None:
        """Ask for this hardware; in memory only."""
        self.coretype_id, self.coretype = choice.coretype_id, choice.coretype
        self.nodes, self.cores, self.total_cores, self.choice = choice.nodes, choice.cores, choice.total_cores, choice.place


Asks = Workload | Asker
"""Whoever asks for hardware: a page looks at one model, a turn at the whole queue."""

READ = [one.name for one in fields(Asker) if one.default is MISSING]
MADE = {"asked": Coalesce("submitted", "made"), "others": Cast("gate_else", TextField())}
"""Those of them that are no columns."""


def in_line(limit: int) -> list[Asker]:
    """The first of the queue by priority and age, with nothing at hand yet."""
    queued = Workload.objects.filter(status=lifecycle.QUEUED).annotate(**MADE).order_by("-priority", "economy", "asked", "pk")
    return [Asker(*values) for values in queued.values_list(*READ)[:limit]]

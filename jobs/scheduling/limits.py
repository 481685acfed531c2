"""What may run at once: the limits that admins set, and how much of each is taken while starts are decided.

One idea: for each member, and for each project, the limit of the coretype and that of all hardware both count; a limit for
one member or project stands in for the one for each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Sum

from .. import lifecycle
from ..models import Asks, Limit, Workload
from .line import Waiting, cores_of

MEMBER, PROJECT = Limit.Per.MEMBER, Limit.Per.PROJECT
Taken = tuple[int, int | None, int, int, int]
"""Owner, project, coretype, jobs, cores of what has left the queue."""


@dataclass
class _Use:
    jobs: int = 0
    cores: int = 0


class Limits:
    """Pure: `short` says whether one more fits, `take` counts it."""

    def __init__(self, rows: Sequence[Limit] = (), taken: Iterable[Taken] = ()) -> None:
        self._rows = {(row.per, row.member_id or row.project_id, row.coretype_id): row for row in rows}
        self._used: dict[tuple[str, int, int | None], _Use] = defaultdict(_Use)
        self._known: dict[tuple[int, int | None, int], list[tuple[Limit, _Use]]] = {}
        for owner, project, kind, jobs, cores in taken if self._rows else ():
            self._count(owner, project, kind, jobs, cores)

    def short(self, work: Asks) -> Waiting | None:
        """The first limit that one more would exceed."""
        for row, use in self._of(work) if self._rows else ():
            if waiting := _over(row, use, work):
                return waiting
        return None

    def take(self, work: Asks) -> None:
        if self._rows:
            self._count(work.owner_id, work.project_id, work.coretype_id, 1, work.total_cores)

    def says(self, work: Asks) -> str:
        """What applies, with how much of it is taken, for a job that passes."""
        told = [_has(row, use, work) for row, use in self._of(work)]
        return "; ".join(told) or "No limit applies"

    def left(self, work: Asks) -> int | None:
        """Cores that it could still have by them; None: as many as there are."""
        rooms = [row.most_cores - use.cores for row, use in self._of(work) if row.most_cores is not None]
        return max(0, min(rooms)) if rooms else None

    def why_never(self, work: Asks) -> str:
        """Why it is larger than a limit allows even alone; empty if it is not."""
        for row, _ in self._of(work):
            if row.most_cores is not None and work.total_cores > row.most_cores:
                whose = "you" if row.per == MEMBER else "this project"
                return f"At most {cores_of(row.most_cores)} at once for {whose}{_where(row)}; {work.total_cores} are asked for."
        return ""

    def _of(self, work: Asks) -> list[tuple[Limit, _Use]]:
        key = work.owner_id, work.project_id, work.coretype_id
        if (found := self._known.get(key)) is None:
            found = self._known[key] = list(self._find(*key))
        return found

    def _find(self, owner: int, project: int | None, kind: int) -> Iterator[tuple[Limit, _Use]]:
        for per, who in ((MEMBER, owner), (PROJECT, project)):
            for place in (kind, None) if who else ():
                row = self._rows.get((per, who, place)) or self._rows.get((per, None, place))
                if row is not None:
                    yield row, self._used[per, who, place]

    def _count(self, owner: int, project: int | None, kind: int, jobs: int, cores: int) -> None:
        for per, who in ((MEMBER, owner), (PROJECT, project)):
            for place in (kind, None) if who else ():
                use = self._used[per, who, place]
                use.jobs, use.cores = use.jobs + jobs, use.cores + cores


def load() -> Limits:
    """As it stands. What has left the queue counts until its cluster is handed back."""
    rows = list(Limit.objects.select_related("coretype"))
    if not rows:
        return Limits()
    started = Workload.objects.filter(status__in=lifecycle.STARTED_CODES).order_by()
    sums = started.values_list("owner", "project", "coretype").annotate(jobs=Count("pk"), sum=Sum(F("nodes") * F("cores")))
    return Limits(rows, sums)


# --- private ----------------------------------------------------------------------------------------------------------
def _over(row: Limit, use: _Use, work: Asks) -> Waiting | None:
    if row.most_jobs is not None and use.jobs + 1 > row.most_jobs:
        return Waiting("limits", f"{_who(row, work)} runs {_jobs(row, use)} allowed at once{_where(row)}", _evidence(row))
    if row.most_cores is not None and use.cores + work.total_cores > row.most_cores:
        sentence = f"{_who(row, work)} runs {_cores(row, use)} allowed at once{_where(row)}; needs {work.total_cores} more"
        return Waiting("limits", sentence, _evidence(row))
    return None


def _has(row: Limit, use: _Use, work: Asks) -> str:
    parts = [_jobs(row, use) if row.most_jobs is not None else "", _cores(row, use) if row.most_cores is not None else ""]
    return f"{_who(row, work)} runs {' and '.join(filter(None, parts))} allowed at once{_where(row)}"


def _jobs(row: Limit, use: _Use) -> str:
    return f"{use.jobs} of the {_counted(row.most_jobs, 'job')}"


def _cores(row: Limit, use: _Use) -> str:
    return f"{use.cores} of the {_counted(row.most_cores, 'core')}"


def _who(row: Limit, work: Asks) -> str:
    return "Its owner" if row.per == MEMBER else f"Project {work.project}"


def _where(row: Limit) -> str:
    return f" on {row.coretype}" if row.coretype_id else ""


def _evidence(row: Limit) -> str:
    whom = f"this {row.per}" if row.member_id or row.project_id else f"each {row.per}"
    return f"The limit for {whom} is {row.words}{_where(row)}; an admin can change it"


def _counted(count: Any, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

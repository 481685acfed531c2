"""A workstation as JSON: short in a list, whole at its own address."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from jobs import idleness, ledger
from jobs.models import Coretype, HomeCopy, Workload, Workstation, WorkstationKind

from .moments import when
from .statuses import waits_for


def short(work: Workload) -> dict[str, Any]:
    """From rows that were fetched along: no query."""
    return {
        "id": work.public_id,
        "name": work.name,
        "owner": work.owner.email or work.owner.get_username(),
        "kind": work.workstation.kind.code,
        "status": work.row.label,
        "wish": work.wish,
        "outcome": work.outcome or None,
        "reason": work.reason or None,
        "detail": work.detail or None,
        "attempt": work.attempt,
        "waitsFor": waits_for(work),
        "dateInserted": when(work.made),
    }


def whole(work: Workload, request: HttpRequest) -> dict[str, Any]:
    station, now = work.workstation, timezone.now()
    station.workload = work
    cost, home = ledger.cost(work, now), station.home
    return {
        **short(work),
        "description": station.description,
        "projectId": work.project.code if work.project else None,
        "coreType": work.coretype.code,
        "cores": work.cores,
        "isReady": station.ready is not None,
        "unsaved": station.unsaved or None,
        "home": home_shown(home) if home else None,
        "idle": _idle(station, now),
        "keepUntil": when(station.keep_until),
        "cannotSuspend": station.can_suspend or None,
        "cannotResume": station.can_resume or None,
        "cost": f"{cost.spent:f}",
        "perHour": f"{cost.rate:f}",
        "diskPerHour": f"{ledger.disk_rate(work.coretype, home.size if home else 0):.6f}",
        "dateSubmitted": when(work.submitted),
        "dateEnded": when(work.ended),
        "url": request.build_absolute_uri(f"/workstations/{work.public_id}/"),
    }


def kind_shown(kind: WorkstationKind, offered: Sequence[Coretype]) -> dict[str, Any]:
    only = {one.pk for one in kind.coretypes.all()}
    return {
        "code": kind.code,
        "name": kind.name,
        "description": kind.description,
        "session": kind.session,
        "software": [line.strip() for line in kind.software.splitlines() if line.strip()],
        "homeLimit": kind.home_limit,
        "idleAfter": kind.idle_after,
        "keepLimit": kind.keep_limit,
        "maxLife": kind.max_life,
        "suspendedDays": kind.suspended_days,
        "coreTypes": [one.code for one in offered if not only or one.pk in only],
    }


def home_shown(copy: HomeCopy) -> dict[str, Any]:
    said = {"id": copy.pk, "why": copy.why, "size": copy.size, "files": copy.files, "sha256": copy.sha256}
    return {**said, "dateMade": when(copy.made), "skipped": copy.skipped, "unread": copy.unread}


def _idle(station: Workstation, now: datetime) -> dict[str, Any] | None:
    found = idleness.verdict(station, now)
    if found is None:
        return None
    quiet = {one.code: one.quiet for one in idleness.evidence(station, now)}
    return {"idleSince": when(found.idle_since), "suspendsAt": when(found.suspends_at), "quiet": quiet}

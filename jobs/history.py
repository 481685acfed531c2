"""What events tell: how long stages took, and what is usual on a coretype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from . import lifecycle
from .models import Event, Workload

ENOUGH = 3
"""Fewer past times than this are no usual time."""
RECENT = 200


@dataclass(frozen=True)
class StageTime:
    """One stay in a status; `ended` None: it is there now."""

    code: str
    begun: datetime
    ended: datetime | None
    attempt: int

    def seconds(self, now: datetime) -> float:
        return ((self.ended or now) - self.begun).total_seconds()


def stage_times(workload: Workload) -> list[StageTime]:
    """The stays of the current attempt, in order, from the events."""
    return _stays([event for event in workload.events.all() if event.attempt == workload.attempt and event.after])


def _stays(events: Sequence[Event]) -> list[StageTime]:
    moves = [event for event in events if event.before != event.after]
    stays = []
    for event, following in zip(moves, [*moves[1:], None], strict=False):
        if event.after not in lifecycle.REST_CODES:
            stays.append(StageTime(event.after, event.at, following.at if following else None, event.attempt))
    return stays


def usual(coretype_id: int, code: str) -> tuple[float, float] | None:
    """Seconds that this stage took here: the 10th and the 90th percentile of the recent past, or None if too few are known."""
    since = timezone.now() - timedelta(days=60)
    left = (
        Event.objects.filter(workload__coretype=coretype_id, before=code, at__gte=since)
        .exclude(after=code)
        .exclude(after__in=[lifecycle.FAILED, lifecycle.STOPPED] if code != lifecycle.STOPPING else [])
        .order_by("-pk")[:RECENT]
    )
    ended = {(event.workload_id, event.attempt if event.after != lifecycle.QUEUED else event.attempt - 1): event.at for event in left}
    entered = Event.objects.filter(workload__in={key[0] for key in ended}, after=code).exclude(before=code)
    times = sorted((ended[key] - event.at).total_seconds() for event in entered if (key := (event.workload_id, event.attempt)) in ended)
    if len(times) < ENOUGH:
        return None
    return _percentile(times, 0.1), _percentile(times, 0.9)


def _percentile(times: Sequence[float], share: float) -> float:
    return max(0.0, times[min(len(times) - 1, round(share * (len(times) - 1)))])

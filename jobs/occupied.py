"""How many cores were in use over the last day: what clusters held from their first node up to their confirmed release.

One idea: the clusters' own times are the record. Nothing was sampled, so nothing is missing from a time in which nobody looked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q

from .models import Cluster

SPAN, STEP = timedelta(hours=24), timedelta(minutes=15)

Stay = tuple[datetime, datetime | None, int]
"""From, to (None: still), cores."""


@dataclass(frozen=True)
class Step:
    """The mean of the cores in use over STEP from `at`, or over as much of it as has passed."""

    at: datetime
    cores: float


def last_day(now: datetime) -> list[Step]:
    """Quarters of an hour over SPAN, the running one last."""
    still = Q(released__isnull=True) | Q(released__gt=now - SPAN)
    return steps(Cluster.objects.filter(still, up__lt=now).values_list("up", "released", F("nodes_wanted") * F("cores")), now)


def steps(stays: Iterable[Stay], now: datetime) -> list[Step]:
    """Pure: the steps of the day before `now`. On whole quarters, so that a step does not change once it is over."""
    first = _quarter(now - SPAN) + STEP
    count = -(-(now - first) // STEP)
    sums = [0.0] * count
    for up, released, cores in stays:
        begun, ended = max(up, first), min(released or now, now)
        for at in range(max(0, (begun - first) // STEP), min(count, -(-(ended - first) // STEP))):
            sums[at] += cores * _shared(begun, ended, first + at * STEP)
    return [Step(at := first + place * STEP, total / (min(at + STEP, now) - at).total_seconds()) for place, total in enumerate(sums)]


# --- private ----------------------------------------------------------------------------------------------------------
def _shared(begun: datetime, ended: datetime, at: datetime) -> float:
    """Seconds of the step that begins at `at` in which it stayed."""
    return max(0.0, (min(ended, at + STEP) - max(begun, at)).total_seconds())


def _quarter(moment: datetime) -> datetime:
    return moment - timedelta(seconds=moment.timestamp() % STEP.total_seconds())

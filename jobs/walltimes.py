"""Warns before a walltime is over: 30 and 5 minutes ahead, once each, in the history of the job and on its page.

In its second half only: that a walltime of ten minutes is over soon is no news while it begins.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from . import lifecycle
from .models import Cluster, Event, touch

MINUTES = (30, 5)
AT_ONCE = 500


def warn(now: datetime) -> int:
    """How many were warned. By compare-and-set, so that two beats warn once; a longer walltime begins anew."""
    return sum(_warn(minutes, now) for minutes in sorted(MINUTES))


def _warn(minutes: int, now: datetime) -> int:
    near = Q(walltime_until__gt=now, walltime_until__lte=now + timedelta(minutes=minutes))
    new = Q(warned=0) | Q(warned__gt=minutes)
    running = Cluster.objects.filter(workload__status__in=(lifecycle.RUNNING, lifecycle.ACTIVE), released__isnull=True, exited__isnull=True)
    rows = running.filter(near, new, went__isnull=False).values_list("pk", "went", "walltime_until")
    due = [pk for pk, went, until in rows.iterator() if until - now <= now - went]
    told = []
    for cluster in Cluster.objects.filter(pk__in=due[:AT_ONCE]).select_related("workload"):
        if Cluster.objects.filter(pk=cluster.pk, warned=cluster.warned).update(warned=minutes):
            told.append(cluster)
    Event.objects.bulk_create([_event(cluster, now) for cluster in told])
    if told:
        touch([cluster.workload_id for cluster in told], now, due=False)
    return len(told)


def _event(cluster: Cluster, now: datetime) -> Event:
    work, left = cluster.workload, max(1, round((cluster.walltime_until - now).total_seconds() / 60))
    what = "stopped, its outputs are saved" if work.kind == "job" else "suspended, its home is saved"
    text = f"{left} min left: at {cluster.walltime_until:%H:%M} UTC it is {what}."
    return Event.beside(work, now, "engine", "walltime-soon", text)

"""Carries out what people asked of clusters and backends: release, a longer walltime, a look, a trial. A turn of its own lease.

One idea: a release goes the way that every ending goes. A workload that still runs is force stopped, and Stopping Cluster
takes its cluster down; only what has no workload left to end is destroyed here.
"""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from . import backends, lifecycle, surveying
from .models import Cluster, Event, Request, Turn, touch
from .signals import announce

log = logging.getLogger(__name__)

EVERY = 2.0
AT_ONCE = 50
RUNS = (lifecycle.STARTING, lifecycle.RUNNING, lifecycle.ACTIVE)


def carry_out(now: datetime | None = None) -> int:
    """One turn over the open requests; how many are done."""
    moment = now or timezone.now()
    if not Request.objects.filter(done__isnull=True).exists() or not Turn.take("requests", moment, EVERY):
        return 0
    waiting = Request.objects.filter(done__isnull=True).select_related("cluster__workload", "by").order_by("pk")
    return sum(_one(request, moment) for request in waiting[:AT_ONCE])


def _one(request: Request, now: datetime) -> bool:
    act = ACTS[Request.Kind(request.kind)]
    alone = request.cluster_id is None
    if alone and not request.claim(now, surveying.HOLD):
        return False
    try:
        done, answer = act(request, now)
    except backends.TryAgain as error:
        done, answer = False, f"The backend asks to try again: {error}"
    except backends.Refused as error:
        done, answer = True, f"The backend refused: {error}"
        surveying.refused(request, str(error), now)
    values = {"answer": answer[:300], "claimed": None, **({"details": request.details} if alone else {}), **({"done": now} if done else {})}
    Request.objects.filter(pk=request.pk, done__isnull=True).update(**values)
    if done or alone or answer != request.answer:
        announce("hardware")
    return done


def _release(request: Request, now: datetime) -> tuple[bool, str]:
    cluster = Cluster.objects.get(pk=request.cluster_id)
    if cluster.released is not None:
        return True, "Nothing of it is left."
    work = request.cluster.workload
    if work.is_active and work.attempt == cluster.attempt:
        work.stop(request.by, force=True, now=now)
        return False, "Its job is force stopped; the cluster goes with it."
    if backends.get(cluster.backend).destroy(cluster.token):
        Cluster.objects.filter(pk=cluster.pk, released__isnull=True).update(released=now)
        touch([work.pk], now)
        return True, "Destroyed."
    return False, "The backend is taking it down."


def _extend(request: Request, now: datetime) -> tuple[bool, str]:
    """The backend first, then our own row: what was promised to the agent is always there."""
    cluster, work, until = request.cluster, request.cluster.workload, request.until
    if until is None or work.status not in RUNS or work.attempt != cluster.attempt or work.wish != lifecycle.Wish.RUN or cluster.exited:
        return True, "It is over or stopping; nothing was changed."
    backend = backends.get(cluster.backend)
    if not backend.can_extend:
        return True, "This hardware can't give a running job more time."
    backend.extend(cluster.token, until)
    with transaction.atomic():
        locked = Cluster.objects.select_for_update().get(pk=cluster.pk)
        if locked.walltime_until is None or until <= locked.walltime_until:
            return True, "It has that much time already."
        more = round((until - locked.walltime_until).total_seconds())
        Cluster.objects.filter(pk=cluster.pk).update(walltime_until=until, orders=F("orders") + 1, warned=0)
        type(work).objects.filter(pk=work.pk).update(walltime=F("walltime") + more)
        Event.beside(work, now, "user", "longer-walltime", f"until {until:%Y-%m-%d %H:%M} UTC", request.by).save()
        touch([work.pk], now)
        announce(f"orders:{work.public_id}")
    return True, f"It may run until {until:%Y-%m-%d %H:%M} UTC."


ACTS = {
    Request.Kind.RELEASE: _release,
    Request.Kind.EXTEND: _extend,
    Request.Kind.LOOK: surveying.look,
    Request.Kind.TRIAL: surveying.trial,
}

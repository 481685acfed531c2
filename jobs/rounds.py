"""The periodic turns: sweep, poll, meter, reconcile. Each takes a lease in the database, so two beats harm nothing."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from . import backends, engine, gauging, ledger, lifecycle, mailing, requests, surveying, walltimes
from .models import Cluster, Installation, Outage, Stray, Turn, Workload, touch
from .money import notices
from .signals import announce

log = logging.getLogger(__name__)

POLLED = ("pk", "workload_id", "backend", "token", "asked", "seen", "absent", "trouble", "eta", "unknown_since")
AWAY = 30.0
"""A sweep that comes later than this after the one before means that the portal was away."""
QUEUE_EVERY = 5.0
CAPACITY_EVERY = 5.0


def sweep(now: datetime | None = None) -> int:
    """The safety net: whatever is due and was not woken by a hint. Also notes when the portal was away."""
    moment = now or timezone.now()
    before = Turn.objects.filter(name="sweep").values_list("last", flat=True).first()
    if not Turn.take("sweep", moment, 1.0):
        return 0
    if before is not None and (moment - before).total_seconds() > AWAY:
        Outage.objects.create(start=before, end=moment)
    handled = requests.carry_out(now)
    for code in due_queues(moment):
        handled += engine.turn(code, now)
    if Turn.take("queue-sweep", moment, QUEUE_EVERY):
        handled += engine.turn(lifecycle.QUEUED, now)
    return handled


def due_queues(now: datetime) -> list[str]:
    """Stages with due rows, in the order in which they free capacity for one another."""
    active = [code for code in engine.STAGES if code in lifecycle.ACTIVE_CODES]  # for these alone there is an index by `due`
    due = set(Workload.objects.filter(status__in=active, due__lte=now).values_list("status", flat=True).distinct())
    due |= set(Workload.objects.filter(status=lifecycle.SUSPENDED, due__lte=now).values_list("status", flat=True)[:1])
    return [code for code in reversed(engine.STAGES) if code in due]


# --- poll -------------------------------------------------------------------------------------------------------------
def poll(now: datetime | None = None) -> int:
    """Ask every backend how its living clusters stand: one call for all of them. How many facts changed.

    Less often also what it has, for the pages.
    """
    moment = now or timezone.now()
    if not Turn.take("poll", moment, 2.0):
        return 0
    if Turn.take("capacity", moment, CAPACITY_EVERY):
        gauging.write(moment)
    living: dict[str, list[Any]] = defaultdict(list)
    rows = Cluster.objects.filter(released__isnull=True, releasing__isnull=True, saved__isnull=True)
    for cluster in rows.values_list(*POLLED, named=True):  # plain values: thousands are looked at and few change
        living[cluster.backend].append(cluster)
    changed = [pk for name, clusters in living.items() for pk in _poll_one(name, clusters, moment)]
    touch(changed, moment) if changed else None
    return len(changed)


def _poll_one(name: str, clusters: Sequence[Any], now: datetime) -> list[int]:
    backend = backends.get(name)
    try:
        answer = backend.describe([cluster.token for cluster in clusters])
    except Exception:
        log.exception("backend %s could not describe its clusters", name)
        answer = {}
    alike: dict[tuple[tuple[str, Any], ...], list[Any]] = defaultdict(list)
    for cluster in clusters:
        if values := _seen(cluster, answer.get(cluster.token), backend, now):
            alike[tuple(values.items())].append(cluster)
    for columns, group in alike.items():
        Cluster.objects.filter(pk__in=[cluster.pk for cluster in group]).update(**dict(columns))
    return [cluster.workload_id for group in alike.values() for cluster in group]


def _seen(cluster: Any, told: backends.Described | None, backend: backends.Backend, now: datetime) -> Mapping[str, object]:
    """The columns that change by what the backend tells. Unknown is never read as over."""
    if told is None or told.state is backends.State.UNKNOWN:
        return {} if cluster.unknown_since else {"unknown_since": now, "trouble": told.why if told else "the backend does not answer"}
    values: dict[str, object] = {"unknown_since": None} if cluster.unknown_since else {}
    if told.state is backends.State.ABSENT:
        late = now > cluster.asked + timedelta(seconds=backend.create_timeout)
        return {**values, "absent": cluster.absent + 1, "trouble": told.why} if cluster.seen or late else values
    if told.state is backends.State.FAILED:
        return {**values, "absent": cluster.absent + 2, "trouble": told.why or "The cluster failed."} if cluster.absent < 2 else values
    if cluster.absent:
        values["absent"] = 0
    if cluster.seen is None:
        values["seen"] = now
    if cluster.eta != told.eta:
        values["eta"] = told.eta
    if cluster.trouble != told.why:
        values["trouble"] = told.why
    return values


# --- meter ------------------------------------------------------------------------------------------------------------
def meter(now: datetime | None = None) -> int:
    """Charge what runs, keep its money reaching ahead, and tell agents whose `paid_until` moved."""
    moment = now or timezone.now()
    if not Turn.take("meter", moment, 5.0):
        return 0
    rows = ledger.to_be_metered(moment).values_list("pk", "workload_id", "workload__public_id")
    workloads = {pk: (workload, public) for pk, workload, public in rows}
    moved = ledger.meter(workloads, moment)
    for pk in moved:
        announce(f"orders:{workloads[pk][1]}")
    if moved:
        touch([workloads[pk][0] for pk in moved], moment)
    ledger.meter_disks(moment)
    _turn_budgets(moment)
    return len(workloads)


def _turn_budgets(now: datetime) -> None:
    """Periods that begin free money for the queue; thresholds that were passed are told."""
    if ledger.begin_periods(now):
        touch(list(Workload.objects.filter(status=lifecycle.QUEUED, gate="budget").values_list("pk", flat=True)[:1000]), now)
    ledger.notice(now)
    notices.send(now)
    mailing.send(now)
    walltimes.warn(now)


# --- reconcile --------------------------------------------------------------------------------------------------------
def reconcile(now: datetime | None = None) -> int:
    """Compare what exists over there with what we know. Returns how many strays wait for an admin."""
    moment = now or timezone.now()
    if not Turn.take("reconcile", moment, 20.0):
        return Stray.waiting()
    for name in backends.names():
        try:
            tokens = set(backends.get(name).tokens())
        except (backends.TryAgain, backends.Refused) as error:
            log.warning("backend %s could not list its clusters: %s", name, error)
            continue
        _compare(name, tokens, moment)
    return Stray.waiting()


def _compare(name: str, tokens: Iterable[str], now: datetime) -> None:
    ours = {token for token in tokens if token.startswith(Installation.code_of_this() + "-")}
    known = dict(Cluster.objects.filter(token__in=ours).values_list("token", "released")) | surveying.trials_of(ours)
    for token in sorted(ours):
        if token not in known:
            _stray(name, token, now)  # newer than this database knows: an admin decides
        elif known[token] is not None:
            _destroy(name, token)
    for stray in Stray.objects.filter(backend=name, gone__isnull=True):
        if stray.token not in ours or stray.decision == "destroy" and _destroy(name, stray.token):
            Stray.objects.filter(pk=stray.pk).update(gone=now)


def _stray(name: str, token: str, now: datetime) -> None:
    stray, new = Stray.objects.get_or_create(backend=name, token=token, defaults={"first_seen": now, "last_seen": now})
    if new:
        log.warning("%s has %s, which nobody here asked for; an admin decides", name, token)
        announce("hardware")
    else:
        Stray.objects.filter(pk=stray.pk).update(last_seen=now, gone=None)


def _destroy(name: str, token: str) -> bool:
    try:
        return backends.get(name).destroy(token)
    except (backends.TryAgain, backends.Refused) as error:
        log.warning("%s could not destroy %s: %s", name, token, error)
        return False

"""Queued: waits for capacity of its coretype and for a budget that can pay the first hour.

Unlike the other stages this one looks at the whole queue at once. Holding the money and leaving Queued are one
transaction, under a lock that only one turn has: two workers can never hand out the same core or the same cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import F

from .. import backends, capacity, gauging, ledger, lifecycle, scheduling
from ..models import Change, Cluster, Coretype, Turn, Workload, advance
from ..signals import announce
from .base import Facts, Step, end, stopped_reason

RESTARTS = 5
"""Times that economy work is interrupted; after the last of them it starts on demand."""


def turn(now: datetime) -> int:
    """One pass over the queue; how many left it. Repeat while it returns something."""
    coretypes = list(Coretype.objects.filter(workloads__status=lifecycle.QUEUED).distinct())
    if not coretypes:
        return 0
    capacities = gauging.snapshot(kind.backend for kind in coretypes)  # asks the backends, so before the transaction
    Turn.objects.get_or_create(name="queue")
    with transaction.atomic():
        Turn.objects.select_for_update().get(name="queue")
        queue = scheduling.waiting_line()
        return _pass(queue, capacities, now)


def _pass(queue: Sequence[Workload], capacities: capacity.Capacities, now: datetime) -> int:
    over = [step for step in map(_over, _with_checks(queue)) if step]
    gone = {step.work.pk for step in over}
    rest = [work for work in queue if work.pk not in gone]
    lines = scheduling.lines_of([work.coretype for work in queue], capacities)
    purse = ledger.Purse(rest, now)
    decision = scheduling.decide(rest, lambda kind: capacity.pool_of(kind, capacities), lines, purse, now)
    for work in rest:
        why = decision.waits.get(work.pk)
        if why and why.never:
            over.append(end(Facts(work, None), "never-starts", why.sentence))
    purse.write()
    started = {"gate": "", "gate_text": "", "gate_more": "", "gate_since": None, "detail": "", "again": "", "not_before": None}
    _interrupt(decision.interrupt, now)
    changes = [Change(work, lifecycle.VALIDATING, detail=_waited(work), fields=started) for work in decision.start]
    changes += [Change(s.work, s.to, reason=s.reason, detail=s.detail, fields=s.fields) for s in over]
    moved = advance(changes, now)
    _write_gates(rest, decision, moved, now)
    return len(moved)


def _interrupt(ids: Sequence[int], now: datetime) -> None:
    """Economy work gives way: saved, released, and back in the line; the last time on demand. A row at work is left alone."""
    changes = []
    for work in Workload.objects.filter(pk__in=ids, economy=True, lease="") if ids else []:
        times = work.restarts + 1
        last = times >= RESTARTS
        detail = f"Interrupted for work on demand, time {times} of {RESTARTS}" + ("; it starts again on demand" if last else "")
        fields = {"again": "uncounted", "not_before": None, "detail": detail, "restarts": times, "economy": not last}
        changes.append(Change(work, lifecycle.STOPPING, reason="interrupted", detail=detail, fields=fields))
    moved = advance(changes, now)
    Cluster.objects.filter(workload__in=moved, released__isnull=True).update(orders=F("orders") + 1)
    for change in changes:
        if change.workload.pk in moved:
            announce(f"orders:{change.workload.public_id}")


def _with_checks(queue: Sequence[Workload]) -> list[Workload]:
    """Load the checks that are done with errors, in one query, for `_over`."""
    from ..models import Job

    failed = Job.objects.filter(workload__in=[w.pk for w in queue], checked__done__isnull=False).exclude(checked__findings=[])
    found = {job.workload_id: job.checked for job in failed.select_related("checked")}
    for work in queue:
        work.findings = found.get(work.pk)  # type: ignore[attr-defined]
    return list(queue)


def _over(work: Workload) -> Step | None:
    """What ends without ever leaving the queue: a stop, or errors that the check has found meanwhile."""
    facts = Facts(work, None)
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if _not_fenced(work):
        return end(facts, "never-starts", f"{work.coretype.name} cannot keep users apart (no sandbox works there); only admins may use it")
    check = work.findings  # type: ignore[attr-defined]
    if check is not None and check.errors:
        return end(facts, "findings", f"{check.errors} error{'s' if check.errors > 1 else ''} in the input")
    return None


def _not_fenced(work: Workload) -> bool:
    """Whether the command would run with the portal's own rights; nobody but admins may do that unless a setting says so."""
    if settings.ALLOW_NO_SANDBOX or backends.get(work.coretype.backend).sandbox != "none":
        return False
    return not work.owner.is_staff


def _waited(work: Workload) -> str:
    return work.gate_text


def _write_gates(queue: Sequence[Workload], decision: scheduling.Decision, moved: set[int], now: datetime) -> None:
    """Keep what each one waits for; told to the pages only where it has changed."""
    changed = []
    for work in queue:
        why = decision.waits.get(work.pk)
        if work.pk in moved or why is None or (work.gate, work.gate_text, work.gate_more) == (why.code, why.sentence[:300], why.more[:300]):
            continue
        work.gate_since = work.gate_since if work.gate == why.code else now
        work.gate, work.gate_text, work.gate_more = why.code, why.sentence[:300], why.more[:300]
        work.version += 1
        changed.append(work)
    Workload.objects.bulk_update(changed, ["gate", "gate_text", "gate_more", "gate_since"], batch_size=200)
    Workload.objects.filter(pk__in=[work.pk for work in changed]).update(version=F("version") + 1)
    for work in changed:
        announce(work.topic, version=work.version, status=work.status)

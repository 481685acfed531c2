"""Queued: waits for capacity of its coretype and for a budget that can pay the first hour.

Unlike the other stages this one looks at the whole queue at once. Holding the money and leaving Queued are one
transaction, under a lock that only one turn has: two workers can never hand out the same core or the same cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from .. import capacity, fences, gauging, homes, ledger, lifecycle, scheduling
from ..models import Change, Choice, Cluster, Coretype, Turn, Workload, advance, update_alike
from ..signals import announce
from .base import Facts, Step, end, give_up, stopped_reason, suspend

RESTARTS = 5
"""Times that economy work is interrupted; after the last of them it starts on demand."""
STARTS = {"postgresql": 500}
"""Starts of one pass, by database; on SQLite, which has one writer, a tenth of a second of them."""


def turn(now: datetime) -> int:
    """One pass over the queue; how many left it. Repeat while it returns something."""
    backends_asked = _backends()
    if not backends_asked:
        return 0
    capacities = gauging.snapshot(backends_asked)  # asks the backends, so before the transaction
    Turn.objects.get_or_create(name="queue")
    with transaction.atomic():
        Turn.objects.select_for_update().get(name="queue")
        _back_to_first()
        queue = scheduling.waiting_line()
        return _pass(queue, capacities, now)


def _pass(queue: Sequence[Workload], capacities: capacity.Capacities, now: datetime) -> int:
    over = [step for step in map(_over, _with_checks(queue)) if step]
    gone = {step.work.pk for step in over}
    rest = [work for work in queue if work.pk not in gone]
    lines = scheduling.lines_of(scheduling.kinds_of(queue), capacities)
    purse = ledger.Purse(rest, now)
    scheduling.note_tried(rest, now)
    pool_of = cache(lambda kind: capacity.pool_of(kind, capacities))
    most = STARTS.get(connection.vendor, 100)
    decision = scheduling.decide(rest, pool_of, lines, purse, now, most=most, limits=scheduling.limits_now(), barred=fences.barred())
    kept = homes.latest([work.pk for work in rest if work.kind == "workstation"])
    for work in rest:
        why = decision.waits.get(work.pk)
        if why and why.never:
            over.append(give_up(Facts(work, None, home=kept.get(work.pk)), "never-starts", why.sentence))
    purse.write()
    _interrupt(decision.interrupt, now)
    changes = [_started(work, decision) for work in decision.start]
    changes += [Change(s.work, s.to, reason=s.reason, detail=s.detail, fields=s.fields) for s in over]
    moved = advance(changes, now)
    ledger.begin_disk([step.work for step in over if step.work.pk in moved and step.to == lifecycle.SUSPENDED], now)
    _write_gates(rest, decision, moved, now)
    return len(moved)


def _back_to_first() -> None:
    """A new attempt of what took a later choice asks for the first one again."""
    for work in Workload.objects.filter(status=lifecycle.QUEUED, choice__gt=0):
        first = work.choices.first()
        if first is not None:
            Workload.objects.filter(pk=work.pk).update(**first.fields)


def _backends() -> set[str]:
    """Backends of what the queue, or a choice in it, asks for."""
    waiting = Workload.objects.filter(status=lifecycle.QUEUED)
    ids = {*waiting.order_by().values_list("coretype_id", flat=True).distinct()}
    ids |= {*Choice.objects.filter(workload__status=lifecycle.QUEUED).order_by().values_list("coretype_id", flat=True).distinct()}
    return set(Coretype.objects.filter(pk__in=ids).values_list("backend", flat=True))


def _started(work: Workload, decision: scheduling.Decision) -> Change:
    """Into Validating Input, with the hardware that it takes."""
    fields: dict[str, Any] = {
        "gate": "",
        "gate_text": "",
        "gate_more": "",
        "gate_since": None,
        "detail": "",
        "again": "",
        "not_before": None,
    }
    if not work.acceptable:
        return Change(work, lifecycle.VALIDATING, detail=work.gate_text, fields=fields)
    fields |= {"coretype": work.coretype, "nodes": work.nodes, "cores": work.cores, "choice": work.choice}
    return Change(work, lifecycle.VALIDATING, detail=_taken(work, decision.refused[work.pk]), fields=fields)


def _taken(work: Workload, refused: Sequence[scheduling.Refusal]) -> str:
    """Which choice it was, and why not one before it."""
    taken = f"{work.acceptable[len(refused)]}, choice {len(refused) + 1} of {len(work.acceptable)}"
    return ". ".join([taken, *(f"{one.choice.coretype}: {one.why.sentence}" for one in refused)])


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
    if facts.suspends:
        return suspend(facts, "wish")
    check = work.findings  # type: ignore[attr-defined]
    if check is not None and check.errors:
        return end(facts, "findings", f"{check.errors} error{'s' if check.errors > 1 else ''} in the input")
    return None


def _write_gates(queue: Sequence[Workload], decision: scheduling.Decision, moved: set[int], now: datetime) -> None:
    """Keep what each one waits for; told to the pages only where it has changed."""
    changed = []
    for work in queue:
        why = decision.waits.get(work.pk)
        others = [_other(one) for one in decision.refused.get(work.pk, ())]
        after = why and (why.code, why.sentence[:300], why.more[:300], others)
        if work.pk in moved or why is None or (work.gate, work.gate_text, work.gate_more, work.gate_else) == after:
            continue
        work.gate_else = others
        work.gate_since = work.gate_since if work.gate == why.code else now
        work.gate, work.gate_text, work.gate_more = why.code, why.sentence[:300], why.more[:300]
        work.version += 1
        changed.append(work)
    told = ["gate", "gate_text", "gate_more", "gate_since", "gate_else"]
    update_alike(changed, told, version=F("version") + 1)  # most of a long line wait for the same
    for work in changed:
        announce(work.topic, version=work.version, status=work.status)


def _other(one: scheduling.Refusal) -> dict[str, Any]:
    return {"name": str(one.choice), "code": one.why.code, "sentence": one.why.sentence[:300], "never": one.why.never}

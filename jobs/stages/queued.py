"""Queued: waits for capacity of its coretype and for a budget that can pay the first hour.

Unlike the other stages this one looks at the whole queue at once. Holding the money and leaving Queued are one
transaction, under a lock that only one turn has: two workers can never hand out the same core or the same cent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.db.models import F, TextField
from django.db.models.functions import Cast

from .. import capacity, fences, gauging, homes, ledger, lifecycle, scheduling
from ..lifecycle import Wish
from ..models import Asker, Asks, Change, Choice, Cluster, Coretype, Turn, Workload, advance, update_alike
from ..models.rows import columns, made
from ..models.workload import WorkloadQuerySet
from ..signals import announce, announce_all
from .base import Facts, Step, end, end_of_findings, give_up, stopped_reason, suspend

ALL = columns(Workload)
RESTARTS = 5
"""Times that economy work is interrupted; after the last of them it starts on demand."""
STARTS = {"postgresql": 500}
"""Starts of one pass, by database; on SQLite, which has one writer, a tenth of a second of them."""


class AsksForOther(Exception):
    """Something changed while it was decided about: nothing of this pass counts, and the news of the change brings the next one."""


def turn(now: datetime) -> int:
    """One pass over the queue; how many left it. Repeat while it returns something."""
    backends_asked = _backends()
    if not backends_asked:
        return 0
    capacities = gauging.snapshot(backends_asked)  # asks the backends, so before the transaction
    Turn.objects.get_or_create(name="queue")
    with suppress(AsksForOther), transaction.atomic():
        Turn.objects.select_for_update().get(name="queue")
        _back_to_first()
        return _pass(scheduling.waiting_line(), capacities, now)
    return 0


def _pass(queue: Sequence[Asker], capacities: capacity.Capacities, now: datetime) -> int:
    over = [*_unwished(), *_with_errors()]
    gone = {step.work.pk for step in over}
    rest = [work for work in queue if work.pk not in gone]
    lines = scheduling.lines_of(scheduling.kinds_of(queue), capacities)
    purse = ledger.Purse(rest, now)
    scheduling.note_tried(rest, now)
    pool_of = cache(lambda kind: capacity.pool_of(kind, capacities))
    most = STARTS.get(connection.vendor, 100)
    decision = scheduling.decide(rest, pool_of, lines, purse, now, most=most, limits=scheduling.limits_now(), barred=fences.barred())
    starting = _locked(decision.start)
    purse.write()
    _interrupt(decision.interrupt, now)
    over += _hopeless({pk: why.sentence for pk, why in decision.waits.items() if why.never})
    changes = [_into_validating(starting[work.pk], work, decision) for work in decision.start]
    changes += [Change(s.work, s.to, reason=s.reason, detail=s.detail, fields=s.fields) for s in over]
    moved = advance(changes, now)
    ledger.begin_disk([step.work for step in over if step.work.pk in moved and step.to == lifecycle.SUSPENDED], now)
    _write_gates(rest, decision, moved, now)
    return len(moved)


def _locked(starts: Sequence[Asker]) -> dict[int, Workload]:
    """What starts, by id, still as it was read: the money held for it is that of the hardware which it gets. Raises AsksForOther."""
    works = _models(_queued().select_for_update().order_by("pk"), [work.pk for work in starts])
    as_read = {_paid_by(work, work.acceptable[0] if work.acceptable else work) for work in starts}  # a row has the first of its choices
    if {_paid_by(work, work) for work in works.values()} != as_read:
        raise AsksForOther
    return works


def _paid_by(work: Asks, hardware: Asks | Choice) -> tuple[object, ...]:
    """What decides who pays how much."""
    return work.pk, work.project_id, work.economy, work.walltime, hardware.coretype_id, hardware.nodes, hardware.cores


def _back_to_first() -> None:
    """A new attempt of what took a later choice asks for the first one again."""
    for work in _queued().filter(choice__gt=0):
        first = work.choices.first()
        if first is not None:
            Workload.objects.filter(pk=work.pk).update(**first.fields)


def _backends() -> set[str]:
    """Backends of what the queue, or a choice in it, asks for."""
    ids = {*_queued().order_by().values_list("coretype_id", flat=True).distinct()}
    ids |= {*Choice.objects.filter(workload__status=lifecycle.QUEUED).order_by().values_list("coretype_id", flat=True).distinct()}
    return set(Coretype.objects.filter(pk__in=ids).values_list("backend", flat=True))


def _into_validating(work: Workload, asker: Asker, decision: scheduling.Decision) -> Change:
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
    if not asker.acceptable:
        return Change(work, lifecycle.VALIDATING, detail=work.gate_text, fields=fields)
    fields |= {"coretype": asker.coretype, "nodes": asker.nodes, "cores": asker.cores, "choice": asker.choice}
    return Change(work, lifecycle.VALIDATING, detail=_taken(asker, decision.refused[work.pk]), fields=fields)


def _taken(work: Asker, refused: Sequence[scheduling.Refusal]) -> str:
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


def _unwished() -> list[Step]:
    """What people stop, or suspend, before it ever leaves the queue."""
    found = [Facts(work, None) for work in _queued().exclude(wish=Wish.RUN)]
    return [end(facts, stopped_reason(facts)) if facts.stops else suspend(facts, "wish") for facts in found]


def _with_errors() -> list[Step]:
    """What the check has found errors in meanwhile; who wishes it to stop as well is heard first."""
    told = _queued().filter(wish=Wish.RUN, job__checked__done__isnull=False).alias(findings=Cast("job__checked__findings", TextField()))
    checked = told.filter(findings__contains='"error"')  # thousands may wait with warnings
    found = [(work, work.job.checked) for work in checked.select_related("job__checked")]
    return [end_of_findings(Facts(work, None), check) for work, check in found if check.errors]


def _hopeless(why: Mapping[int, str]) -> list[Step]:
    """For whom waiting would not help, by id, with the sentence that says so."""
    works = _models(_queued(), why)
    kept = homes.latest([work.pk for work in works.values() if work.kind == Workload.Kind.WORKSTATION])
    return [give_up(Facts(work, None, home=kept.get(pk)), "never-starts", why[pk]) for pk, work in works.items()]


def _queued() -> WorkloadQuerySet:
    return Workload.objects.filter(status=lifecycle.QUEUED)


def _models(rows: WorkloadQuerySet, ids: Collection[int]) -> dict[int, Workload]:
    return {work.pk: work for work in made(rows.filter(pk__any_of=ids), ALL)}


def _write_gates(queue: Sequence[Asker], decision: scheduling.Decision, moved: set[int], now: datetime) -> None:
    """Keep what each one waits for; told to the pages only where it has changed."""
    changed = [work for work in queue if work.pk not in moved and _waits_for_else(work, decision, now)]
    told = ["gate", "gate_text", "gate_more", "gate_since", "gate_else"]
    update_alike(changed, told, Workload, counted="version")  # most of a long line wait for the same
    announce_all((work.topic, {"version": work.version, "status": work.status}) for work in changed)


def _waits_for_else(work: Asker, decision: scheduling.Decision, now: datetime) -> bool:
    """Whether it waits for something else than before; then it says so itself, in memory."""
    why = decision.waits.get(work.pk)
    if why is None:
        return False
    code, sentence, more = why.code, why.sentence[:300], why.more[:300]
    refused = decision.refused.get(work.pk)
    others = [_other(one) for one in refused] if refused else []
    if (work.gate, work.gate_text, work.gate_more, work.gate_else) == (code, sentence, more, others):
        return False
    work.gate_since = work.gate_since if work.gate == code else now
    work.gate, work.gate_text, work.gate_more, work.gate_else = code, sentence, more, others
    work.version += 1
    return True


def _other(one: scheduling.Refusal) -> dict[str, Any]:
    return {"name": str(one.choice), "code": one.why.code, "sentence": one.why.sentence[:300], "never": one.why.never}

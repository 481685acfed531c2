"""One turn of the crank: claim a batch of due rows, decide, act, apply, announce.

The database is the queue and the look-again time on the row is the retry; messages are only hints. A claimed row is due
again when its lease ends, so what a dead worker left is taken up by the next turn. Facts that arrive while a turn works
set the row due at once, which the turn sees when it puts its result down.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from . import backends, checking, homes, idleness, ledger, lifecycle, logs
from .acting import LEASE, perform
from .models import Change, Cluster, HomeCopy, Node, Outage, Workload, advance, touch
from .models.rows import columns, made, no_garbage
from .related import attach
from .signals import announce
from .stages import active, queued, running, starting, stopping, suspended, suspending, validating
from .stages.base import Facts, Step, flag

log = logging.getLogger(__name__)

GOING_ON = (lifecycle.STARTING, lifecycle.RUNNING, lifecycle.STOPPING)
"""Stages that a row may enter while its turn goes on; what the others look at is loaded when they claim it."""
LEAVING = (*lifecycle.REST_CODES, lifecycle.QUEUED, lifecycle.SUSPENDED)
BATCH = 50 if settings.SQLITE else 500
"""Rows a turn; on SQLite every writer waits while a batch is written down."""
SELDOM = (
    *("gate", "gate_text", "gate_more", "gate_since", "gate_else", "made", "submitted", "submit_key", "archived", "flagged"),
    *("latest_start", "lease", "leased_until", "due"),
)
"""Columns that no stage looks at, or one in an hour, which fetches it then; those of the lease are known."""
OFTEN, OF_A_CLUSTER = columns(Workload, *SELDOM), columns(Cluster, "secret_hash", "seen", "staged", "asker", "warned")
ROUNDS = 50

Decide = Callable[[Facts, datetime], Step]

STAGES: dict[str, Decide] = {
    lifecycle.VALIDATING: validating.decide,
    lifecycle.STARTING: starting.decide,
    lifecycle.RUNNING: running.decide,
    lifecycle.ACTIVE: active.decide,
    lifecycle.SUSPENDING: suspending.decide,
    lifecycle.SUSPENDED: suspended.decide,
    lifecycle.STOPPING: stopping.decide,
}


def turn(queue: str, now: datetime | None = None) -> int:
    """Take turns of one stage until nothing of it is due; how many rows were handled."""
    handled = 0
    for _ in range(ROUNDS):
        with no_garbage():
            count = queued.turn(now or timezone.now()) if queue == lifecycle.QUEUED else _turn(queue, now)
        handled += count
        if not count:
            break
    if queue == lifecycle.QUEUED and checking.ahead(now or timezone.now()):
        handled += queued.turn(now or timezone.now())
    return handled


def _turn(code: str, given: datetime | None) -> int:
    now, lease = given or timezone.now(), secrets.token_hex(16)
    rows = claim(code, now, lease)
    if not rows:
        return 0
    facts = load(rows, now)
    while facts:  # what has moved on is still ours, and what the next stage needs to know is here
        facts = _stage(facts, given, lease)
    return len(rows)


def _stage(batch: Sequence[Facts], given: datetime | None, lease: str) -> list[Facts]:
    """One decision for each; those that go on into another stage by it."""
    now = given or timezone.now()
    steps = perform([_guarded(STAGES[facts.work.status], facts, now) for facts in batch], now, lease)
    now = given or timezone.now()  # acts take their time
    try:
        moved = apply(steps, now, lease)
    except Exception:
        log.exception("a batch could not be written; each row alone now")
        moved = {pk for step in steps for pk in _alone(step, now, lease)}
    return [step.facts for step in steps if step.work.pk in moved and step.work.status in GOING_ON]


# --- claim ------------------------------------------------------------------------------------------------------------
def claim(code: str, now: datetime, lease: str, limit: int = BATCH) -> list[Workload]:
    """Rows that are due and free, now ours until the lease ends. Two turns never get the same row."""
    free = Workload.objects.filter(status=code, due__lte=now).filter(Q(lease="") | Q(leased_until__lte=now))
    until = now + timedelta(seconds=LEASE)
    with transaction.atomic():
        due = free.order_by("pk")
        if connection.features.has_select_for_update_skip_locked:
            due = due.select_for_update(skip_locked=True)
        rows = made(due[:limit], OFTEN)
        if rows:
            Workload.objects.filter(pk__any_of=[work.pk for work in rows]).update(lease=lease, leased_until=until, due=until)
    for work in rows:
        work.lease, work.leased_until, work.due = lease, until, until
    return rows


# --- load -------------------------------------------------------------------------------------------------------------
def load(rows: Sequence[Workload], now: datetime) -> list[Facts]:
    """The facts of a batch, in a few queries whatever its size."""
    attach(rows)
    attempts = {work.pk: work.attempt for work in rows}
    clusters = {
        cluster.workload_id: cluster
        for cluster in made(Cluster.objects.filter(workload__any_of=attempts), OF_A_CLUSTER)
        if cluster.attempt == attempts[cluster.workload_id]
    }
    nodes = Counter(Node.objects.filter(cluster__any_of=[one.pk for one in clusters.values()]).order_by().values_list("cluster", flat=True))
    since = Outage.last_end()
    kept = homes.latest([work.pk for work in rows if work.kind == "workstation"])
    return [_facts(work, clusters.get(work.pk), nodes, since, kept.get(work.pk)) for work in rows]


def _facts(work: Workload, cluster: Cluster | None, nodes: Mapping[int, int], since: datetime | None, home: HomeCopy | None) -> Facts:
    if cluster is None:
        return Facts(work, None, watched_since=since, home=home)
    backend, heard = backends.get(cluster.backend), _heard(work, cluster)
    seen = idleness.seen_of(work.workstation, cluster, heard, since) if work.status == lifecycle.ACTIVE else None
    return Facts(work, cluster, nodes[cluster.pk], heard, since, backend.silent_limit, backend.create_timeout, home, seen)


def _heard(work: Workload, cluster: Cluster) -> datetime | None:
    """Last sign of life of the node heard least recently (those that were heard at all)."""
    if cluster.up is None or cluster.released:
        return None
    times = logs.last_heard(logs.attempt_dir(work.public_id, cluster.attempt))
    return datetime.fromtimestamp(min(times.values()), UTC) if times else cluster.up


# --- decide and apply -------------------------------------------------------------------------------------------------
def _guarded(decide: Decide, facts: Facts, now: datetime) -> Step:
    """A bug met by one row must not stop the others: it is pushed ahead and flagged."""
    try:
        return decide(facts, now)
    except Exception as error:
        log.exception("deciding on %s failed", facts.work.public_id)
        return flag(facts, error)


def apply(steps: Sequence[Step], now: datetime, lease: str) -> set[int]:
    """Write the batch down in one transaction: transitions with their events, then the later looks. The ids that moved.

    What goes on stays leased, and its look-again time stays as it is: new facts may have set it meanwhile.
    """
    free, kept = {"lease": "", "leased_until": None}, {"due": F("due")}
    changes = [
        Change(s.work, s.to, reason=s.reason, detail=s.detail, fields={**s.fields, **(kept if s.to in GOING_ON else free)})
        for s in steps
        if s.to
    ]
    with transaction.atomic():
        if len(changes) < len(steps):  # else advance() does
            _lock(steps)
        moved = advance(changes, now, lease=lease) if changes else set()
        _look_at_once([change.workload.pk for change in changes if change.workload.pk not in moved], now, lease)
        ledger.release_holds(_never_held_a_cluster(steps, moved), now)
        ledger.begin_disk([step.work for step in steps if step.work.pk in moved and step.to == lifecycle.SUSPENDED], now)
        _look_later([step for step in steps if not step.to], now, lease)
    _tell_agents([step for step in steps if step.work.pk in moved])
    return moved


def _lock(steps: Sequence[Step]) -> None:
    """All rows of the batch in the order of their ids, as whoever touches many does: two sides can't wait for each other."""
    if len(steps) > 1:
        ids = [step.work.pk for step in steps]
        list(Workload.objects.filter(pk__any_of=ids).order_by("pk").select_for_update().values_list("pk", flat=True))


def _tell_agents(moved: Sequence[Step]) -> None:
    """A stop that nobody wished for (a rule, the money) is new to the agents, and so is that it is over. Not in the transaction:
    agents lock in another order."""
    told = [step for step in moved if _is_new(step) and _runs(step.facts.cluster)]
    if told:
        Cluster.objects.filter(pk__any_of=[step.facts.cluster.pk for step in told if step.facts.cluster]).update(orders=F("orders") + 1)
    for step in told:
        announce(f"orders:{step.work.public_id}")


def _is_new(step: Step) -> bool:
    facts = step.facts
    unwished = {lifecycle.STOPPING: not facts.stops, lifecycle.SUSPENDING: not facts.suspends, lifecycle.ACTIVE: step.reason == "unsaved"}
    return unwished.get(step.to, False)


def _runs(cluster: Cluster | None) -> bool:
    return cluster is not None and cluster.went is not None and cluster.exited is None


def _never_held_a_cluster(steps: Sequence[Step], moved: set[int]) -> list[tuple[int, int]]:
    """Attempts that end, or begin anew, without a cluster whose release would have settled their holds."""
    left = [step for step in steps if step.work.pk in moved and step.facts.cluster is None and not step.work.row.holds]
    return [(step.work.pk, step.work.attempt - (step.to == lifecycle.QUEUED)) for step in left if step.to in LEAVING]


def _look_at_once(ids: list[int], now: datetime, lease: str) -> None:
    """Rows that are ours and did not move: somebody wished for something else in that moment."""
    mine = Workload.objects.filter(pk__any_of=ids, lease=lease)
    if ids and mine.update(lease="", leased_until=None):
        touch(ids, now)


def _look_later(steps: Sequence[Step], now: datetime, lease: str) -> None:
    """Rows that stay: due again later, unless new facts made them due meanwhile (then `due` is left as it is)."""
    later: dict[float, list[int]] = defaultdict(list)
    for step in steps:
        later[step.again if step.again is not None else 5.0].append(step.work.pk)
        if step.fields:
            Workload.objects.filter(pk=step.work.pk, lease=lease).update(**step.fields)
    for seconds, ids in later.items():
        untouched = When(due__gte=now + timedelta(seconds=LEASE / 2), then=Value(now + timedelta(seconds=seconds)))
        mine = Workload.objects.filter(pk__any_of=ids, lease=lease)
        mine.update(due=Case(untouched, default=F("due")), lease="", leased_until=None)


def _alone(step: Step, now: datetime, lease: str) -> set[int]:
    try:
        return apply([step], now, lease)
    except Exception as error:
        log.exception("%s could not be written", step.work.public_id)
        return apply([flag(step.facts, error)], now, lease)

"""Starting Cluster: hardware is asked for, its agents report in, the inputs are staged. Ends when the command starts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from .. import agent_file, backends, ledger, lifecycle, tokens
from ..acting import side_by_side
from ..models import Account, Cluster, Workload, insert
from ..signals import announce_all
from .base import Facts, Step, end, flag, give_up, retry, stopped_reason, suspend, wait

PAUSE_NO_CAPACITY = 30.0
"""Seconds until a cluster is asked for again after the backend had no capacity."""
PAUSE_BROKEN = 5.0


def decide(facts: Facts, now: datetime) -> Step:
    """Asks for the cluster once and waits until its command runs; what went wrong is tried again or given up."""
    cluster = facts.cluster
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if facts.suspends:
        return suspend(facts, "wish")
    if cluster is not None and cluster.up and cluster.charged_until is None:
        return Step(facts, act=begin_billing)
    if cluster is not None and (cluster.started or cluster.exited):
        to = lifecycle.RUNNING if facts.work.kind == "job" else lifecycle.ACTIVE
        return Step(facts, to, detail=_what_is_there(facts))
    trouble = _trouble(facts)
    if trouble and trouble[0] == "cancelled-outside":
        return give_up(facts, *trouble)
    if trouble:
        return _again(facts, *trouble, now=now)
    if _too_late(facts, now):
        return give_up(facts, "not-up", _so_far(facts))
    if cluster is None or cluster.created is None:
        return Step(facts, act=ask)
    return wait(facts)


def _trouble(facts: Facts) -> tuple[str, str] | None:
    """Reason and words of what is broken, or None."""
    cluster = facts.cluster
    if cluster is None:
        return None
    if cluster.staging_error:
        return "staging-failed", cluster.staging_error
    if cluster.broken:
        return "node-broken", cluster.broken
    if cluster.absent >= 2:
        cancelled = cluster.trouble.startswith(backends.CANCELLED)  # preempted, it may be tried again: nothing ran yet
        return "cancelled-outside" if cancelled else "node-broken", cluster.trouble or "The cluster disappeared while it was starting."
    return None


def _again(facts: Facts, reason: str, detail: str, now: datetime) -> Step:
    """A new attempt, as long as there are any left."""
    if facts.work.tries + 1 >= lifecycle.ATTEMPT_LIMIT:
        return give_up(facts, reason, f"{detail} (attempt {facts.work.tries + 1} of {lifecycle.ATTEMPT_LIMIT})")
    return retry(facts, True, detail, PAUSE_BROKEN, now)


def _too_late(facts: Facts, now: datetime) -> bool:
    """Nobody waits for ever; while the backend itself queues the cluster the limit does not count, it begins afterwards."""
    cluster = facts.cluster
    begun = facts.work.since
    if cluster is not None and cluster.up is None:
        if cluster.created and (cluster.trouble.startswith(backends.WAITS) or cluster.unknown_since):
            return False
        begun = max(begun, cluster.eta or begun)
    return now - begun > timedelta(seconds=facts.work.row.limit or 1800)


def _so_far(facts: Facts) -> str:
    cluster = facts.cluster
    if cluster is None or cluster.created is None:
        return (cluster.trouble if cluster else "") or "The backend did not answer."
    return f"{facts.nodes_up} of {cluster.nodes_wanted} nodes up. {cluster.trouble}".strip()


def _what_is_there(facts: Facts) -> str:
    cluster = facts.cluster
    wanted = cluster.nodes_wanted if cluster else 0
    nodes = f"{facts.nodes_up} of {wanted} {'node' if wanted == 1 else 'nodes'} up"
    if facts.work.kind == "workstation":
        return f"{nodes}, its home with {_files(facts.home.files)} is back" if facts.home else f"{nodes}, an empty home"
    return f"{nodes}, {_files(cluster.staging.get('files', 0) if cluster else 0)} staged"


def _files(count: int) -> str:
    return f"{count} {'file' if count == 1 else 'files'}"


# --- acts -------------------------------------------------------------------------------------------------------------
def ask(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """Save the tokens, then ask the backends. Both may be repeated after a crash."""
    clusters = note_clusters(batch, now)
    pairs = [(facts, clusters[facts.work.pk]) for facts in batch]
    wanted = [(backends.get(cluster.backend), cluster.token, spec_of(facts.work, cluster.token)) for facts, cluster in pairs]
    answers = side_by_side(lambda want: want[0].create(want[1], want[2]), wanted)
    steps = [_answered(facts, cluster, answer, now) for (facts, cluster), answer in zip(pairs, answers, strict=True)]
    returned = [cluster.pk for (_, cluster), answer in zip(pairs, answers, strict=True) if _is_over(answer)]
    Cluster.objects.filter(pk__any_of=returned, created__isnull=True).update(created=timezone.now(), trouble="")
    return steps


def _is_over(answer: object) -> bool:
    """Whether the create call has surely returned, so that a destroy counts from now on."""
    return answer is None or isinstance(answer, backends.NoCapacity | backends.Refused)


def _answered(facts: Facts, cluster: Cluster, answer: object, now: datetime) -> Step:
    if answer is None:
        return wait(facts)
    if isinstance(answer, backends.NoCapacity):
        return _no_capacity(facts, str(answer), now)
    if isinstance(answer, backends.Refused):
        return give_up(facts, "node-broken", str(answer))
    if isinstance(answer, backends.TryAgain):
        Cluster.objects.filter(pk=cluster.pk).update(trouble=str(answer)[:2000])
        return wait(facts)
    return flag(facts, answer)  # type: ignore[arg-type]


def _no_capacity(facts: Facts, detail: str, now: datetime) -> Step:
    latest = facts.work.latest_start
    if latest is not None and now >= latest:
        return give_up(facts, "no-capacity", detail)
    return retry(facts, False, detail, PAUSE_NO_CAPACITY, now)


def begin_billing(batch: Sequence[Facts], now: datetime) -> list[Step]:
    """The first node is up: from now on money flows, and the agents must know until when."""
    ledger.meter([facts.cluster.pk for facts in batch if facts.cluster], now)
    for facts in batch:
        facts.cluster.charged_until = now
    announce_all((f"orders:{facts.work.public_id}", {}) for facts in batch)
    return [decide(facts, now) for facts in batch]


def note_clusters(batch: Sequence[Facts], now: datetime) -> dict[int, Cluster]:
    """The rows with the tokens, by workload id, written before a backend hears of them; the price is noted here."""
    known = {facts.work.pk: facts.cluster for facts in batch if facts.cluster is not None}
    new = [_new_cluster(facts.work, now) for facts in batch if facts.cluster is None]
    try:
        with transaction.atomic():
            insert(new)
    except IntegrityError:  # a worker whose lease has run out meanwhile wrote some of them
        Cluster.objects.bulk_create(new, ignore_conflicts=True)
        new = [Cluster.objects.get(workload=mine.workload_id, attempt=mine.attempt) for mine in new]
    return {**known, **{cluster.workload_id: cluster for cluster in new}}


def _new_cluster(work: Workload, now: datetime) -> Cluster:
    token = tokens.token_of(work)
    return Cluster(
        workload=work,
        attempt=work.attempt,
        token=token,
        secret_hash=tokens.hash_of(tokens.secret_of(token)),
        backend=work.coretype.backend,
        coretype=work.coretype,
        nodes_wanted=work.nodes,
        cores=work.cores,
        price=work.price,
        asked=now,
    )


def spec_of(work: Workload, token: str) -> backends.Spec:
    """What the backend is asked for: cores and bytes of memory a node (its share of the node's), walltime in seconds."""
    kind = work.coretype
    options = settings.BACKENDS[kind.backend]
    return backends.Spec(
        coretype=kind.code,
        nodes=work.nodes,
        cores=work.cores,
        memory=kind.memory * work.cores // kind.cores,
        walltime=work.walltime,
        portal=options.get("PORTAL") or settings.AGENT_URL,
        secret=tokens.secret_of(token),
        agent=agent_file.path(),
        ca=options.get("CA"),
        account=Account.of(work.owner_id) if options.get("OPTIONS", {}).get("accounts") else "",
        options=kind.options,
    )

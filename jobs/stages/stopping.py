"""Stopping Cluster: the one teardown that every ending goes through.

In order: the command has ended, outputs are saved, the cluster is released, the money is settled, the result is judged,
and only then is the end written. Stopped is never shown while anything still runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.utils import timezone

from .. import backends, gauging, homes, judging, ledger, lifecycle, logs
from ..acting import side_by_side
from ..lifecycle import ENDINGS, Outcome
from ..models import Cluster, Outage
from ..signals import announce_all
from .base import Act, Facts, Step, end, flag, stopped_reason, wait
from .running import silence, why_it_ended
from .saving import back_to_active, could_not_save, home_in_words, sentences

SAVE_LIMIT = 6 * 3600
"""Seconds that saving may take while the agent is heard."""
RELEASE_PAUSE = 1.0
OWN_ENDS = {"exit-0", "exit-code", "signal", "out-of-memory", "cancelled-outside"}
"""Reasons that the backend may know better: who ended the nodes ended the command, whatever it exited with."""
MEANWHILE = timedelta(seconds=2)
"""How much sooner than its nodes a command may have ended and still of the same cause; backends tell whole seconds."""


def decide(facts: Facts, now: datetime) -> Step:
    """Down to nothing first; then again from the queue, or judged, or the end."""
    if going_down := on_the_way_down(facts, now, release, settle):
        return going_down
    if facts.work.again and not facts.stops:
        return _requeue(facts, now)
    if _to_be_judged(facts):
        return Step(facts, act=judge)
    return _final(facts, now)


def on_the_way_down(facts: Facts, now: datetime, release: Act, settle: Act) -> Step | None:
    """The next step until its cluster is gone and the money settled; None from then on, as without a cluster."""
    cluster = facts.cluster
    if cluster is None:
        return None
    if cluster.released is not None:
        return Step(facts, act=settle) if cluster.settled is None else None
    if cluster.releasing is None and facts.work.kind == "workstation" and could_not_save(facts, now):
        return back_to_active(facts)
    if cluster.releasing is None and waits_for_saving(facts, now):
        return wait(facts)
    return Step(facts, act=release) if may_destroy(facts, now) else wait(facts)


def waits_for_saving(facts: Facts, now: datetime) -> bool:
    """Whether the command may still run or its outputs still come."""
    cluster = facts.cluster
    assert cluster is not None
    if facts.forced or cluster.saved or cluster.went is None or cluster.absent >= 2 or cluster.broken:
        return False
    silent = silence(facts, now)
    if silent is not None and silent > facts.silent_limit:
        return False
    return now - facts.work.since < timedelta(seconds=SAVE_LIMIT)


def may_destroy(facts: Facts, now: datetime) -> bool:
    """A destroy counts only after the create call returned, or after the longest time it can take."""
    cluster = facts.cluster
    assert cluster is not None
    return cluster.created is not None or now > cluster.asked + timedelta(seconds=facts.create_timeout)


# --- acts -------------------------------------------------------------------------------------------------------------
def release(batch: Sequence[Facts], now: datetime) -> list[Step]:
    return take_down(batch, now, settle)


def take_down(batch: Sequence[Facts], now: datetime, then: Act) -> list[Step]:
    """No more reports are taken, then the backends destroy; repeated until nothing is left. `then` is the next act."""
    ids = [facts.cluster.pk for facts in batch if facts.cluster]
    if Cluster.objects.filter(pk__any_of=ids, releasing__isnull=True).update(releasing=now):
        announce_all((f"orders:{facts.work.public_id}", {}) for facts in batch)
    answers = side_by_side(lambda facts: backends.get(facts.cluster.backend).destroy(facts.cluster.token), batch)
    gone = [facts for facts, answer in zip(batch, answers, strict=True) if answer is True]
    _close_logs(gone)
    _ask_why([facts for facts in gone if _may_be_outside(facts)], now)
    moment = max(now, timezone.now())
    Cluster.objects.filter(pk__any_of=[facts.cluster.pk for facts in gone], released__isnull=True).update(released=moment)
    gauging.forget()
    homes.forget_unfinished([facts.work for facts in gone])
    return [_released(facts, answer, moment, then) for facts, answer in zip(batch, answers, strict=True)]


def _close_logs(batch: Sequence[Facts]) -> None:
    """Where nobody was there to say that all of it had come."""
    for facts in batch:
        cluster = facts.cluster
        if cluster is not None and cluster.went and not cluster.saved:
            with suppress(OSError):
                logs.close(logs.attempt_dir(facts.work.public_id, cluster.attempt))


def _released(facts: Facts, answer: object, moment: datetime, then: Act) -> Step:
    cluster = facts.cluster
    if answer is True:
        cluster.released = moment
        return Step(facts, act=then)
    if isinstance(answer, backends.TryAgain | backends.Refused):
        Cluster.objects.filter(pk=cluster.pk).update(trouble=str(answer)[:2000])
        return wait(facts, 5)
    return flag(facts, answer) if isinstance(answer, Exception) else wait(facts, RELEASE_PAUSE)


def _may_be_outside(facts: Facts) -> bool:
    """Whether it ended by itself as far as its agents know."""
    cluster = facts.cluster
    if cluster is None or cluster.exited is None or facts.stops or facts.work.reason not in OWN_ENDS:
        return False
    return cluster.exit.get("why") in (None, "outside")


def _ask_why(batch: Sequence[Facts], now: datetime) -> None:
    """A command may exit as it likes when its nodes are told to end, before its agent has heard of it: the backend knows."""
    answers = side_by_side(lambda facts: backends.get(facts.cluster.backend).why_over(facts.cluster.token), batch)
    for facts, told in zip(batch, answers, strict=True):
        cluster = facts.cluster
        if not isinstance(told, backends.Described) or not backends.reason_of(told.why):
            continue
        if not _of_that_cause(cluster, told.eta, now):
            continue
        cluster.exit, cluster.trouble = {**cluster.exit, "why": "outside"}, told.why
        Cluster.objects.filter(pk=cluster.pk).update(exit=cluster.exit, trouble=cluster.trouble)


def _of_that_cause(cluster: Cluster, at: datetime | None, now: datetime) -> bool:
    """Not if the command had ended well before its nodes were, nor if we had let the nodes go by then."""
    return at is None or (at <= (cluster.releasing or now) and cluster.exited >= at - MEANWHILE)


def settle(batch: Sequence[Facts], now: datetime) -> list[Step]:
    pay(batch, now)
    return [decide(facts, now) for facts in batch]


def pay(batch: Sequence[Facts], now: datetime) -> None:
    """Until the confirmed release; the rest of what was held is free."""
    first = min((facts.cluster.exited for facts in batch if facts.cluster.exited), default=now)
    outages = list(Outage.objects.filter(end__gt=first))
    ends = {facts.cluster.pk: _paid_end(facts, outages) for facts in batch}
    ledger.settle(ends, now)
    for facts in batch:
        facts.cluster.settled = now


def _paid_end(facts: Facts, outages: Sequence[Outage]) -> datetime:
    """The confirmed release; for a lost cluster its last sign of life."""
    cluster = facts.cluster
    lost = facts.work.reason == "node-lost" and cluster.exited is None
    if lost and facts.heard is not None:
        return min(facts.heard, cluster.released)
    return ledger.end_of_billing(cluster.exited, cluster.released, outages)


def _to_be_judged(facts: Facts) -> bool:
    return facts.work.kind == "job" and not facts.work.job.verdict and facts.cluster is not None and facts.cluster.exited is not None


def judge(batch: Sequence[Facts], now: datetime) -> list[Step]:
    judging.judge([(facts.work.job, facts.cluster, facts.stops) for facts in batch])
    return [decide(facts, now) for facts in batch]


# --- the end ----------------------------------------------------------------------------------------------------------
def _requeue(facts: Facts, now: datetime) -> Step:
    """Back to Queued, as a new attempt."""
    work = facts.work
    fields = {
        "attempt": work.attempt + 1,
        "tries": work.tries + (work.again == "counted"),
        "again": "",
        "gate": "",
        "gate_text": "",
        "reason": "",
        "outcome": "",
        "failed_stage": "",
    }
    return Step(facts, lifecycle.QUEUED, "again", work.detail, fields)


def _final(facts: Facts, now: datetime) -> Step:
    """The row of the end. A stop accepted before it is written wins; exit code and verdict stay."""
    work, cluster = facts.work, facts.cluster
    reason, detail = work.reason, work.detail
    if facts.stops and (not reason or ENDINGS[reason].outcome != Outcome.STOPPED or facts.forced):
        reason, detail = stopped_reason(facts), ""
    elif reason in OWN_ENDS and cluster is not None and cluster.exited and (reason == "exit-0" or cluster.exit.get("why") == "outside"):
        reason, detail = why_it_ended(facts)
    elif reason == "stopped-by-rule" and work.kind == "job":
        detail = f"{detail} {_kept(facts)}"
    if work.kind == "workstation":
        detail = sentences(detail, home_in_words(facts))
    lost = _unsaved(facts) if reason in {"exit-0"} else ""
    if lost:
        reason, detail = "not-saved", f"{lost} The command itself had exited with 0."
    step = end(facts, reason or "node-broken", detail, _failed_stage(facts, reason))
    ended = cluster.exited if cluster is not None and cluster.exited and work.kind == "job" else now
    fields = {**step.fields, "ended": ended}
    return Step(facts, lifecycle.STATUS_OF[ENDINGS[step.reason].outcome], step.reason, detail, fields)


def _failed_stage(facts: Facts, reason: str) -> str:
    """The stage with the X, where the reason alone does not say it."""
    if reason == facts.work.reason:
        return facts.work.failed_stage
    outside = facts.cluster is not None and facts.cluster.exit.get("why") == "outside"
    return lifecycle.RUNNING if outside and reason in ENDINGS and ENDINGS[reason].stage is None else ""


def _kept(facts: Facts) -> str:
    """What of the outputs is safe after a stop that nobody was there to see."""
    if facts.cluster is None or facts.cluster.saved is None:
        return "Its outputs were not saved."
    files = facts.cluster.saving.get("files", 0)
    return f"{files} file{'' if files == 1 else 's'} saved."


def _unsaved(facts: Facts) -> str:
    """What of the outputs is not safe, in words; empty if all is."""
    cluster = facts.cluster
    if cluster is None or cluster.went is None:
        return ""
    if cluster.saved is None:
        return "The cluster was lost before its outputs were saved."
    failed = cluster.saving.get("failed", 0)
    return f"{failed} of {cluster.saving.get('files', 0) + failed} files could not be saved." if failed else ""

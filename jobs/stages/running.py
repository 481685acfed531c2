"""Running Job: the command runs. Ends with its exit, a stop, the walltime, the money, or a lost node."""

from __future__ import annotations

from datetime import datetime, timedelta

from ..backends import reason_of
from ..endings import ending_of, in_words
from ..following import is_diverging
from ..models import Cluster
from .base import Facts, Step, end, stopped_reason, wait

OVERDUE = 120
"""Seconds past walltime or paid time after which an agent that should have stopped by itself is no longer waited for."""
EARLY = 90
"""Seconds before the paid time is over at which the engine itself orders the stop, so that saving is paid too."""


def decide(facts: Facts, now: datetime) -> Step:
    """What people want comes first, then what the agent reported, then what the backend says, then rules and limits."""
    cluster = facts.cluster
    if cluster is None:
        return end(facts, "node-lost", "The cluster's record is gone.")
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if cluster.exited is not None:
        return end(facts, *why_it_ended(facts))
    if cluster.absent >= 2:
        return end(facts, *why_it_vanished(cluster))
    if cluster.broken:
        return end(facts, "node-lost", cluster.broken)
    return _rule(facts) or _limits(facts, now) or wait(facts)


def why_it_vanished(cluster: Cluster) -> tuple[str, str]:
    """Reason and words for a cluster that its backend took away or lost."""
    return reason_of(cluster.trouble) or "node-lost", cluster.trouble or "The backend says that the cluster does not exist any more."


def why_it_ended(facts: Facts) -> tuple[str, str]:
    """Reason and words for an exit that was reported."""
    report = facts.cluster.exit if facts.cluster else {}
    words = in_words(report)
    why = report.get("why")
    if why == "lost":
        return "node-lost", str(report.get("note") or "The agent lost the command; it was not started again.")
    if why == "walltime":
        return "walltime", f"Stopped at its walltime. {words}"
    if why == "unpaid":
        return "budget-used-up", f"Stopped while saving could still be paid. {words}"
    if why == "outside":
        trouble = facts.cluster.trouble if facts.cluster else ""
        reason = reason_of(trouble)
        told = f"{trouble}." if reason else "The node was told to end, not by this portal: cancelled, preempted or shut down."
        return reason or "cancelled-outside", f"{told} {words}"
    if report.get("memory_killed"):
        return "out-of-memory", words
    if ending_of(report).ended_by:
        return "signal", words
    return ("exit-0", words) if report.get("code") == 0 else ("exit-code", words)


def _rule(facts: Facts) -> Step | None:
    """The end that its owner wished for, should the result diverge."""
    work = facts.work
    if work.kind != "job" or not work.job.stop_when_diverging:
        return None
    alarm = is_diverging(work.job, work.attempt)
    if alarm is None:
        return None
    where = f" at {alarm['where']}" if alarm["where"] else ""
    return end(facts, "stopped-by-rule", f"It diverged{where}: {alarm['message']}.")


def _limits(facts: Facts, now: datetime) -> Step | None:
    cluster = facts.cluster
    assert cluster is not None
    if cluster.paid_until and now > cluster.paid_until - timedelta(seconds=EARLY):
        return end(facts, "budget-used-up", "A strict budget could not pay for more time.")
    if cluster.walltime_until and now > cluster.walltime_until + timedelta(seconds=OVERDUE):
        return end(facts, "walltime", "The walltime is over and the cluster has not said that it stopped.")
    silent = silence(facts, now)
    if silent is not None and silent > facts.silent_limit:
        return end(facts, "node-lost", f"A node has not been heard for {silent / 60:.0f} minutes.")
    return None


def silence(facts: Facts, now: datetime) -> float | None:
    """Seconds since the node heard least recently, counted only while this portal was up to hear it."""
    heard = facts.heard or (facts.cluster.up if facts.cluster else None)
    if heard is None:
        return None
    return (now - max(heard, facts.watched_since or heard)).total_seconds()

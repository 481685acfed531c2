"""The statuses that existing clients wait for, derived from our events; the truth stands beside them.

Oldest to newest: Pending, Queued, Started, Validated, Executing, Completed. Stopping is never shown on a success and always
on a stop or a failure (but one: no capacity, which clients know by its reason); the last entry of whatever has ended is
Completed, written after the outputs are listed; there is always at least one entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from jobs import lifecycle
from jobs.lifecycle import ENDINGS, Outcome, Wish
from jobs.models import Cluster, Event, Workload

from .found import clusters_of
from .moments import when

WORDS = {
    lifecycle.QUEUED: "Queued",
    lifecycle.VALIDATING: "Started",
    lifecycle.STARTING: "Validated",
    lifecycle.RUNNING: "Executing",
}
PENDING, STOPPING, FORCE_STOP, COMPLETED = "Pending", "Stopping", "Force Stop", "Completed"
SUCCESS = "Completed successfully"
FAILED = "A run failed"
USER_STOP = "User Terminated"
NO_CAPACITY = "Could not allocate compute resources from the compute provider"
NAMES = [PENDING, *WORDS.values(), STOPPING, FORCE_STOP, COMPLETED]
Entry = tuple[str, datetime, str | None]


def of(work: Workload) -> list[dict[str, Any]]:
    """Newest first; each {status, statusDate, statusReason}, the newest with what really happened."""
    found = [{"status": status, "statusDate": when(at), "statusReason": reason} for status, at, reason in _entries(work)]
    found.reverse()
    found[0] |= truth(work)
    return found


def newest(work: Workload) -> str:
    """The newest status by the row alone: what a list of many jobs shows."""
    if work.status in lifecycle.REST_CODES:
        return COMPLETED
    if work.is_active and work.wish in (Wish.STOP, Wish.FORCE_STOP):
        return FORCE_STOP if work.wish == Wish.FORCE_STOP else STOPPING
    if work.status == lifecycle.STOPPING:
        return STOPPING if fails(work.reason) else WORDS[lifecycle.RUNNING]
    return WORDS.get(work.status, PENDING)


def _entries(work: Workload) -> Iterator[Entry]:
    """In the order of the events. `shown` is what was said last about an end that is coming."""
    yield PENDING, work.made, None
    shown = ""
    for event in work.events.all():
        for status, at, reason in _of_event(work, event, shown):
            if status in (STOPPING, FORCE_STOP):
                shown = status
            elif status != COMPLETED:
                shown = ""
            yield status, at, reason


def _of_event(work: Workload, event: Event, shown: str) -> Iterator[Entry]:
    if event.before == event.after:
        if event.reason in (Wish.STOP, Wish.FORCE_STOP) and work.status != lifecycle.COMPLETED:
            yield from _stop(event, shown)
    elif event.after in WORDS:
        yield WORDS[event.after], event.at, None
    elif event.after == lifecycle.STOPPING and not shown and fails(event.reason):
        yield STOPPING, event.at, FAILED
    elif event.after in lifecycle.REST_CODES:
        if not shown and work.outcome != Outcome.COMPLETED and work.reason != "no-capacity":
            yield STOPPING, event.at, USER_STOP if work.outcome == Outcome.STOPPED else FAILED
        yield COMPLETED, event.at, _reason(work)


def _stop(event: Event, shown: str) -> Iterator[Entry]:
    if not shown:
        yield STOPPING, event.at, USER_STOP
    if event.reason == Wish.FORCE_STOP and shown != FORCE_STOP:
        yield FORCE_STOP, event.at, USER_STOP


def fails(reason: str) -> bool:
    ending = ENDINGS.get(reason)
    return ending is not None and ending.outcome == Outcome.FAILED and reason != "no-capacity"


def _reason(work: Workload) -> str:
    if work.outcome == Outcome.COMPLETED:
        return SUCCESS
    if work.outcome == Outcome.STOPPED:
        return USER_STOP
    if work.reason == "no-capacity":
        return NO_CAPACITY
    if work.failed_stage == lifecycle.RUNNING or work.reason not in ENDINGS:
        return FAILED
    return f"{ENDINGS[work.reason].sentence} {work.detail}".strip()


def truth(work: Workload) -> dict[str, Any]:
    """What really happened, in keys that old clients do not look at."""
    cluster = cluster_of(work)
    report = cluster.exit if cluster else {}
    failed = work.table.rows.get(work.failed_stage)
    return {
        "outcome": work.outcome or None,
        "stage": str(work.row.stage) if work.row.stage else None,
        "headraceStatus": work.row.label,
        "exitCode": report.get("code"),
        "signal": report.get("signal"),
        "failedStage": failed.label if failed else None,
        "reason": work.reason or None,
        "detail": work.detail or None,
        "attempt": work.attempt,
        "verdict": work.job.verdict or None,
        "waitsFor": waits_for(work),
    }


def waits_for(work: Workload) -> str | None:
    """A sentence while it is queued: the last one stays in the row of what left the queue in another way than by its start."""
    return work.gate_text or None if work.status == lifecycle.QUEUED else None


# --- clusters ---------------------------------------------------------------------------------------------------------
def cluster_of(work: Workload) -> Cluster | None:
    """The cluster of this attempt."""
    return next((one for one in clusters_of(work) if one.attempt == work.attempt), None)


def of_clusters(work: Workload) -> list[dict[str, Any]]:
    """How the clusters of all attempts stood, newest first; never empty."""
    found = [entry for cluster in clusters_of(work) for entry in _of_cluster(cluster)]
    return found or [{"status": "Not Started", "statusDate": when(work.made), "statusReason": None}]


def newest_cluster(work: Workload) -> str:
    return str(of_clusters(work)[0]["status"])


def _of_cluster(cluster: Cluster) -> list[dict[str, Any]]:
    moments = [
        ("Not Started", cluster.asked),
        ("Starting", cluster.created),
        ("Started", cluster.up),
        ("Stop Requested", cluster.releasing),
        ("Stopping", cluster.releasing),
        ("Stopped", cluster.released),
    ]
    return [{"status": word, "statusDate": when(at), "statusReason": cluster.trouble or None} for word, at in reversed(moments) if at]

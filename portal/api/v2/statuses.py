"""The statuses that existing clients wait for, derived from our events; the truth stands beside them.

Oldest to newest: Pending, Queued, Started, Validated, Executing, Completed. Stopping is shown only where something was
stopped or went wrong, never on a success; the last entry of whatever has ended is always Completed, written after the
outputs are listed; there is always at least one entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from jobs import lifecycle
from jobs.lifecycle import ENDINGS, Outcome
from jobs.models import Event, Workload

WORDS = {
    lifecycle.QUEUED: "Queued",
    lifecycle.VALIDATING: "Started",
    lifecycle.STARTING: "Validated",
    lifecycle.RUNNING: "Executing",
}
USER_STOP = "User Terminated"
FAILED = "A run failed"
SUCCESS = "Completed successfully"


def of(work: Workload) -> list[dict[str, Any]]:
    """Newest first; each {status, statusDate, statusReason}, the newest with what really happened."""
    found = [{"status": status, "statusDate": at.isoformat(), "statusReason": reason} for status, at, reason in _entries(work)]
    found.reverse()
    found[0] |= truth(work)
    return found


def _entries(work: Workload) -> Iterator[tuple[str, datetime, str | None]]:
    yield "Pending", work.made, None
    for event in work.events.all():
        if event.before == event.after:
            continue
        if event.after in WORDS:
            yield WORDS[event.after], event.at, None
        elif event.after == lifecycle.STOPPING:
            yield from _stopping(work, event)
        elif event.after in lifecycle.REST_CODES:
            yield "Completed", event.at, _reason(work)


def _stopping(work: Workload, event: Event) -> Iterator[tuple[str, datetime, str | None]]:
    """Not on a success, and not when it goes back to the queue for another attempt."""
    ending = ENDINGS.get(event.reason)
    stopped = work.wish != lifecycle.Wish.RUN and work.status != lifecycle.COMPLETED
    if ending is None and not stopped:
        return
    if stopped or (ending and ending.outcome == Outcome.STOPPED):
        yield "Stopping", event.at, USER_STOP
        if work.reason == "force-stopped":
            yield "Force Stop", event.at, USER_STOP
    elif ending and ending.outcome == Outcome.FAILED:
        yield "Stopping", event.at, FAILED


def _reason(work: Workload) -> str:
    if work.outcome == Outcome.COMPLETED:
        return SUCCESS
    if work.outcome == Outcome.STOPPED:
        return USER_STOP
    if work.reason == "no-capacity":
        return "Could not allocate compute resources from the compute provider"
    failed_in_run = work.failed_stage in {lifecycle.RUNNING, lifecycle.STOPPING}
    return FAILED if failed_in_run else f"{ENDINGS[work.reason].sentence} {work.detail}".strip()


def truth(work: Workload) -> dict[str, Any]:
    """What really happened, in keys that old clients do not look at."""
    cluster = work.cluster
    report = cluster.exit if cluster else {}
    job = work.job if work.kind == "job" else None
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
        "verdict": (job.verdict or None) if job else None,
        "waitsFor": work.gate_text or None,
    }

"""Deleting a job or a workstation that is over: rows, outputs, homes and logs go; charges and the audit log stay."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from jobs import homes, logs, outputs, stored
from jobs.models import AuditEntry, JobInput, Workload


def delete(work: Workload, by: Any, address: str | None = None) -> None:
    """Raises ValueError while it is active. The bytes go after the rows: a crash in between leaves bytes, never a broken page."""
    public_id, attempts = work.public_id, work.attempt
    owners = set(JobInput.objects.filter(job=work.pk).values_list("file__owner", flat=True))
    keys = homes.keys_of(work)
    with transaction.atomic():
        AuditEntry.note(by, "delete", work, address, id=public_id, status=work.status)
        work.delete_for_good(by)
    for attempt in range(1, attempts + 1):
        outputs.delete(public_id, attempt)
    homes.delete(keys)
    logs.delete(public_id)
    for owner in owners:
        stored.forget_unused(owner)  # inputs that were deleted from their owner's files while this job kept them

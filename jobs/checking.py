"""The check of a job's input: from rows to findings, once for the same bytes.

Runs in the background from submit on. A Check row is taken by compare-and-set, so two workers never do the same one, and a
taken check whose worker died is taken over after TAKEN seconds.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import Q
from django.utils import timezone

from . import lifecycle, validation
from .models import Check, Job, JobInput, touch

TAKEN = 60
"""Seconds after which a check that was taken and not finished is free again."""


def check_of(job: Job) -> Check:
    """The Check row of this job, made if there is none yet."""
    if job.checked_id is None:
        job.checked = Check.objects.get_or_create(key=job.check_key())[0]
        job.save(update_fields=["checked"])
    return job.checked  # type: ignore[return-value]


def take(check: Check, now: datetime) -> bool:
    """True for one caller: the check is yours to do."""
    free = Check.objects.filter(pk=check.pk, done__isnull=True)
    free = free.filter(Q(taken__isnull=True) | Q(taken__lt=now - timedelta(seconds=TAKEN)))
    return free.update(taken=now) == 1


def perform(job: Job, check: Check) -> None:
    """Check, write the findings down, and tell every job that waits for them."""
    findings = run(job)
    Check.objects.filter(pk=check.pk).update(findings=findings, files=job.inputs.count(), done=timezone.now())
    touch(list(Job.objects.filter(checked=check).values_list("workload_id", flat=True)))


def ahead(now: datetime, limit: int = 20) -> int:
    """Check what still waits in the queue, so that errors show now and not after two days; how many were checked."""
    waiting = Job.objects.filter(workload__status=lifecycle.QUEUED).filter(Q(checked__isnull=True) | Q(checked__done__isnull=True))
    done = 0
    for job in waiting.select_related("workload__coretype", "software__software", "checked").order_by("workload__submitted")[:limit]:
        check = check_of(job)
        if check.done is None and take(check, now):
            perform(job, check)
            done += 1
    return done


def run(job: Job) -> list[dict[str, Any]]:
    """The findings for this job as it is now."""
    uses = list(job.inputs.select_related("file"))
    return [finding.as_dict() | {"fix": finding.fix} for finding in validation.run_apart(request_of(job, uses))]


def request_of(job: Job, uses: list[JobInput]) -> validation.Request:
    work = job.workload
    stored = validation.Stored([_stored(use) for use in uses])
    inputs = validation.unpacked(stored, {use.name for use in uses if use.unpack}) if any(use.unpack for use in uses) else stored
    return validation.Request(
        software=job.software.software.code, version=job.software.code, command=job.command, cores=work.total_cores,
        nodes=work.nodes, memory=work.coretype.memory, inputs=inputs, environment=job.environment,
    )


def _stored(use: JobInput) -> validation.StoredFile:
    key = use.file.key
    return validation.StoredFile(use.name, use.file.size, lambda: default_storage.open(key, "rb"), None, _path(key))


def _path(key: str) -> str | None:
    """Where the bytes lie on this machine, if storage is a folder."""
    try:
        return default_storage.path(key)
    except NotImplementedError:
        return None

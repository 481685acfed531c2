"""The check of a job's input: from rows to findings, once for the same bytes.

Runs in the background from submit on. A Check row is taken by compare-and-set, so two workers never do the same one, and a
taken check whose worker died is taken over after TAKEN seconds.
"""

from __future__ import annotations

import logging
import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import Q
from django.utils import timezone

from . import detecting, lifecycle, validation, verdicts
from .acting import side_by_side
from .models import Check, Job, JobInput, touch, update_alike

log = logging.getLogger(__name__)

TAKEN = 60
"""Seconds after which a check that was taken and not finished is free again."""


def ahead(now: datetime, limit: int = 20) -> int:
    """Check what still waits in the queue, so that errors show now and not after two days; how many were checked."""
    waiting = Job.objects.filter(workload__status=lifecycle.QUEUED).filter(Q(checked__isnull=True) | Q(checked__done__isnull=True))
    rows = waiting.select_related("workload__coretype", "software__software", "checked").order_by("workload__submitted")[:limit]
    return perform(list(rows), now)


def perform(jobs: Sequence[Job], now: datetime) -> int:
    """See to it that each job has its check and that every check that nobody else does is done; how many were done."""
    uses, known = inputs_of(jobs), detecting.found(jobs)
    _give_checks(jobs, uses, known)
    todo: dict[int, Job] = {}
    for job in jobs:
        if job.checked.done is None and job.checked_id not in todo and _take(job.checked_id, now):
            todo[job.checked_id] = job
    requests = [request_of(job, uses[job.pk], known) for job in todo.values()]
    for job, findings in zip(todo.values(), side_by_side(validation.run_apart, requests), strict=True):
        if isinstance(findings, Exception):
            raise findings
        _write(job, [*findings, *detecting.findings(job, known)], len(uses[job.pk]))
    return len(todo)


def inputs_of(jobs: Sequence[Job]) -> dict[int, list[JobInput]]:
    """The inputs of many jobs in one query."""
    found: dict[int, list[JobInput]] = defaultdict(list)
    for use in JobInput.objects.filter(job__in=jobs).select_related("file").order_by("order", "pk"):
        found[use.job_id].append(use)
    return found


def _give_checks(jobs: Sequence[Job], uses: Mapping[int, list[JobInput]], known: detecting.Found) -> None:
    """Every job points at the Check row of its key; rows that are missing are made."""
    keys = {job.pk: job.check_key(uses[job.pk], known.get(detecting.key(job))) for job in jobs}
    Check.objects.bulk_create([Check(key=key) for key in sorted(set(keys.values()))], ignore_conflicts=True)
    checks = {check.key: check for check in Check.objects.filter(key__in=set(keys.values()))}
    new = [job for job in jobs if job.checked_id != checks[keys[job.pk]].pk]
    for job in jobs:
        job.checked = checks[keys[job.pk]]
    for job in new:
        job.streams = _streams_of(job)
    update_alike(new, ["checked", "streams"])


def _streams_of(job: Job) -> dict[str, str]:
    """Files in the job folder that the command makes the solver write. A command that nobody understands has none."""
    try:
        found = verdicts.streams(job.software.software.code, job.command)
        return {name: path for name, path in found.items() if not posixpath.normpath(path).startswith(("/", ".."))}
    except (ValueError, LookupError, RecursionError):
        log.exception("the streams of a %s command were not understood", job.software.software.code)
        return {}


def _take(pk: int, now: datetime) -> bool:
    """True for one caller: the check is yours to do."""
    free = Check.objects.filter(pk=pk, done__isnull=True).filter(Q(taken__isnull=True) | Q(taken__lt=now - timedelta(seconds=TAKEN)))
    return free.update(taken=now) == 1


def _write(job: Job, findings: Sequence[validation.Finding], files: int) -> None:
    """Write the findings down, and tell every job that waits for them."""
    check = job.checked
    check.findings = [finding.as_dict() | {"fix": finding.fix} for finding in findings]
    check.files, check.done = files, timezone.now()
    check.save(update_fields=["findings", "files", "done"])
    active = Job.objects.filter(checked=check, workload__status__in=[lifecycle.QUEUED, lifecycle.VALIDATING])
    touch(list(active.values_list("workload_id", flat=True)))


def request_of(job: Job, uses: Sequence[JobInput], known: detecting.Found) -> validation.Request:
    work = job.workload
    stored: validation.Inputs = validation.Stored([_stored(use) for use in uses])
    archives = {use.name for use in uses if use.unpack}
    return validation.Request(
        software=job.software.software.code,
        version=detecting.version_of(job, known),
        command=job.command,
        cores=work.total_cores,
        nodes=work.nodes,
        memory=work.coretype.memory,
        environment=job.environment,
        inputs=validation.unpacked(stored, archives) if archives else stored,
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


def run(job: Job) -> list[dict[str, Any]]:
    """The findings for a job as it is now, kept nowhere."""
    return [finding.as_dict() | {"fix": finding.fix} for finding in findings(job, list(job.inputs.select_related("file")))]


def findings(job: Job, uses: Sequence[JobInput]) -> list[validation.Finding]:
    """What is to be said of a job with these inputs; neither needs to be saved."""
    known = detecting.found([job])
    return [*validation.run_apart(request_of(job, uses, known)), *detecting.findings(job, known)]

"""The check of a job's input: from rows to findings, once for the same bytes.

Runs in the background from submit on. A Check row is taken by compare-and-set, so two workers never do the same one, and a
taken check whose worker died is taken over after TAKEN seconds.
"""

from __future__ import annotations

import logging
import posixpath
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import Q
from django.utils import timezone

from . import detecting, lifecycle, names, validation, verdicts
from .acting import side_by_side
from .models import Check, Choice, Job, JobInput, touch, update_alike
from .places import path_of
from .shapes import key_of, merged, shapes_of

log = logging.getLogger(__name__)

TAKEN = 60
"""Seconds after which a check that was taken and not finished is free again."""
AT_ONCE = 50
"""Checks that are done before their findings are told; what needs none goes on with them."""


def ahead(now: datetime, limit: int = 20) -> int:
    """Check what still waits in the queue, so that errors show now and not after two days; how many were checked."""
    waiting = Job.objects.filter(workload__status=lifecycle.QUEUED).filter(Q(checked__isnull=True) | Q(checked__done__isnull=True))
    rows = waiting.select_related("workload__coretype", "software__software", "checked").order_by("workload__submitted")[:limit]
    done = perform(list(rows), now)
    try_offers(now)
    return done


def perform(jobs: Sequence[Job], now: datetime, most: int = AT_ONCE) -> int:
    """See to it that each job has its check, and do those that are not done and that nobody else does; how many were done."""
    choices = Choice.of([job.pk for job in jobs])
    uses, shapes = inputs_of(jobs), {job.pk: shapes_of(job, choices=choices[job.pk]) for job in jobs}
    known = detecting.found(chain(*shapes.values()))
    _give_checks(jobs, shapes, uses, known)
    todo: dict[int, Job] = {}
    for job in jobs:
        if len(todo) < most and job.checked.done is None and job.checked_id not in todo and _take(job.checked_id, now):
            todo[job.checked_id] = job
    found = _found([shapes[job.pk] for job in todo.values()], uses, known)
    for job, some in zip(todo.values(), found, strict=True):
        _write(job.checked, some, len(uses[job.pk]))
    return len(todo)


def offered(job: Job, fields: Mapping[str, Any]) -> Check | None:
    """The check of a job as an offer would change it; None while it is not done, and then it is asked for."""
    key = _key(shapes_of(job, fields), list(job.inputs.select_related("file")))
    check, _ = Check.objects.get_or_create(key=key, defaults={"trial_of": job, "shape": dict(fields)})
    return check if check.done else None


def try_offers(now: datetime, limit: int = 10) -> int:
    """Check what offers ask for, so that none is made that would be refused; how many were done."""
    free = Q(taken__isnull=True) | Q(taken__lt=now - timedelta(seconds=TAKEN))
    waiting = Check.objects.filter(free, done__isnull=True, trial_of__workload__status=lifecycle.QUEUED)
    rows = list(waiting.select_related("trial_of__workload__coretype", "trial_of__software__software").order_by("pk")[:limit])
    todo = [check for check in rows if _take(check.pk, now)]
    jobs = [check.trial_of for check in todo]
    shapes, uses = [shapes_of(check.trial_of, check.shape) for check in todo], inputs_of(jobs)
    for check, some in zip(todo, _found(shapes, uses, detecting.found(chain(*shapes))), strict=True):
        _write(check, some, len(uses[check.trial_of_id]))
    return len(todo)


def _found(groups: Sequence[Sequence[Job]], uses: Mapping[int, list[JobInput]], known: detecting.Found) -> list[list[validation.Finding]]:
    """The findings of jobs, each given as its shapes; all checks side by side."""
    flat = [shape for group in groups for shape in group]
    answers = side_by_side(validation.run_apart, [request_of(shape, uses[shape.pk], known) for shape in flat])
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    told = iter([[*answer, *detecting.findings(shape, known)] for shape, answer in zip(flat, answers, strict=True)])
    return [merged(group, [next(told) for _ in group]) for group in groups]


def _key(shapes: Sequence[Job], uses: list[JobInput], known: detecting.Found | None = None) -> str:
    known = detecting.found(shapes) if known is None else known
    return key_of([shape.check_key(uses, known.get(detecting.key(shape))) for shape in shapes])


def inputs_of(jobs: Sequence[Job]) -> dict[int, list[JobInput]]:
    """The inputs of many jobs in one query."""
    found: dict[int, list[JobInput]] = defaultdict(list)
    for use in JobInput.objects.filter(job__any_of=[job.pk for job in jobs]).select_related("file").order_by("order", "pk"):
        found[use.job_id].append(use)
    return found


def _give_checks(jobs: Sequence[Job], shapes: Mapping[int, list[Job]], uses: Mapping[int, list[JobInput]], known: detecting.Found) -> None:
    """Every job points at the Check row of its key; rows that are missing are made."""
    keys = {job.pk: _key(shapes[job.pk], uses[job.pk], known) for job in jobs}
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


def _write(check: Check, findings: Sequence[validation.Finding], files: int) -> None:
    """Write the findings down, and tell every job that waits for them."""
    check.findings = [finding.as_dict() | {"fix": finding.fix} for finding in findings]
    check.files, check.done = files, timezone.now()
    check.save(update_fields=["findings", "files", "done"])
    active = Job.objects.filter(checked=check, workload__status__in=[lifecycle.QUEUED, lifecycle.VALIDATING])
    touch(list(active.values_list("workload_id", flat=True)))
    if check.trial_of_id:
        touch([check.trial_of_id], due=False)


def request_of(job: Job, uses: Sequence[JobInput], known: detecting.Found) -> validation.Request:
    """What the validators are told of a job: memory in bytes a node, cores in all."""
    work = job.workload
    read = _read(uses)
    stored: validation.Inputs = validation.Stored([_stored(use, read[use.name]) for use in uses])
    archives = {read[use.name] for use in uses if use.unpack}
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


def _stored(use: JobInput, name: str) -> validation.StoredFile:
    key = use.file.key
    return validation.StoredFile(name, use.file.size, lambda: default_storage.open(key, "rb"), use.file.mode, path_of(key))


def _read(uses: Sequence[JobInput]) -> dict[str, str]:
    """Names as the decks that hold them are read; two that would look alike stay as they are written."""
    found = {use.name: names.raw(use.name).decode("utf-8", "replace") for use in uses}
    alike = Counter(found.values())
    return {name: text if alike[text] == 1 else name for name, text in found.items()}


def run(job: Job) -> list[dict[str, Any]]:
    """The findings for a job as it is now, kept nowhere."""
    return [finding.as_dict() | {"fix": finding.fix} for finding in findings(job, list(job.inputs.select_related("file")))]


def findings(job: Job, uses: Sequence[JobInput]) -> list[validation.Finding]:
    """What is to be said of a job with these inputs; neither needs to be saved."""
    shapes = shapes_of(job)
    known = detecting.found(shapes)
    return merged(shapes, [[*validation.run_apart(request_of(one, uses, known)), *detecting.findings(one, known)] for one in shapes])

"""What a batch of workloads refers to, loaded once for all: one object a coretype, a software and a check, not one a row.

Making objects is most of what a burst costs; a join would make the same coretype two hundred times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .models import Check, Coretype, Job, SoftwareVersion, Workload, Workstation
from .models.rows import at_hand, columns, made

OF_A_JOB = columns(Job, "description", "custom_fields", "verdict_detail", "outputs_deleted")
"""What no stage looks at is left out."""


def attach(rows: Sequence[Workload]) -> None:
    """Coretypes, jobs with their software and checks, workstations with their kinds are at hand afterwards, without a query."""
    kinds = Coretype.objects.in_bulk({work.coretype_id for work in rows})
    works = {work.pk: work for work in rows}
    for work in rows:
        at_hand(work, coretype=kinds[work.coretype_id])
    _attach_jobs({work.pk: work for work in rows if work.kind == "job"})
    for desk in Workstation.objects.select_related("kind").filter(pk__any_of=[work.pk for work in rows if work.kind == "workstation"]):
        desk.workload = works[desk.pk]


def _attach_jobs(works: Mapping[int, Workload]) -> None:
    jobs = made(Job.objects.filter(pk__any_of=works), OF_A_JOB, workload=works)
    versions = SoftwareVersion.objects.select_related("software").in_bulk({job.software_id for job in jobs})
    checks = Check.objects.in_bulk({job.checked_id for job in jobs if job.checked_id})
    for job in jobs:
        at_hand(job.workload, job=job)
        at_hand(job, software=versions[job.software_id])
        if job.checked_id in checks:
            at_hand(job, checked=checks[job.checked_id])

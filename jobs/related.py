"""What a batch of workloads refers to, loaded once for all: one object a coretype, a software and a check, not one a row.

Making objects is most of what a burst costs; a join would make the same coretype two hundred times.
"""

from __future__ import annotations

from collections.abc import Sequence

from .models import Check, Coretype, Job, SoftwareVersion, Workload, Workstation


def attach(rows: Sequence[Workload]) -> None:
    """Coretypes, jobs with their software and checks, workstations with their kinds are at hand afterwards, without a query."""
    kinds = Coretype.objects.in_bulk({work.coretype_id for work in rows})
    jobs = Job.objects.in_bulk([work.pk for work in rows if work.kind == "job"])
    versions = SoftwareVersion.objects.select_related("software").in_bulk({job.software_id for job in jobs.values()})
    checks = Check.objects.in_bulk({job.checked_id for job in jobs.values() if job.checked_id})
    desks = Workstation.objects.select_related("kind").in_bulk([work.pk for work in rows if work.kind == "workstation"])
    for work in rows:
        work.coretype = kinds[work.coretype_id]
        job = jobs.get(work.pk)
        if job is not None:
            job.workload, job.software, job.checked = work, versions[job.software_id], checks.get(job.checked_id)  # type: ignore[arg-type]
        if work.pk in desks:
            desks[work.pk].workload = work

"""From a checked form to rows: a draft that can be submitted. Nothing is half done: all rows or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from jobs import checking
from jobs.models import Choice, Job, JobInput, Workload

from . import choices
from .job import InputRow, JobForm
from .walltime import say

SHAPE = ("coretype", "nodes", "cores")
ASKED = ("name", "walltime", "project", "economy")
OF_A_JOB = ("software", "environment", "pipefail", "stop_when_diverging", "commands")


def save(form: JobForm, rows: Sequence[InputRow], draft: Workload | None = None, key: str = "") -> Workload:
    """Write the draft, or make one. Raises IntegrityError when another one has `key` already."""
    with transaction.atomic():
        work = draft or Workload(owner=form.user, kind=Workload.Kind.JOB, submit_key=key)
        _fill(work, form.cleaned_data)
        work.save()
        work.accept(form.cleaned_data.get("choices", ()))
        job = work.job if draft else Job(workload=work)
        _fill_job(job, form.cleaned_data)
        job.save()
        job.inputs.all().delete()
        JobInput.objects.bulk_create(_uses(job, rows))
    return work


def findings(form: JobForm, rows: Sequence[InputRow]) -> list[dict[str, Any]]:
    """What Validating Input would say of the form as it stands; nothing is saved."""
    work = Workload(owner=form.user)
    _fill(work, form.cleaned_data)
    work.acceptable = [Choice(coretype=kind, nodes=nodes, cores=cores) for kind, nodes, cores in form.cleaned_data.get("choices", ())]
    job = Job(workload=work)
    _fill_job(job, form.cleaned_data)
    return [found.as_dict() for found in checking.findings(job, _uses(job, rows))]


def same(form: JobForm, rows: Sequence[InputRow], work: Workload) -> bool:
    """Whether the checked form asks for what this job has: then sending it again is a second click."""
    asked, job, uses = Workload(), Job(), work.job.inputs.all()
    _fill(asked, form.cleaned_data)
    _fill_job(job, form.cleaned_data)
    shapes = [(one.coretype, one.nodes, one.cores) for one in [*work.choices.all()] or [work]]
    return (
        [getattr(asked, name) for name in ASKED] == [getattr(work, name) for name in ASKED]
        and [getattr(job, name) for name in OF_A_JOB] == [getattr(work.job, name) for name in OF_A_JOB]
        and [(row.file.pk, row.path, row.unpack) for row in rows] == [(use.file_id, use.name, use.unpack) for use in uses]
        and form.cleaned_data["choices"] == shapes
    )


def initial_of(work: Workload) -> dict[str, Any]:
    """A draft as the form's first values."""
    job = work.job
    return {
        "name": work.name,
        "software": job.software_id,
        "command": job.command,
        "pipefail": job.pipefail,
        "stop_when_diverging": job.stop_when_diverging,
        "coretype": work.coretype_id,
        "environment": "\n".join(f"{name}={value}" for name, value in job.environment.items()),
        "nodes": work.nodes,
        "cores": work.cores,
        "walltime": say(work.walltime),
        "economy": work.economy,
        "project": work.project_id,
        "key": work.submit_key,
        **choices.initial(work),
    }


def _fill(work: Workload, data: dict[str, Any]) -> None:
    for name in (*ASKED, *SHAPE):
        setattr(work, name, data[name])


def _fill_job(job: Job, data: dict[str, Any]) -> None:
    job.software, job.environment, job.pipefail = data["software"], data["environment"], data["pipefail"]
    job.stop_when_diverging = data["stop_when_diverging"]
    job.commands, job.checked = data["command"].split("\n"), None


def _uses(job: Job, rows: Sequence[InputRow]) -> list[JobInput]:
    return [JobInput(job=job, file=row.file, name=row.path, unpack=row.unpack, order=at) for at, row in enumerate(rows)]

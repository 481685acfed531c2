"""The sample that a newcomer starts with: heat conduction in a plate, by the small solver in jobs/demo."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.db import transaction

import jobs.demo
from jobs.models import Coretype, Job, JobInput, SoftwareVersion, StoredFile, Workload

from . import storing

FILES = ("heat.py", "plate.txt")
COMMAND = "python3 heat.py plate.txt"


def plate(user: Any, version: SoftwareVersion, kind: Coretype) -> Workload:
    """A draft for `user`; files that they have already are used again."""
    files = [_file(user, Path(jobs.demo.__file__).with_name(name)) for name in FILES]
    with transaction.atomic():
        project = user.projects.filter(active=True).first()
        work = Workload.objects.create(
            owner=user, name="plate-01", coretype=kind, nodes=1, cores=1, walltime=min(1800, kind.walltime_max), project=project
        )
        job = Job.objects.create(workload=work, software=version, commands=[COMMAND])
        JobInput.objects.bulk_create([JobInput(job=job, file=file, name=file.name, order=at) for at, file in enumerate(files)])
    return work


def _file(user: Any, path: Path) -> StoredFile:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    kept = StoredFile.objects.filter(owner=user, name=path.name, sha256=digest, deleted__isnull=True).first()
    if kept:
        return kept
    with path.open("rb") as file:
        return storing.keep(user, path.name, file, path.stat().st_size)

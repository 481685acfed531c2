"""The sample that a newcomer starts with: heat conduction in a plate, by the small solver in jobs/demo."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.db import transaction

import jobs.demo
from jobs.models import Coretype, Job, JobInput, SoftwareVersion, StoredFile, Workload

from . import storing
from .forms import usual

FILES = ("heat.py", "plate.txt")
COMMAND = "python3 heat.py plate.txt"


def plate(user: Any, version: SoftwareVersion, kind: Coretype) -> Workload:
    """A draft for `user`; files that they have already are used again."""
    files = [_file(user, Path(jobs.demo.__file__).with_name(name)) for name in FILES]
    with transaction.atomic():
        project = usual.project(user)
        work = Workload.objects.create(
            owner=user, name="plate-01", coretype=kind, nodes=1, cores=1, walltime=min(1800, kind.walltime_max), project=project
        )
        job = Job.objects.create(workload=work, software=version, commands=[COMMAND])
        JobInput.objects.bulk_create([JobInput(job=job, file=file, name=file.name, order=at) for at, file in enumerate(files)])
    return work


def _file(user: Any, path: Path) -> StoredFile:
    data = path.read_bytes()
    return storing.keep_once(user, path.name, len(data), hashlib.sha256(data).hexdigest(), [data])

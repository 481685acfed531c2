"""`up --demo`: a project with money, an engineer, and a small real job that runs at once.

One idea: the job is real. With CalculiX on the machine it is a finite element model, else heat conduction by our own
solver; both take about a minute, so that a newcomer sees the stages pass.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from jobs import ledger
from jobs.demo.beam import deck as beam
from jobs.models import Budget, Coretype, Job, JobInput, Membership, Project, Software, StoredFile, Workload

from . import seeds

ENGINEER = "engineer"
PROJECT, MONEY = "Wing", Decimal(500)
SOLVER_PATHS = "/usr/local/bin:/usr/bin:/bin"
"""Where a job's command is looked for, as on the nodes."""


@dataclass(frozen=True)
class Example:
    name: str
    software: str
    command: str
    files: Mapping[str, bytes]


@transaction.atomic
def people() -> str | None:
    """The project, its money and its engineer, if they are missing; returns the engineer's password when new."""
    project, _ = Project.objects.get_or_create(code="wing", defaults={"name": PROJECT})
    if not Budget.objects.filter(project=project).exists():  # by now there may be several
        ledger.opened(Budget.objects.create(project=project, name=PROJECT, amount=MONEY), None, timezone.now())
    if User.objects.filter(username=ENGINEER).exists():
        return None
    password = seeds.person(ENGINEER)
    Membership.objects.create(project=project, user=User.objects.get(username=ENGINEER), role=Membership.Role.LEAD)
    return password


@transaction.atomic
def job() -> str | None:
    """Submit the example once; returns its name, None if the engineer has had work already."""
    owner = User.objects.get(username=ENGINEER)
    if Workload.objects.filter(owner=owner).exists():
        return None
    wanted = example()
    work = Workload.objects.create(
        name=wanted.name, owner=owner, project=Project.objects.get(code="wing"), coretype=Coretype.objects.get(code="local"),
        walltime=3600, submit_key="demo",
    )
    made = Job.objects.create(workload=work, software=_version(wanted.software), commands=[wanted.command])
    for order, (name, content) in enumerate(wanted.files.items()):
        JobInput.objects.create(job=made, file=_store(owner, name, content), name=name, order=order)
    work.submit(owner)
    return wanted.name


def example() -> Example:
    """A CalculiX model where CalculiX is installed and known, else heat conduction by our own solver."""
    if shutil.which("ccx", path=SOLVER_PATHS) and Software.objects.filter(code="calculix").exists():
        return Example("Wing spar under load", "calculix", "ccx -i spar", {"spar.inp": beam().encode()})
    folder = settings.BASE_DIR / "jobs" / "demo"
    python = "python3" if shutil.which("python3", path=SOLVER_PATHS) else sys.executable
    files = {name: (folder / name).read_bytes() for name in ("plate.txt", "heat.py")}
    return Example("Wing heater plate", "shell", f"{python} heat.py plate.txt", files)


def _version(code: str):
    return Software.objects.get(code=code).versions.first()


def _store(owner: User, name: str, content: bytes) -> StoredFile:
    key = default_storage.save(f"inputs/{name}", ContentFile(content))
    return StoredFile.objects.create(owner=owner, name=name, size=len(content), sha256=hashlib.sha256(content).hexdigest(), key=key)

"""Things for tests: plain functions with good defaults."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User

from jobs import models

_count = itertools.count(1)


def user(name: str = "", **fields: Any) -> User:
    made = User(username=name or f"user{next(_count)}", **fields)
    made.set_password("secret")
    made.save()
    return made


def project(*members: User, name: str = "Wing") -> models.Project:
    made = models.Project.objects.create(code=f"p{next(_count)}", name=name)
    for member in members:
        models.Membership.objects.create(project=made, user=member)
    return made


def budget(project: models.Project | None = None, amount: Any = 1000, **fields: Any) -> models.Budget:
    return models.Budget.objects.create(name=fields.pop("name", "Budget"), project=project, amount=Decimal(str(amount)), **fields)


def coretype(**fields: Any) -> models.Coretype:
    region, _ = models.Region.objects.get_or_create(code="here", defaults={"name": "Here"})
    defaults: dict[str, Any] = {
        "code": f"c{next(_count)}",
        "name": "Granite",
        "region": region,
        "backend": "fake",
        "cores": 8,
        "memory": 16 << 30,
        "max_nodes": 4,
        "price": Decimal("0.1"),
    }
    return models.Coretype.objects.create(**{**defaults, **fields})


def software(code: str = "shell", **fields: Any) -> models.SoftwareVersion:
    program, _ = models.Software.objects.get_or_create(code=code, defaults={"name": code.capitalize(), "grace": fields.pop("grace", 60)})
    version, _ = models.SoftwareVersion.objects.get_or_create(software=program, code="1", defaults={"name": "1"})
    return version


def job(owner: User | None = None, command: str = "true", **fields: Any) -> models.Job:
    """A draft of a job; `.workload.submit(by)` sends it off."""
    owner = owner or user()
    version = fields.pop("software", None) or software()
    details = {name: fields.pop(name) for name in ("environment", "pipefail") if name in fields}
    kind = fields.pop("coretype", None) or coretype()
    work = models.Workload.objects.create(
        owner=owner,
        name=fields.pop("name", "beam"),
        coretype=kind,
        walltime=fields.pop("walltime", 3600),
        project=fields.pop("project", None),
        **fields,
    )
    return models.Job.objects.create(workload=work, software=version, commands=command.split("\n"), **details)


def workstation(owner: User | None = None, **fields: Any) -> models.Workstation:
    """A draft of a workstation with a terminal; `.workload.submit(by)` sends it off."""
    session = fields.pop("session", "terminal")
    kind, _ = models.WorkstationKind.objects.get_or_create(code=session, defaults={"name": session.capitalize(), "session": session})
    work = models.Workload.objects.create(
        owner=owner or user(),
        kind="workstation",
        name=fields.pop("name", "desk"),
        coretype=fields.pop("coretype", None) or coretype(),
        walltime=fields.pop("walltime", 7 * 86400),
        **fields,
    )
    return models.Workstation.objects.create(workload=work, kind=kind)

"""What a new Headrace begins with: software, this machine as hardware, an admin.

One idea: everything is made if it is missing and never changed if it is there, so an admin's edits stay.
"""

from __future__ import annotations

import os
import secrets
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction

from jobs.models import Coretype, Installation, Look, Region, Software, SoftwareVersion, WorkstationKind
from jobs.models.roles import AUDITORS

ADMIN = "admin"
PRICE, DISK_PRICE = Decimal("0.05"), Decimal("0.0001")
"""Of this machine, until an admin says otherwise: per core and hour; per GiB and hour, about 7 cents a GiB and month."""
CATALOGUE = settings.BASE_DIR / "jobs" / "catalogue.yaml"


@transaction.atomic
def sow() -> None:
    """Software and kinds of workstations from the catalogue file, and this machine as the coretype `local` in the region
    `here`; what it has of the software is looked at again, since somebody may have installed some."""
    Installation.code_of_this()
    Group.objects.get_or_create(name=AUDITORS)
    catalogue = yaml.safe_load(CATALOGUE.read_text(encoding="utf-8"))
    for order, entry in enumerate(catalogue["software"]):
        _software(dict(entry), order)
    for order, entry in enumerate(catalogue["workstations"]):
        WorkstationKind.objects.get_or_create(code=entry["code"], defaults={"order": order, **entry})
    _this_machine()


def admin() -> str | None:
    """The new admin's password, once: None if somebody administrates already. It is kept nowhere."""
    if User.objects.filter(is_superuser=True).exists() or User.objects.filter(username=ADMIN).exists():
        return None
    return person(ADMIN, is_staff=True, is_superuser=True)


def person(name: str, **fields: Any) -> str:
    """Make the user `name`; returns the password, which is random."""
    password = secrets.token_urlsafe(12)
    User.objects.create_user(name, password=password, **fields)
    return password


def _software(entry: dict[str, Any], order: int) -> None:
    versions = entry.pop("versions", [])
    entry.setdefault("order", order)
    program, new = Software.objects.get_or_create(code=entry.pop("code"), defaults=entry)
    if not new and not program.detection:  # a row from before there was any
        Software.objects.filter(pk=program.pk).update(detection=entry.get("detection", {}))
    for place, version in enumerate(versions):
        fields = {"order": place, **version}
        SoftwareVersion.objects.get_or_create(software=program, code=str(fields.pop("code")), defaults=fields)


def _this_machine() -> None:
    region, _ = Region.objects.get_or_create(code="here", defaults={"name": "Here"})
    cores = settings.BACKENDS.get("local", {}).get("OPTIONS", {}).get("cores") or len(os.sched_getaffinity(0))
    known = {
        "name": "Local",
        "region": region,
        "backend": "local",
        "cores": cores,
        "memory": memory(),
        "max_nodes": cores,
        "price": PRICE,
        "disk_price": DISK_PRICE,
        "processor": processor(),
        "order": 0,
    }
    if "local" in settings.BACKENDS:
        Coretype.objects.get_or_create(code="local", defaults=known)
    for kind in Coretype.objects.filter(backend="local", active=True):
        Look.ask(kind)


def memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip()[:120] for line in lines if line.startswith("model name")), "")

"""From the JSON of a new job to a draft: every value checked, errors under the name of their field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from jobs.models import Coretype, Job, JobInput, Project, SoftwareVersion, StoredFile, Workload
from portal.forms import names

from .schemas import HardwareIn, JobAnalysisIn, JobIn

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
HOUR = 3600


def make(user: Any, asked: JobIn, key: str = "") -> Workload:
    """The draft; with `key` the same one every time. Raises ValidationError."""
    if key and (known := Workload.objects.filter(owner=user, submit_key=key).first()):
        return known
    analysis = asked.jobanalyses[0]
    values = {"name": names.clean_title(asked.name), "project": project_of(user, asked.projectId or asked.project_id)}
    values |= hardware_of(analysis.hardware)
    job = {"software": software_of(analysis), "commands": commands_of(analysis.command), "environment": environment_of(analysis.envVars)}
    uses = inputs_of(user, analysis)
    try:
        with transaction.atomic():
            work = Workload.objects.create(owner=user, submit_key=key, **values)
            made = Job.objects.create(workload=work, pipefail=analysis.pipefail, **job)
            JobInput.objects.bulk_create([JobInput(job=made, order=order, **use) for order, use in enumerate(uses)])
    except IntegrityError:
        return Workload.objects.get(owner=user, submit_key=key)
    return work


def project_of(user: Any, code: str | None) -> Project | None:
    """The named project, or one's only or first one."""
    mine = Project.objects.filter(active=True)
    if not user.is_staff:
        mine = mine.filter(memberships__user=user)
    if code is None:
        return Project.objects.filter(active=True, memberships__user=user).order_by("pk").first()
    found = mine.filter(code=code).first()
    if found is None:
        raise ValidationError({"projectId": [f"There is no project {code} that you may submit for."]})
    return found


def software_of(analysis: JobAnalysisIn) -> SoftwareVersion:
    """By code and by version code or version name; without a version the newest."""
    code, wanted = analysis.analysis.code, analysis.analysis.version
    versions = SoftwareVersion.objects.filter(software__code=code, software__active=True)
    named = (versions.filter(code=wanted).first() or versions.filter(name=wanted).first()) if wanted else None
    found = named if wanted else versions.first()
    if found is None:
        known = ", ".join(versions.values_list("code", flat=True)) or "none"
        raise ValidationError(
            {"jobanalyses.0.analysis": [f"There is no software {code} {wanted or ''}; its versions: {known}.".replace(" ;", ";")]}
        )
    return found


def hardware_of(asked: HardwareIn) -> dict[str, Any]:
    """Coretype, nodes, cores a node and walltime (s) from cores in all and hours."""
    where = "jobanalyses.0.hardware"
    kind = _coretype(asked, where)
    total = (asked.coresPerSlot or asked.cores or 1) * asked.slots
    nodes = asked.nodes or -(-total // kind.cores)
    cores = -(-total // nodes)
    if nodes > kind.max_nodes or cores > kind.cores:
        raise ValidationError({where: [f"{kind} has at most {kind.max_nodes} nodes of {kind.cores} cores; {total} cores were asked for."]})
    walltime = kind.walltime_default if asked.walltime is None else round(asked.walltime * HOUR)
    if not 60 <= walltime <= kind.walltime_max:
        raise ValidationError({f"{where}.walltime": [f"In hours, from 1 minute to {kind.walltime_max / HOUR:g} h."]})
    return {"coretype": kind, "nodes": nodes, "cores": cores, "walltime": walltime}


def _coretype(asked: HardwareIn, where: str) -> Coretype:
    code = asked.coreType.get("code") if isinstance(asked.coreType, dict) else asked.coreType
    kinds = Coretype.objects.filter(active=True)
    found = kinds.filter(code=str(code).replace("\0", "")).first() if code else kinds.order_by("price", "order").first()
    if found is None:
        raise ValidationError({f"{where}.coreType": [f"There is no coretype {code}; there are: {', '.join(k.code for k in kinds)}."]})
    return found


def commands_of(text: str) -> list[str]:
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not plain.strip() or "\0" in plain:
        raise ValidationError({"jobanalyses.0.command": ["Say what is to be run; a NUL byte cannot be part of it."]})
    return plain.split("\n")


def environment_of(asked: Mapping[str, str] | None) -> dict[str, str]:
    found = {}
    for name, value in (asked or {}).items():
        if not names.VARIABLE.match(name) or name.startswith(names.RESERVED) or "\0" in value:
            raise ValidationError({"jobanalyses.0.envVars": [f"{name!r} can't be set for a job."]})
        found[name] = value
    return found


def inputs_of(user: Any, analysis: JobAnalysisIn) -> list[dict[str, Any]]:
    uses, seen = [], set()
    for index, asked in enumerate(analysis.inputFiles):
        where = f"jobanalyses.0.inputFiles.{index}"
        file = StoredFile.objects.filter(public_id=asked.id.replace("\0", ""), owner=user, deleted__isnull=True).first()
        if file is None:
            raise ValidationError({where: [f"There is no file {asked.id} of yours."]})
        name = names.clean_path(asked.name or file.name)
        if name in seen:
            raise ValidationError({where: [f"Two inputs have the name {name}."]})
        seen.add(name)
        uses.append({"file": file, "name": name, "unpack": asked.decompress and name.lower().endswith(ARCHIVES)})
    return uses

"""From the JSON of a job to a draft: every value checked, errors under the name of their field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from jobs import stored
from jobs.models import Coretype, Job, JobInput, Project, Software, SoftwareVersion, Workload
from portal.forms import choices, names, within
from portal.forms.choices import Shape

from .schemas import AlternativeIn, CoretypeIn, HardwareIn, JobAnalysisIn, JobIn

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
HOUR, SHORTEST = 3600, 60
ECONOMY = "ON_DEMAND"
"""How older clients name work that may be interrupted; the other names mean the ordinary kind."""
Checked = TypeVar("Checked")


def make(user: Any, asked: JobIn) -> Workload:
    """A draft. Raises ValidationError."""
    analysis = asked.jobanalyses[0]
    values = {"name": title_of(asked.name), "project": project_of(user, asked.projectId or asked.project_id)}
    job = job_of(analysis)
    values |= hardware_of(analysis.hardware, user, job["software"].software)
    uses = inputs_of(user, analysis)
    economy = offered(values["coretype"], bool(asked.isLowPriority) or asked.billingPriorityValue == ECONOMY)
    shapes = shapes_of(analysis.hardware, values, user, job["software"].software, economy)
    with transaction.atomic(savepoint=False):
        work = Workload.objects.create(owner=user, economy=economy, **values)
        if len(shapes) > 1:
            work.accept(shapes)
        made = Job.objects.create(workload=work, description=asked.description or "", **job)
        JobInput.objects.bulk_create([JobInput(job=made, order=order, **use) for order, use in enumerate(uses)])
    return work


def just_made(work: Workload) -> Workload:
    """The same draft, of which is known without asking that it has no cluster and no tag yet."""
    work._prefetched_objects_cache = {"clusters": work.clusters.none()}  # type: ignore[attr-defined]
    work.job._prefetched_objects_cache = {"tags": work.job.tags.none()}
    return work


def remake(work: Workload, analysis: JobAnalysisIn, user: Any) -> None:
    """Another command, hardware and inputs for a draft. Raises ValidationError."""
    job, uses = job_of(analysis), inputs_of(work.owner, analysis)
    values = hardware_of(analysis.hardware, user, job["software"].software)
    economy = offered(values["coretype"], work.economy)
    shapes = shapes_of(analysis.hardware, {**values, "project": work.project}, user, job["software"].software, economy)
    with transaction.atomic():
        Workload.objects.filter(pk=work.pk).update(**values, economy=economy)
        work.accept(shapes)
        Job.objects.filter(pk=work.pk).update(**job)
        work.job.inputs.all().delete()
        JobInput.objects.bulk_create([JobInput(job=work.job, order=order, **use) for order, use in enumerate(uses)])


def offered(kind: Coretype, economy: bool) -> bool:
    """Economy where it is asked for and offered; else the ordinary kind, which the answer says."""
    return economy and kind.economy_price is not None


def refused(kind: Coretype, user: Any, software: Software) -> str:
    """Why this person may not run this software there; empty if they may, for which one query is enough."""
    return "" if _usable(user, software).filter(pk=kind.pk).exists() else kind.refuses(user, software)


def title_of(text: str) -> str:
    found = under("name", names.clean_title, text)
    if not found:
        raise ValidationError({"name": ["A job needs a name."]})
    return found


def under(field: str, check: Callable[[str], Checked], text: str) -> Checked:
    """What `check` makes of the text; what it refuses is said under the field's name."""
    try:
        return check(text)
    except ValidationError as error:
        raise ValidationError({field: error.messages}) from None


def project_of(user: Any, code: str | None) -> Project | None:
    """The named project, or one's only or first one."""
    mine = Project.objects.filter(active=True)
    if code is None:
        return mine.filter(memberships__user=user).order_by("pk").first()
    if not user.is_staff:
        mine = mine.filter(memberships__user=user)
    found = mine.filter(code=code).first()
    if found is None:
        raise ValidationError({"projectId": [f"There is no project {code} that you may submit for."]})
    return found


# --- private ----------------------------------------------------------------------------------------------------------
def job_of(analysis: JobAnalysisIn) -> dict[str, Any]:
    return {
        "software": _software(analysis),
        "commands": _commands(analysis.command),
        "environment": _environment(analysis.envVars),
        "pipefail": analysis.pipefail,
    }


def _software(analysis: JobAnalysisIn) -> SoftwareVersion:
    """By code and by version code or version name; without a version the newest."""
    code, wanted = analysis.analysis.code, analysis.analysis.version
    versions = SoftwareVersion.objects.filter(software__code=code, software__active=True).select_related("software")
    found = (versions.filter(code=wanted).first() or versions.filter(name=wanted).first()) if wanted else versions.first()
    if found is None:
        known = ", ".join(versions.values_list("code", flat=True))
        text = f"{code} has no version {wanted}; it has {known}." if known else f"There is no software {code}."
        raise ValidationError({"jobanalyses.0.analysis": [text]})
    return found


def hardware_of(asked: HardwareIn, user: Any, software: Software) -> dict[str, Any]:
    """Coretype, nodes, cores a node and walltime (s) from cores in all and hours; what this person may use for this software."""
    where = "jobanalyses.0.hardware"
    kind = _coretype(asked, where, user, software)
    total = (asked.coresPerSlot or asked.cores or 1) * asked.slots
    nodes = asked.nodes or -(-total // kind.cores)
    cores = -(-total // nodes)
    walltime = kind.walltime_default if asked.walltime is None else round(asked.walltime * HOUR)
    for name, message in within.beyond(kind, nodes=nodes, cores=cores, walltime=walltime):
        raise ValidationError({f"{where}.walltime" if name == "walltime" else where: [message]})
    if walltime < SHORTEST:
        raise ValidationError({f"{where}.walltime": ["In hours, at least 1 minute."]})
    return {"coretype": kind, "nodes": nodes, "cores": cores, "walltime": walltime}


def shapes_of(asked: HardwareIn, values: Mapping[str, Any], user: Any, software: Software, economy: bool) -> list[Shape]:
    """The hardware that it may have, in order; what no limit would ever let start is refused."""
    where, first = "jobanalyses.0.hardware", (values["coretype"], values["nodes"], values["cores"])
    found = [(where, first)]
    for index, one in enumerate(asked.alternatives):
        place = f"{where}.alternatives.{index}"
        found.append((place, _alternative(one, place, first, values["walltime"], user, software)))
        if economy and found[-1][1][0].economy_price is None:
            raise ValidationError({f"{place}.coreType": [f"{found[-1][1][0]} is not offered as economy."]})
    for place, shape in found:
        if why := choices.too_many_at_once(user, values.get("project"), shape):
            raise ValidationError({place: [why]})
    shapes = [shape for _, shape in found]
    if len(set(shapes)) < len(shapes):
        raise ValidationError({f"{where}.alternatives": ["Two of them are the same."]})
    return shapes


def _alternative(asked: AlternativeIn, where: str, first: Shape, walltime: int, user: Any, software: Software) -> Shape:
    kind = _coretype(asked, where, user, software)
    total = asked.cores or first[1] * first[2]
    nodes = asked.nodes or -(-total // kind.cores)
    cores = -(-total // nodes)
    for name, message in within.beyond(kind, nodes=nodes, cores=cores, walltime=walltime):
        raise ValidationError({where if name != "walltime" else f"{where}.coreType": [message]})
    return kind, nodes, cores


def _coretype(asked: HardwareIn | AlternativeIn, where: str, user: Any, software: Software) -> Coretype:
    """The named one, or the cheapest that this person may use for this software."""
    code = asked.coreType.code if isinstance(asked.coreType, CoretypeIn) else asked.coreType
    usable = _usable(user, software)
    found = (usable.filter(code=code) if code else usable.order_by("price", "order")).first()
    if found is None:
        raise ValidationError({f"{where}.coreType": [_why_none(code, user, software)]})
    return found


def _usable(user: Any, software: Software) -> QuerySet[Coretype]:
    return Coretype.objects.offered_to(user).filter(Q(software__isnull=True) | Q(software=software))


def _why_none(code: str | None, user: Any, software: Software) -> str:
    if not code:
        return f"No hardware is offered to you for {software}."
    known = Coretype.objects.filter(active=True, code=code).first()
    codes = ", ".join(kind.code for kind in Coretype.objects.offered_to(user))
    return (known.refuses(user, software) if known else "") or f"There is no coretype {code}; there are: {codes}."


def _commands(text: str) -> list[str]:
    plain = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not plain.strip():
        raise ValidationError({"jobanalyses.0.command": ["Say what is to be run."]})
    return plain.split("\n")


def _environment(asked: Mapping[str, str] | None) -> dict[str, str]:
    for name in asked or {}:
        if not names.VARIABLE.match(name) or name.startswith(names.RESERVED):
            raise ValidationError({"jobanalyses.0.envVars": [f"{name[:80]!r} can't be set for a job."]})
    return dict(asked or {})


def inputs_of(user: Any, analysis: JobAnalysisIn) -> list[dict[str, Any]]:
    """Files of the owner, under the names that they get in the job folder; in one query."""
    mine = stored.files_of(user).filter(public_id__in={asked.id for asked in analysis.inputFiles})
    known = {file.public_id: file for file in mine}
    uses: list[dict[str, Any]] = []
    seen: set[str] = set()
    for index, asked in enumerate(analysis.inputFiles):
        where, file = f"jobanalyses.0.inputFiles.{index}", known.get(asked.id)
        if file is None:
            raise ValidationError({where: [f"There is no file {asked.id} of yours."]})
        name = under(where, names.clean_path, asked.name or file.name)
        if name in seen:
            raise ValidationError({where: [f"Two inputs have the name {name}."]})
        seen.add(name)
        uses.append({"file": file, "name": name, "unpack": asked.decompress and name.lower().endswith(ARCHIVES)})
    return uses

"""Finding a job for a caller: 404 for strangers, 403 for those who may look but not touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja.errors import HttpError

from jobs.models import Cluster, Tag, Workload

RELATED = ("owner", "project", "coretype", "job__software__software")
OF_WORK = "public_id kind name owner status wish attempt outcome reason detail failed_stage gate_text made archived"
OF_CLUSTER = "workload attempt exit asked created up releasing released trouble"
SHOWN = (*OF_WORK.split(), "owner__username", "owner__email", "job__verdict", "job__software__software__name")
"""Columns that a list shows; the others are long, and fifty times too much."""
CLUSTERS, TAGS = "known_clusters", "known_tags"
"""Where a job in memory keeps its own."""


def listed(request: HttpRequest) -> QuerySet[Workload]:
    """All jobs that the caller may see, with what showing them in short needs and no more; the rest is `gather`'s."""
    return in_short(Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB))


def in_short(rows: QuerySet[Workload]) -> QuerySet[Workload]:
    return rows.select_related("owner", "job__software__software").only(*SHOWN)


def gather(works: Sequence[Workload]) -> None:
    """Clusters and tags of many jobs, a query each; a prefetch makes a queryset for each job, which costs more than the rest."""
    known = {work.pk: work for work in works}
    for work in works:
        work.__dict__ |= {CLUSTERS: [], TAGS: []}
    for cluster in Cluster.objects.filter(workload__in=known).only(*OF_CLUSTER.split()).order_by("-attempt"):
        known[cluster.workload_id].__dict__[CLUSTERS].append(cluster)
    for pk, name in Tag.objects.filter(job__in=known).order_by("pk").values_list("job_id", "name"):
        known[pk].__dict__[TAGS].append(name)


def clusters_of(work: Workload) -> list[Cluster]:
    """Its clusters, newest first, asked for once an object."""
    if CLUSTERS not in work.__dict__:
        work.__dict__[CLUSTERS] = sorted(work.clusters.all(), key=lambda one: -one.attempt)
    found: list[Cluster] = work.__dict__[CLUSTERS]
    return found


def tags_of(work: Workload) -> list[str]:
    return work.__dict__[TAGS] if TAGS in work.__dict__ else [tag.name for tag in work.job.tags.all()]


def glimpsed(request: HttpRequest, public_id: str) -> Workload:
    """The job with this id: whose it is and at which version, no more. Raises Http404."""
    return _one(request, Workload.objects.only("public_id", "owner", "version", "kind"), public_id)


def visible(request: HttpRequest, public_id: str) -> Workload:
    """The job with this id, whole. Raises Http404."""
    return _one(request, Workload.objects.select_related(*RELATED).prefetch_related("clusters"), public_id)


def changeable(request: HttpRequest, public_id: str) -> Workload:
    """A job that the caller may stop, change and delete. Raises Http404 or HttpError(403)."""
    work = _one(request, Workload.objects.select_related(*RELATED), public_id)
    if not work.may_change(request.user):
        raise HttpError(403, "Only its owner, a lead of its project or an admin may do that.")
    return work


def _one(request: HttpRequest, rows: QuerySet[Workload], public_id: str) -> Workload:
    """One's own is found by its id alone; who else may see it, `visible_to` says."""
    work = next(iter(rows.filter(public_id=public_id, kind=Workload.Kind.JOB)), None)
    user: Any = request.user
    if work is None or (work.owner_id != user.pk and not Workload.objects.visible_to(user).filter(pk=work.pk).exists()):
        raise Http404("There is no such job.")
    return work

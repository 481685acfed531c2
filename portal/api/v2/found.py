"""Finding a job for a caller: 404 for strangers, 403 for those who may look but not touch."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest
from ninja.errors import HttpError

from jobs.models import Cluster, Workload

RELATED = ("owner", "project", "coretype", "job__software__software")
OF_WORK = "public_id kind name owner status wish attempt outcome reason detail failed_stage gate_text made archived"
OF_CLUSTER = "workload attempt exit asked created up releasing released trouble"
SHOWN = (*OF_WORK.split(), "owner__username", "owner__email", "job__verdict", "job__software__software__name")
"""Columns that a list shows; the others are long, and fifty times too much."""


def listed(request: HttpRequest) -> QuerySet[Workload]:
    """All jobs that the caller may see, with what showing them in short needs and no more."""
    clusters = Prefetch("clusters", Cluster.objects.only(*OF_CLUSTER.split()))
    rows = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB)
    return rows.select_related("owner", "job__software__software").only(*SHOWN).prefetch_related(clusters)


def in_short(request: HttpRequest, public_id: str) -> Workload:
    """The job with this id, for its statuses. Raises Http404."""
    return _one(listed(request), public_id)


def visible(request: HttpRequest, public_id: str) -> Workload:
    """The job with this id, whole. Raises Http404."""
    rows = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB)
    return _one(rows.select_related(*RELATED).prefetch_related("clusters"), public_id)


def changeable(request: HttpRequest, public_id: str) -> Workload:
    """A job that the caller may stop, change and delete. Raises Http404 or HttpError(403)."""
    work = visible(request, public_id)
    if not work.may_change(request.user):
        raise HttpError(403, "Only its owner, a lead of its project or an admin may do that.")
    return work


def _one(rows: QuerySet[Workload], public_id: str) -> Workload:
    work = rows.filter(public_id=public_id).first()
    if work is None:
        raise Http404("There is no such job.")
    return work

"""Finding a job for a caller: 404 for strangers, 403 for those who may look but not touch."""

from __future__ import annotations

from typing import Any

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
    return in_short(Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB))


def in_short(rows: QuerySet[Workload]) -> QuerySet[Workload]:
    clusters = Prefetch("clusters", Cluster.objects.only(*OF_CLUSTER.split()))
    return rows.select_related("owner", "job__software__software").only(*SHOWN).prefetch_related(clusters)


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

"""Finding a job for a caller: 404 for strangers, 403 for those who may look but not touch."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja.errors import HttpError

from jobs.models import Workload

RELATED = ("owner", "project", "coretype", "job__software__software")


def all_visible(request: HttpRequest) -> QuerySet[Workload]:
    """All jobs that the caller may see, with what showing them needs."""
    rows = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB)
    return rows.select_related(*RELATED).prefetch_related("clusters", "job__tags")


def visible(request: HttpRequest, public_id: str) -> Workload:
    """The job with this id. Raises Http404."""
    work = all_visible(request).filter(public_id=public_id).first()
    if work is None:
        raise Http404("There is no such job.")
    return work


def changeable(request: HttpRequest, public_id: str) -> Workload:
    """A job that the caller may stop, change and delete. Raises Http404 or HttpError(403)."""
    work = visible(request, public_id)
    if not work.may_change(request.user):
        raise HttpError(403, "Only its owner, a lead of its project or an admin may do that.")
    return work

"""Finding a job for a caller: 404 for strangers, 403 for those who may look but not touch."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja.errors import HttpError

from jobs.models import Workload

RELATED = ("owner", "project", "coretype", "job__software__software")


def visible(request: HttpRequest, public_id: str | None = None) -> Any:
    """All jobs that the caller may see, or the one named. Raises Http404."""
    rows: QuerySet[Workload] = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB).select_related(*RELATED)
    if public_id is None:
        return rows
    work = rows.filter(public_id=public_id.replace("\0", "")).first()
    if work is None:
        raise Http404("There is no such job.")
    return work


def changeable(request: HttpRequest, public_id: str) -> Workload:
    """A job that the caller may stop, change and delete. Raises Http404 or HttpError(403)."""
    work: Workload = visible(request, public_id)
    if not work.may_change(request.user):
        raise HttpError(403, "Only its owner, a lead of its project or an admin may do that.")
    return work

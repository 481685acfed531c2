"""Who may see and who may change: strangers get 404, members without the right get 403."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from jobs.models import Workload
from jobs.models.roles import only_looks


def jobs_seen_by(user: object) -> QuerySet[Workload]:
    """Every job that `user` may see, with what its pages show."""
    query = Workload.objects.visible_to(user).filter(kind=Workload.Kind.JOB)
    return query.select_related(
        "job__software__software", "job__checked", "coretype__region", "project", "owner", "wished_by"
    ).prefetch_related("clusters")


def job_seen(request: HttpRequest, public_id: str) -> Workload:
    """The job, or 404 for those who may not know of it."""
    work = jobs_seen_by(request.user).filter(public_id=public_id).first()
    if work is None:
        raise Http404("There is no such job, or it is not yours to see.")
    return work


def job_changed(request: HttpRequest, public_id: str) -> Workload:
    """The job for somebody who may stop, archive and delete it."""
    work = job_seen(request, public_id)
    if not work.may_change(request.user):
        raise PermissionDenied("Only its owner, a lead of its project and admins may do this.")
    return work


def workstation_seen(request: HttpRequest, public_id: str) -> Workload:
    """The workstation, or 404 for those who may not know of it."""
    query = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.WORKSTATION, public_id=public_id)
    found = query.select_related("workstation__kind", "coretype__region", "project", "owner", "wished_by")
    work = found.prefetch_related("clusters__nodes", "disk_uses").first()
    if work is None:
        raise Http404("There is no such workstation, or it is not yours to see.")
    return work


def workstation_changed(request: HttpRequest, public_id: str) -> Workload:
    """The workstation for somebody who may suspend, resume and end it."""
    work = workstation_seen(request, public_id)
    if not work.may_change(request.user):
        raise PermissionDenied("Only its owner, a lead of its project and admins may do this.")
    return work


def workstation_owned(request: HttpRequest, public_id: str) -> Workload:
    """The workstation for its owner alone: what is in its home is theirs."""
    work = workstation_seen(request, public_id)
    if work.owner != request.user:
        raise PermissionDenied("Only its owner may do this.")
    return work


def may_make(request: HttpRequest) -> None:
    """Refuses those who only look, before they make anything of their own."""
    if only_looks(request.user):
        raise PermissionDenied("Auditors see everything and change nothing.")


def address(request: HttpRequest) -> str | None:
    """Where the request came from, for the audit log."""
    return request.META.get("REMOTE_ADDR") or None

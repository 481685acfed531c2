"""The list of jobs and the pages of one job. What they show comes from the presenters; each view only chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from jobs import lifecycle
from jobs.models import Membership, Project, Software, SoftwareVersion, Workload
from jobs.models.roles import sees_all
from jobs.models.workload import WorkloadQuerySet
from portal.numbers import whole
from portal.presenters import course, files, output, rows, settings
from portal.presenters.facts import Facts

from . import tabs
from .access import job_seen
from .counting import counted
from .paging import page_of

PAGE = 25
TEMPLATES = {"file": "files"}  # pages that another one's template shows
VIEWS = {"all": "All", "active": "Active", "mine": "Mine", "archived": "Archived"}


@dataclass(frozen=True)
class Asked:
    """What the list is to show, as the address says it."""

    view: str
    q: str
    status: str
    software: str
    project: str

    @classmethod
    def of(cls, request: HttpRequest) -> Asked:
        get = {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in ("view", "q", "status", "software", "project")}
        return cls(**{**get, "view": get["view"] if get["view"] in VIEWS else "all"})

    @property
    def kept(self) -> dict[str, str]:
        """What goes along in addresses."""
        return {**self.__dict__, "view": "" if self.view == "all" else self.view}

    def address(self, **more: str) -> str:
        return "?" + urlencode({name: value for name, value in {**self.kept, **more}.items() if value})

    @property
    def filtered(self) -> bool:
        return bool(self.q or self.status or self.software or self.project)


@login_required
@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    asked = Asked.of(request)
    found = _found(asked, request.user)
    page = page_of(found, request, PAGE, rows.loaded, **asked.kept)
    context = {
        "rows": page.rows,
        "asked": asked,
        "count": counted(found, page),
        "newer": page.newer,
        "older": page.older,
        "views": _views(asked),
        "statuses": lifecycle.JOB.rows.values(),
        "software": Software.objects.filter(active=True),
        "projects": _projects(request.user),
        "ids": ",".join(row.public_id for row in page.rows),
    }
    if request.htmx and request.htmx.target == "jobs-list":  # type: ignore[attr-defined]
        return render(request, "jobs/_list.html", context)
    first = page.whole and not page.rows and asked.view == "all" and not asked.filtered and not _visible(request.user).exists()
    return render(request, "jobs/first.html" if first else "jobs/list.html", context)


@login_required
@require_safe
def status(request: HttpRequest, public_id: str) -> HttpResponse:
    return _tab(request, public_id, "status")


@login_required
@require_safe
def live_output(request: HttpRequest, public_id: str) -> HttpResponse:
    asked = {"stream": request.GET.get("stream", ""), "attempt": request.GET.get("attempt", "")}
    return _tab(request, public_id, "output", output=lambda facts: output.shown(facts, **asked))


@login_required
@require_safe
def job_files(request: HttpRequest, public_id: str) -> HttpResponse:
    search = request.GET.get("q", "").replace("\0", "")[:200]
    start = whole(request.GET.get("start", "")) or 0
    page = "file" if search or start else "files"  # a push would bring the first page of all of them
    return _tab(request, public_id, page, inputs=files.inputs, outputs=lambda facts: files.outputs(facts, search, start))


@login_required
@require_safe
def job_health(request: HttpRequest, public_id: str) -> HttpResponse:
    data, live = reverse("job-health-data", args=[public_id]), f"/live/jobs/{public_id}/health/"
    return _tab(request, public_id, "health", **tabs.charts(data, live, lambda facts: facts.is_over))


@login_required
@require_safe
def health_data(request: HttpRequest, public_id: str) -> HttpResponse:
    return tabs.series(request, Facts(job_seen(request, public_id)))


@login_required
@require_safe
def series(request: HttpRequest, public_id: str) -> HttpResponse:
    """The points of the chart that grows; the page asks again when it hears that there are more."""
    return JsonResponse(course.chart(Facts(job_seen(request, public_id))))


@login_required
@require_safe
def timeline(request: HttpRequest, public_id: str) -> HttpResponse:
    return _tab(request, public_id, "timeline")


@login_required
@require_safe
def job_settings(request: HttpRequest, public_id: str) -> HttpResponse:
    manage = lambda facts: facts.work.may_change(request.user) and not facts.work.is_active  # noqa: E731
    return _tab(request, public_id, "settings", asked=settings.asked, manage=manage)


# --- private ----------------------------------------------------------------------------------------------------------
def _tab(request: HttpRequest, public_id: str, page: str, **more: Any) -> HttpResponse:
    return tabs.shown(request, Facts(job_seen(request, public_id)), page, f"jobs/{TEMPLATES.get(page, page)}.html", more)


def _visible(user: Any) -> WorkloadQuerySet:
    return Workload.objects.visible_to(user).filter(kind=Workload.Kind.JOB)


def _found(asked: Asked, user: Any) -> WorkloadQuerySet:
    found = _whose(asked, user).filter(archived=asked.view == "archived")
    if asked.view == "active":
        found = found.filter(status__in=lifecycle.ACTIVE_CODES)
    if asked.status in lifecycle.JOB:
        found = found.filter(status=asked.status)
    if asked.software:
        versions = SoftwareVersion.objects.filter(software__code=asked.software).values_list("pk", flat=True)
        found = found.filter(job__software__in=list(versions))
    return found.named(asked.q, user) if asked.q else found


def _whose(asked: Asked, user: Any) -> WorkloadQuerySet:
    """One's own jobs and those of one's own project are visible anyhow: asked about that too, a database expects far too few."""
    jobs = Workload.objects.filter(kind=Workload.Kind.JOB)
    projects = list(Project.objects.filter(code=asked.project).values_list("pk", flat=True)) if asked.project else []
    if asked.project:
        jobs = jobs.filter(project__in=projects)
    if asked.view == "mine":
        return jobs.filter(owner=user)
    return jobs if Membership.objects.filter(user=user, project__in=projects).exists() else jobs.visible_to(user)


def _projects(user: Any) -> QuerySet[Project]:
    """Those that have jobs; a person's own, or all for those who see all. No look at each job: there may be a million."""
    used = Project.objects.filter(Exists(Workload.objects.filter(project=OuterRef("pk"))))
    return used if sees_all(user) else used.filter(memberships__user=user)


def _views(asked: Asked) -> list[tuple[str, str, bool]]:
    return [(word, asked.address(view="" if code == "all" else code), code == asked.view) for code, word in VIEWS.items()]


urlpatterns = [
    path("", listing, name="jobs"),
    path("<str:public_id>/", status, name="job"),
    path("<str:public_id>/output/", live_output, name="job-output"),
    path("<str:public_id>/files/", job_files, name="job-files"),
    path("<str:public_id>/health/", job_health, name="job-health"),
    path("<str:public_id>/health/data/", health_data, name="job-health-data"),
    path("<str:public_id>/series/", series, name="job-series"),
    path("<str:public_id>/timeline/", timeline, name="job-timeline"),
    path("<str:public_id>/settings/", job_settings, name="job-settings"),
]

"""The list of jobs and the pages of one job. What they show comes from the presenters; each view only chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.db import connection
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from jobs import lifecycle
from jobs.models import Project, Software, Workload
from portal import fragments, words
from portal.presenters import course, files, health, output, rows, settings
from portal.presenters.facts import Facts

from .access import job_seen

PAGE = 25
EXACT = 10_000
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

    def address(self, **more: Any) -> str:
        pairs = {**self.__dict__, **more}
        return "?" + urlencode({name: value for name, value in pairs.items() if value and (name, value) != ("view", "all")})

    @property
    def filtered(self) -> bool:
        return bool(self.q or self.status or self.software or self.project)


@login_required
@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    asked = Asked.of(request)
    seen = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.JOB)
    found = _filtered(seen, asked, request.user)
    page, newer, older = _page(found, request)
    context = {
        "rows": rows.loaded(page),
        "asked": asked,
        "count": _count(found),
        "newer": newer and asked.address(after=newer),
        "older": older and asked.address(before=older),
        "views": _views(asked),
        "statuses": lifecycle.JOB.rows.values(),
        "software": Software.objects.filter(active=True),
        "projects": Project.objects.filter(workloads__in=seen).distinct(),
        "ids": ",".join(work.public_id for work in page),
    }
    if request.htmx and request.htmx.target == "jobs-list":  # type: ignore[attr-defined]
        return render(request, "jobs/_list.html", context)
    first = not page and asked.view == "all" and not asked.filtered and not seen.exists()
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
    start = int(request.GET["start"]) if request.GET.get("start", "").isdecimal() else 0
    page = "file" if search or start else "files"  # a push would bring the first page of all of them
    return _tab(request, public_id, page, inputs=files.inputs, outputs=lambda facts: files.outputs(facts, search, start))


@login_required
@require_safe
def job_health(request: HttpRequest, public_id: str) -> HttpResponse:
    more = {"charts": lambda facts: health.CHARTS, "live_url": lambda facts: "" if facts.is_over else f"/live/jobs/{public_id}/health/"}
    return _tab(request, public_id, "health", **more, health_url=lambda facts: reverse("job-health-data", args=[public_id]))


@login_required
@require_safe
def health_data(request: HttpRequest, public_id: str) -> HttpResponse:
    """The series of the charts so far; what comes later comes over the socket."""
    facts = Facts(job_seen(request, public_id))
    try:
        since = float(request.GET.get("since", "0"))
    except ValueError:
        since = 0.0
    return JsonResponse({"nodes": health.series(facts, since), "now": facts.now.timestamp()})


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
    """One page of a job: its fragments, and what else the page shows."""
    facts = Facts(job_seen(request, public_id))
    context = fragments.context_of(facts, request.user, page)
    context |= {name: show(facts) for name, show in more.items()}
    return render(request, f"jobs/{TEMPLATES.get(page, page)}.html", context)


def _filtered(seen: QuerySet[Workload], asked: Asked, user: Any) -> QuerySet[Workload]:
    found = seen.filter(archived=asked.view == "archived")
    if asked.view == "active":
        found = found.filter(status__in=lifecycle.ACTIVE_CODES)
    if asked.view == "mine":
        found = found.filter(owner=user)
    if asked.status in lifecycle.JOB:
        found = found.filter(status=asked.status)
    if asked.software:
        found = found.filter(job__software__software__code=asked.software)
    if asked.project:
        found = found.filter(project__code=asked.project)
    if asked.q:
        found = found.filter(Q(name__icontains=asked.q) | Q(public_id__iexact=asked.q))
    return found


def _page(found: QuerySet[Workload], request: HttpRequest) -> tuple[list[Workload], str, str]:
    """A page by key, with the keys of its neighbours: newest first, never by OFFSET."""
    before, after = (_key(request.GET.get(name, "")) for name in ("before", "after"))
    query = rows.with_rows(found)
    if after is not None:
        page = list(query.filter(pk__gt=after).order_by("pk")[: PAGE + 1])
        more_newer, page = len(page) > PAGE, page[:PAGE][::-1]
        return page, str(page[0].pk) if page and more_newer else "", str(page[-1].pk) if page else ""
    if before is not None:
        query = query.filter(pk__lt=before)
    page = list(query.order_by("-pk")[: PAGE + 1])
    more_older, page = len(page) > PAGE, page[:PAGE]
    return page, str(page[0].pk) if page and before is not None else "", str(page[-1].pk) if more_older else ""


def _key(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _count(found: QuerySet[Workload]) -> str:
    """Exact up to EXACT; above it what the planner expects, where the database has one that says so."""
    exact = found.order_by()[: EXACT + 1].count()
    if exact <= EXACT:
        return words.count(exact)
    if connection.vendor == "postgresql":
        plan = found.order_by().values("pk").explain(format="json")
        return f"about {words.count(_planned(plan))}"
    return f"over {words.count(EXACT)}"


def _planned(plan: str) -> int:
    import json

    return max(EXACT, int(json.loads(plan)[0]["Plan"]["Plan Rows"]))


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

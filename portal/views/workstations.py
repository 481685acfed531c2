"""The list of workstations and the pages of one. What they show comes from the presenters; each view only chooses."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from jobs import lifecycle
from jobs.models import Workload, WorkstationKind
from portal.presenters.workstations import asking, rows
from portal.presenters.workstations.facts import WorkstationFacts
from portal.relay import apps

from . import tabs
from .access import workstation_owned, workstation_seen
from .paging import page_of, searched

PAGE = 25
VIEWS = {"": "Open", "mine": "Mine", "over": "Ended", "all": "All"}
OPEN = [*lifecycle.ACTIVE_CODES, lifecycle.SUSPENDED, lifecycle.DRAFT]


@login_required
@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    view, q = request.GET.get("view", ""), searched(request)
    view = view if view in VIEWS else ""
    seen = Workload.objects.visible_to(request.user).filter(kind=Workload.Kind.WORKSTATION)
    page = page_of(rows.with_rows(_filtered(seen, view, q, request.user)), request, PAGE, view=view, q=q)
    context = {
        "rows": rows.loaded(page.rows, request.user), "newer": page.newer, "older": page.older, "view": view, "q": q,
        "views": [(word, f"?view={code}" if code else "?", code == view) for code, word in VIEWS.items()],
        "ids": ",".join(work.public_id for work in page.rows), "any": bool(page.rows) or seen.exists(),
        "kinds": WorkstationKind.objects.offered_to(request.user), "icons": asking.ICONS,
    }  # fmt: skip
    part = request.htmx and request.htmx.target == "workstations-list"  # type: ignore[attr-defined]
    return render(request, f"workstations/{'_list' if part else 'list'}.html", context)


@login_required
@require_safe
def status(request: HttpRequest, public_id: str) -> HttpResponse:
    return tab(request, public_id, "status")


@login_required
@require_safe
def health_page(request: HttpRequest, public_id: str) -> HttpResponse:
    data, live = reverse("workstation-health-data", args=[public_id]), f"/live/workstations/{public_id}/health/"
    return tab(request, public_id, "health", **tabs.charts(data, live, lambda facts: not facts.ready))


@login_required
@require_safe
def health_data(request: HttpRequest, public_id: str) -> HttpResponse:
    return tabs.series(request, WorkstationFacts(workstation_seen(request, public_id)))


@login_required
@require_safe
def timeline(request: HttpRequest, public_id: str) -> HttpResponse:
    return tab(request, public_id, "timeline")


@login_required
@require_safe
def settings(request: HttpRequest, public_id: str) -> HttpResponse:
    return tab(request, public_id, "settings", rules=lambda facts: asking.rules(facts.kind))


@login_required
@require_safe
def open_app(request: HttpRequest, public_id: str) -> HttpResponse:
    """JupyterLab in a tab of its own, on the host name where applications live: a fresh ticket each time."""
    facts = WorkstationFacts(workstation_owned(request, public_id))
    if not facts.ready:
        return redirect("workstation", public_id)
    where = apps.address(request, facts.name)
    if not where:
        return render(request, "workstations/no_apps.html", {"work": facts.work}, status=409)
    answer = HttpResponse(status=303)
    answer["Location"] = where
    answer["Referrer-Policy"] = "no-referrer"
    return answer


def tab(request: HttpRequest, public_id: str, page: str, **more: Any) -> HttpResponse:
    """One page of a workstation."""
    return tabs.shown(request, WorkstationFacts(workstation_seen(request, public_id)), page, f"workstations/{page}.html", more)


# --- private ----------------------------------------------------------------------------------------------------------
def _filtered(seen: Any, view: str, q: str, user: Any) -> Any:
    found = seen.filter(status__in=lifecycle.REST_CODES) if view == "over" else seen
    if view in ("", "mine"):
        found = found.filter(status__in=OPEN)
    if view == "mine":
        found = found.filter(owner=user)
    return found.filter(name__icontains=q) if q else found


urlpatterns = [
    path("", listing, name="workstations"),
    path("<str:public_id>/", status, name="workstation"),
    path("<str:public_id>/health/", health_page, name="workstation-health"),
    path("<str:public_id>/health/data/", health_data, name="workstation-health-data"),
    path("<str:public_id>/timeline/", timeline, name="workstation-timeline"),
    path("<str:public_id>/settings/", settings, name="workstation-settings"),
    path("<str:public_id>/open/", open_app, name="workstation-open"),
]

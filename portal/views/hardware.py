"""Hardware, to be looked at: what there is, what it costs, what is free now. Admins see the clusters and decide on strays."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from jobs import hardware
from jobs.models import AuditEntry, Limit, Stray, WorkstationKind
from jobs.models.roles import is_admin, sees_all
from portal.presenters import hardware as shown
from portal.presenters import installed
from portal.presenters.workstations.asking import rules

from .access import address
from .asking import ask


@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The page; with htmx the part of it that changes."""
    now, admin = timezone.now(), sees_all(request.user)
    context: dict[str, Any] = {"page": shown.page(now, admin), "admin": admin, "acts": is_admin(request.user)}
    context |= {"strays": hardware.strays(), "past_strays": shown.past_strays()} if admin else {}
    if request.htmx and request.htmx.target == "hardware-now":  # type: ignore[attr-defined]
        return render(request, "hardware/_now.html", {**context, "oob": True})
    context |= {"day": shown.day(now), "about": hardware.about()}
    context |= {"shelves": (shelves := installed.shelves()), "waits": installed.waits(shelves)}
    context["limits"] = Limit.objects.concerning(request.user)
    context["kinds"] = [(kind, rules(kind)) for kind in WorkstationKind.objects.all()] if admin else []
    return render(request, "hardware/hardware.html", context)


@login_required
@require_safe
def day(request: HttpRequest) -> HttpResponse:
    """The last day alone, for the page that stays open."""
    return render(request, "hardware/_day.html", {"day": shown.day(timezone.now())})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def stray(request: HttpRequest, pk: int) -> HttpResponse:
    """An admin's decision on a machine that nobody here knows: GET asks before it is destroyed, POST decides."""
    if not is_admin(request.user):
        raise PermissionDenied("Only admins decide this.")
    found, decision = get_object_or_404(Stray, pk=pk), request.POST.get("decision", "")
    if request.method != "POST":
        return ask(request, shown.destroy(found))
    if decision not in hardware.DECISIONS:
        messages.error(request, "Choose keep or destroy.")
        return redirect("hardware")
    with transaction.atomic():
        done = hardware.decide(found, decision)
        if done:
            AuditEntry.note(request.user, f"{decision} stray", found.token, address(request), backend=found.backend)
    words = {"destroy": "will be destroyed with the next comparison", "keep": "is kept"}[decision]
    messages.info(request, f"{found.token} {words}." if done else f"{found.token} is gone already; nothing was changed.")
    return redirect("hardware")


urlpatterns = [
    path("hardware/", page, name="hardware"),
    path("hardware/day/", day, name="hardware-day"),
    path("hardware/strays/<int:pk>/", stray, name="stray"),
]

"""What software the hardware has: a fragment of the hardware page, and an admin's wish to look again."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from jobs.models import AuditEntry, Coretype, Look
from jobs.models.roles import is_admin
from portal.presenters import installed as shown

from .access import address


@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The part of the page, asked for again while a look waits."""
    return _fragment(request)


@login_required
@require_POST
def look(request: HttpRequest, code: str) -> HttpResponse:
    """Writes the wish down; the engine looks."""
    if not is_admin(request.user):
        raise PermissionDenied("Only admins ask what software there is.")
    kind = get_object_or_404(Coretype, code=code)
    with transaction.atomic():
        Look.ask(kind)
        AuditEntry.note(request.user, "look for software", kind, address(request), code=code)
    return _fragment(request) if request.htmx else redirect("hardware")  # type: ignore[attr-defined]


def _fragment(request: HttpRequest) -> HttpResponse:
    shelves = shown.shelves()
    return render(request, "hardware/_installed.html", {"shelves": shelves, "waits": shown.waits(shelves), "acts": is_admin(request.user)})


urlpatterns = [
    path("hardware/software/", page, name="hardware-software"),
    path("hardware/coretypes/<slug:code>/look/", look, name="coretype-look"),
]

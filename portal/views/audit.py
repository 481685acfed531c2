"""The audit log: who changed what, from what to what, when, from where. To be looked at by admins and auditors only."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from jobs.models.roles import sees_all
from portal import sheets
from portal.presenters import audit as shown

from .paging import page_of


@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    _auditors(request)
    asked = shown.asked(request.GET)
    found = page_of(shown.entries(asked), request, **asked.kept)
    rows = [shown.row(entry) for entry in found.rows]
    context = {"rows": rows, "asked": asked, "actions": shown.actions(), "newer": found.newer, "older": found.older}
    return render(request, "account/audit.html", context)


@login_required
@require_safe
def table(request: HttpRequest) -> HttpResponseBase:
    """The same for a spreadsheet, a line for each value."""
    _auditors(request)
    return sheets.answer("audit.csv", shown.HEAD, shown.entries(shown.asked(request.GET)), shown.cells, many=True)


def _auditors(request: HttpRequest) -> None:
    if not sees_all(request.user):
        raise PermissionDenied("Only admins and auditors read the audit log.")


urlpatterns = [
    path("audit/", page, name="audit"),
    path("audit/audit.csv", table, name="audit-csv"),
]

"""Help. What it says of statuses, endings and exit codes comes from the tables that the engine itself goes by."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from portal.presenters import help as shown


@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    return render(request, "help/help.html", shown.page())


urlpatterns = [path("help/", page, name="help")]

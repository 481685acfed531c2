"""What the pages of a job and those of a workstation have in common: the fragments of one page, and the charts of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from portal import fragments
from portal.presenters import health


def shown(request: HttpRequest, facts: Any, page: str, template: str, more: dict[str, Callable[[Any], Any]]) -> HttpResponse:
    """Its fragments, and what else the page shows."""
    context = fragments.context_of(facts, request.user, page)
    return render(request, template, context | {name: show(facts) for name, show in more.items()})


def charts(data: str, live: str, ends: Callable[[Any], bool]) -> dict[str, Callable[[Any], Any]]:
    """Of the health page: where its history is, and its socket unless nothing more comes."""
    return {"charts": lambda facts: health.CHARTS, "health_url": lambda facts: data, "live_url": lambda facts: "" if ends(facts) else live}


def series(request: HttpRequest, facts: Any) -> JsonResponse:
    """The series of the charts so far, or since a moment; what comes later comes over the socket."""
    try:
        since = float(request.GET.get("since", "0"))
    except ValueError:
        since = 0.0
    return JsonResponse({"nodes": health.series(facts, since), "now": facts.now.timestamp()})

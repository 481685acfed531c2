"""A question before something goes: in the page's dialog, or on a page of its own without JavaScript; and where to go after."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from portal.presenters.values import Question


def ask(request: HttpRequest, question: Question) -> HttpResponse:
    template = "jobs/_ask.html" if request.headers.get("HX-Request") else "jobs/ask.html"
    return render(request, template, {"question": question})


def went(request: HttpRequest, where: str) -> HttpResponse:
    """Go there, with htmx or without."""
    if request.htmx:  # type: ignore[attr-defined]
        answer = HttpResponse(status=204)
        answer["HX-Redirect"] = where
        return answer
    return HttpResponseRedirect(where)

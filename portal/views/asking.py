"""A question before something goes: in the page's dialog, or on a page of its own without JavaScript."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.presenters.values import Question


def ask(request: HttpRequest, question: Question) -> HttpResponse:
    template = "jobs/_ask.html" if request.headers.get("HX-Request") else "jobs/ask.html"
    return render(request, template, {"question": question})

"""Addresses that people type because the others are like that: each leads to the page that they mean.

One idea: these are no pages. Each sends on, with what stands behind the question mark, and has no name of its own.
"""

from __future__ import annotations

from django.urls import URLPattern, path
from django.views.generic import RedirectView

PLACES = {
    "budgets/": "/budget/",
    "budgets/<path:rest>": "/budget/%(rest)s",
    "job/<path:rest>": "/jobs/%(rest)s",
    "workstation/<path:rest>": "/workstations/%(rest)s",
    "file/<path:rest>": "/files/%(rest)s",
    "project/<path:rest>": "/projects/%(rest)s",
    "hardware/coretypes/<slug:code>/": "/hardware/coretypes/%(code)s/edit/",
    "hardware/regions/": "/hardware/coretypes/",
    "hardware/clusters/": "/hardware/#clusters",
    "hardware/strays/": "/hardware/#unknown",
    "coretypes/": "/hardware/coretypes/",
    "limits/": "/hardware/limits/",
    "queue/": "/jobs/?status=queued",
    "tokens/": "/account/tokens/",
    "settings/": "/account/",
    "login/": "/signin/",
}


def _to(place: str) -> RedirectView:
    asks = "?" not in place and "#" not in place
    return RedirectView.as_view(url=place, query_string=asks)  # type: ignore[return-value]


urlpatterns: list[URLPattern] = [path(address, _to(place)) for address, place in PLACES.items()]

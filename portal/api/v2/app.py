"""The API object: signing in, refusals; the nouns hang on it."""

from __future__ import annotations

from typing import Any

from django.urls import path
from ninja import NinjaAPI

from . import absent, account, catalogue, files, jobs, outputs, running, station_files, tags, webhooks, workloads, workstations
from .auth import TokenAuth
from .browse import browse
from .problems import handle, nowhere, plain, put_as_post

api = NinjaAPI(
    title="Headrace",
    version="2",
    description="Jobs, workstations, files, hardware and money of a Headrace portal.",
    urls_namespace="api",
    docs_url=None,
    openapi_url="openapi.json",
    auth=TokenAuth(),
)
handle(api)
for noun in (absent, account, catalogue, files, jobs, tags, outputs, running, webhooks, workloads, workstations, station_files):
    api.add_router("", noun.router)


def urls() -> tuple[list[Any], str, str]:
    """For urls.py: every address with plain answers around it, the page that shows them, and a plain 404 for all others."""
    patterns, app, namespace = api.urls
    for pattern in patterns:
        pattern.callback = plain(pattern.callback)
        if str(pattern.pattern) == "files/contents/":
            pattern.callback = put_as_post(pattern.callback)
    more = [path("docs/", browse, {"api": api}, name="docs"), path("<path:rest>", nowhere)]
    return [*patterns, *more], app, namespace

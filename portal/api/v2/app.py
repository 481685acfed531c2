"""The API object: signing in, errors as {field: [text]}, rate limits; the nouns hang on it."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import ValidationError as FormError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError
from ninja.throttling import AuthRateThrottle

from . import account, catalogue, files, jobs, outputs, workloads
from .auth import TokenAuth

log = logging.getLogger(__name__)

api = NinjaAPI(
    title="Headrace",
    version="2",
    description="Jobs, files, hardware and money of a Headrace portal. Sign in with `Authorization: Token TOKEN`.",
    urls_namespace="api",
    docs_url="docs/",
    openapi_url="openapi.json",
    auth=TokenAuth(),
    throttle=[AuthRateThrottle("3000/m")],
)

for noun in (account, catalogue, files, jobs, outputs, workloads):
    api.add_router("", noun.router)


@api.exception_handler(AuthenticationError)
def not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    answer = api.create_response(request, {"detail": ["A valid token is needed: Authorization: Token TOKEN."]}, status=401)
    answer["WWW-Authenticate"] = "Token"
    return answer


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return api.create_response(request, {"detail": [str(error) or "Not found."]}, status=404)


@api.exception_handler(HttpError)
def refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    return api.create_response(request, {"detail": [error.message]}, status=error.status_code)


@api.exception_handler(Throttled)
def too_fast(request: HttpRequest, error: Throttled) -> HttpResponse:
    answer = api.create_response(request, {"detail": ["Too many requests."]}, status=429)
    answer["Retry-After"] = str(int(error.wait or 1))
    return answer


@api.exception_handler(ValidationError)
def malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
    found: dict[str, list[str]] = {}
    for one in error.errors:
        place = [str(part) for part in one["loc"] if part not in {"body", "query", "path", "payload", "form", "file"}]
        found.setdefault(".".join(place) or "detail", []).append(one["msg"])
    return api.create_response(request, found, status=400)


@api.exception_handler(FormError)
def wrong_value(request: HttpRequest, error: FormError) -> HttpResponse:
    found: dict[str, Any] = error.message_dict if hasattr(error, "error_dict") else {"detail": error.messages}
    return api.create_response(request, found, status=400)

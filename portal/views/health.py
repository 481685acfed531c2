"""/health/: for monitors and load balancers. No sign-in, no secrets, never slow."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache

from portal import standing


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 if somebody looks after the workloads, else 503 with the reasons."""
    facts = standing.brief(timezone.now())
    return JsonResponse(facts, status=200 if facts["healthy"] else 503)


urlpatterns = [path("health/", health, name="health")]

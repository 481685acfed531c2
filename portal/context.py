"""What every page shows: the purse in the top bar. Asked for only by templates that show it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from jobs.models.roles import sees_all
from portal.purses import purse_of


def everywhere(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {"purse": SimpleLazyObject(lambda: purse_of(user)), "sees_all": SimpleLazyObject(lambda: sees_all(user))}

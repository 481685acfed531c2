"""What every page shows: the purse of the project and the navigation."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def everywhere(request: HttpRequest) -> dict[str, Any]:
    return {}

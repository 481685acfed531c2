"""For admins: how the installation stands, in numbers."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from portal import standing

from .auth import admin_only
from .shapes import answers

router = Router(tags=["installation"])


@router.get("/installation/", response=answers(dict[str, Any], 403), summary="Workloads by status (admins)")
def installation(request: HttpRequest) -> dict[str, Any]:
    admin_only(request)
    return {"workloads": standing.by_status()}

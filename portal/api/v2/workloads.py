"""For admins: how the installation stands, in numbers."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.http import HttpRequest
from ninja import Router

from jobs.models import Workload

from .auth import admin_only

router = Router(tags=["installation"])


@router.get("/installation/", summary="Workloads by status (admins)")
def installation(request: HttpRequest) -> dict[str, Any]:
    admin_only(request)
    counts = dict(Workload.objects.order_by().values_list("status").annotate(count=Count("pk")))
    return {"workloads": counts}

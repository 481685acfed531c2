"""Who am I, my projects, and the root that says that a key is good."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from jobs.models import Project

from .paging import page

router = Router(tags=["account"])


@router.get("/", summary="Is this token good?")
def root(request: HttpRequest) -> dict[str, Any]:
    names = ("analyses", "billing/computeprices", "budgets", "coretypes", "files", "jobs", "users/me")
    return {name: request.build_absolute_uri(f"{request.path}{name}/") for name in names}


@router.get("/users/me/", summary="The user behind the token")
def me(request: HttpRequest) -> dict[str, Any]:
    user = request.user
    return {
        "email": user.email or user.get_username(),
        "username": user.get_username(),
        "fullName": user.get_full_name() or user.get_username(),
        "isAdmin": user.is_staff,
        "company": {"code": "headrace", "name": "Headrace"},
        "workspace": {"id": "headrace", "name": "Headrace"},
    }


@router.get("/users/me/projects/", summary="Projects that one may submit for")
def projects(request: HttpRequest) -> dict[str, Any]:
    rows = Project.objects.filter(active=True)
    if not request.user.is_staff:
        rows = rows.filter(memberships__user=request.user)
    return page(request, rows, lambda row: {"id": row.code, "name": row.name})

"""Who am I, my projects, and the root that says that a key is good."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from jobs.models import Project

from .paging import Paging, page
from .shapes import Me, Page, ProjectOut, answers

router = Router(tags=["account"])
PLACES = ("analyses", "billing/computeprices", "budgets", "coretypes", "files", "jobs", "users/me")


@router.get("/", response=answers(dict[str, str]), summary="Is this token good?")
def root(request: HttpRequest) -> dict[str, str]:
    return {name: request.build_absolute_uri(f"{request.path}{name}/") for name in PLACES}


@router.get("/users/me/", response=answers(Me), summary="The user behind the token")
def me(request: HttpRequest) -> dict[str, Any]:
    user: Any = request.user
    return {
        "email": user.email or user.get_username(),
        "username": user.get_username(),
        "fullName": user.get_full_name() or user.get_username(),
        "isAdmin": user.is_staff,
        "company": {"code": "headrace", "name": "Headrace"},
        "workspace": {"id": "headrace", "name": "Headrace"},
    }


@router.get("/users/me/projects/", response=answers(Page[ProjectOut]), summary="Projects that one may submit for")
def projects(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    rows = Project.objects.filter(active=True)
    if not request.user.is_staff:
        rows = rows.filter(memberships__user=request.user)  # type: ignore[misc]
    return page(request, paging, rows, lambda row: {"id": row.code, "name": row.name})

"""Projects: who works together. A lead or an admin adds and removes people; everybody else in it looks."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from jobs import lifecycle
from jobs.models import AuditEntry, Membership, Project
from portal.forms.project import MemberForm
from portal.presenters import budgets
from portal.presenters import project as shown

from .access import address
from .asking import ask

SHOWN = 200


@login_required
@require_safe
def projects(request: HttpRequest) -> HttpResponse:
    found = shown.visible_to(request.user).annotate(people=Count("memberships", distinct=True))
    roles = dict(Membership.objects.filter(user=request.user).values_list("project", "role"))  # type: ignore[misc]
    rows = [(project, Membership.Role(roles[project.pk]).label if project.pk in roles else "") for project in found[:SHOWN]]
    return render(request, "projects/projects.html", {"rows": rows, "admin": shown.is_admin(request.user)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project(request: HttpRequest, code: str) -> HttpResponse:
    """Its people and its money. POST adds somebody, or changes the role of somebody who is in it."""
    found = _seen(request, code)
    leads = shown.may_lead(request.user, found)
    form = MemberForm(found, request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if not leads:
            raise PermissionDenied("Only a lead of the project and admins may do this.")
        if form.is_valid() and _add(request, found, form.cleaned_data["user"], form.cleaned_data["role"]):
            return redirect("project", code)
    context = {
        "project": found, "members": shown.members(found, request.user), "leads": leads, "form": form,
        "admin": shown.is_admin(request.user),
        "budgets": [budgets.figures(budget) for budget in found.budgets.select_related("project").order_by("-active", "name")],
    }
    return render(request, "projects/project.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, code: str, pk: int) -> HttpResponse:
    """GET asks, POST removes. Somebody may also leave by themselves."""
    found = _seen(request, code)
    membership = get_object_or_404(found.memberships.select_related("user"), pk=pk)
    if not shown.may_lead(request.user, found) and membership.user != request.user:
        raise PermissionDenied("Only a lead of the project and admins may do this.")
    if request.method != "POST":
        return ask(request, shown.remove(membership, request.user))
    _remove(request, found, membership)
    return redirect("project", code) if shown.visible_to(request.user).filter(pk=found.pk).exists() else redirect("projects")


# --- private ----------------------------------------------------------------------------------------------------------
def _seen(request: HttpRequest, code: str) -> Project:
    return get_object_or_404(shown.visible_to(request.user), code=code)


def _add(request: HttpRequest, project: Project, user: Any, role: str) -> bool:
    """False if it would leave the project without a lead."""
    with transaction.atomic():
        known = project.memberships.select_for_update().filter(user=user).first()
        if known and known.role == Membership.Role.LEAD != role and _last_lead(request, project, known):
            return False
        Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
        action = "change member" if known else "add member"
        AuditEntry.note(request.user, action, project, address(request), member=user.username, role=role)
    word = "is now" if known else "was added as"
    messages.success(request, f"{user.get_full_name() or user.username} {word} {Membership.Role(role).label.lower()}.")
    return True


def _remove(request: HttpRequest, project: Project, membership: Membership) -> None:
    with transaction.atomic():
        if membership.role == Membership.Role.LEAD and _last_lead(request, project, membership):
            return
        membership.delete()
        running = membership.user.workloads.filter(project=project, status__in=lifecycle.ACTIVE_CODES).count()  # type: ignore[attr-defined]
        AuditEntry.note(request.user, "remove member", project, address(request), member=membership.user.username, still_running=running)
    messages.success(request, f"{membership.user.get_full_name() or membership.user.username} is no longer in {project}.")


def _last_lead(request: HttpRequest, project: Project, membership: Membership) -> bool:
    """A project keeps one lead; only admins may take the last one out."""
    others = project.memberships.select_for_update().filter(role=Membership.Role.LEAD).exclude(pk=membership.pk)
    if shown.is_admin(request.user) or others.exists():
        return False
    messages.warning(request, f"{project} needs a lead: make somebody else one first.")
    return True


urlpatterns = [
    path("projects/", projects, name="projects"),
    path("projects/<slug:code>/", project, name="project"),
    path("projects/<slug:code>/members/<int:pk>/remove/", remove, name="member-remove"),
]

"""A project's people: who they are, what they have running, and what is asked before one goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from jobs import lifecycle
from jobs.models import Membership, Project
from jobs.models.roles import is_admin, sees_all

from .text import plural, who
from .values import Question


@dataclass(frozen=True)
class MemberRow:
    membership: Membership
    name: str
    running: int
    me: bool


def visible_to(user: Any) -> QuerySet[Project]:
    """One's own projects; all of them for admins."""
    found = Project.objects.order_by("-active", "name")
    return found if sees_all(user) else found.filter(memberships__user=user)


def may_lead(user: Any, project: Project) -> bool:
    return is_admin(user) or project.memberships.filter(user=user, role=Membership.Role.LEAD).exists()


def members(project: Project, user: Any) -> list[MemberRow]:
    """Leads first, then by name, each with the jobs that they have going in this project."""
    active = Q(user__workloads__project=project, user__workloads__status__in=lifecycle.ACTIVE_CODES)
    rows = project.memberships.select_related("user").annotate(running=Count("user__workloads", filter=active))
    rows = rows.order_by("role", "user__username")
    return [MemberRow(row, who(row.user), row.running, row.user == user) for row in rows]


def remove(membership: Membership, by: Any) -> Question:
    project, user = membership.project, membership.user
    running = user.workloads.filter(project=project, status__in=lifecycle.ACTIVE_CODES).count()  # type: ignore[attr-defined]
    mine = user == by
    name = "You" if mine else who(user)
    text = f"{name} will no longer see the jobs of others in {project}, nor start new ones on its money. Jobs that were started stay."
    if running:
        text += f" Still running and charged to {project}: {plural(running, 'job')}."
    title, word, keep = (f"Leave {project}?", "Leave", "Stay") if mine else (f"Remove {who(user)} from {project}?", "Remove", "Keep")
    action, back = reverse("member-remove", args=[project.code, membership.pk]), reverse("project", args=[project.code])
    return Question(title, word, action, back, text, "user-off", keep=keep)

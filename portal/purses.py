"""Which budgets somebody may look at, and the one whose rest stands in the top bar."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from jobs.models import Budget, Unit, Workload
from portal import words


@dataclass(frozen=True)
class Purse:
    """Money that is left: what the top bar says."""

    name: str
    left: Decimal
    title: str


def budgets_of(user: Any) -> QuerySet[Budget]:
    """The budgets that apply to a person: their own, those of their projects, the organization's. Those in use first.

    No row comes twice: a person is in a project once, and a budget has one target.
    """
    mine = Q(project__memberships__user=user) | Q(member=user) | Q(member__isnull=True, project__isnull=True)
    latest = Workload.objects.filter(owner=user, project=OuterRef("project")).order_by("-pk").values("pk")[:1]
    found = Budget.objects.filter(mine).select_related("project", "member").annotate(latest=Subquery(latest))
    latest_first, with_project, own = (F(name).desc(nulls_last=True) for name in ("latest", "project", "member"))
    return found.order_by("-active", latest_first, with_project, own, "pk")


def visible_to(user: Any) -> QuerySet[Budget]:
    """The budgets whose page a person may open; admins every one."""
    if user.is_staff or user.is_superuser:
        return Budget.objects.select_related("project", "member")
    return budgets_of(user)


def purse_of(user: Any) -> Purse | None:
    """The money of the project that the person used last; one query. None where there is nothing to say."""
    found = budgets_of(user).filter(active=True, unit=Unit.MONEY).exclude(member__isnull=True, project__isnull=True).first()
    if found is None:
        return None
    name = found.project.name if found.project else found.name
    return Purse(name, found.left, f"{found.name}: {words.money(found.left)} of {words.money(found.amount)} not spent or held")

"""Which budgets somebody may look at, and the one whose rest stands in the top bar."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from jobs.models import Budget, Membership, Unit, Workload
from jobs.models.roles import is_admin, sees_all
from portal import words


@dataclass(frozen=True)
class Purse:
    """Money that is left: what the top bar says."""

    name: str
    left: Decimal
    title: str
    warning: str = ""


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
    """The budgets whose page a person may open; admins and auditors every one."""
    if sees_all(user):
        return Budget.objects.select_related("project", "member")
    return budgets_of(user)


def may_edit(user: Any, budget: Budget) -> bool:
    """Admins; leads of its project (name and thresholds only)."""
    if is_admin(user):
        return True
    return budget.project_id is not None and Membership.objects.filter(user=user, project=budget.project_id, role="lead").exists()


def purse_of(user: Any) -> Purse | None:
    """The money of the project that the person used last. None where there is nothing to say."""
    now = timezone.now()
    of_use = Q(active=True) & (Q(begins=None) | Q(begins__lte=now)) & (Q(ends=None) | Q(ends__gt=now))
    theirs = Budget.objects.filter(Q(project__memberships__user=user) | Q(member=user), of_use, unit=Unit.MONEY)
    shared_first = (F("project").desc(nulls_last=True), F("member").desc(nulls_last=True), "pk")
    budgets = list(theirs.select_related("project").order_by(*shared_first))
    if not budgets:
        return None
    found = _used_last(user, budgets)
    name = found.project.name if found.project else found.name
    title = f"{found.name}: {words.money(found.left)} of {words.money(found.amount)} not spent or held"
    return Purse(name, found.left, title, _warning(found))


def _used_last(user: Any, budgets: list[Budget]) -> Budget:
    """The first of those whose project the person's newest work is for; the very first where there is none."""
    projects = {budget.project_id for budget in budgets if budget.project_id}
    if len(budgets) == 1 or not projects:
        return budgets[0]
    last = Workload.objects.filter(owner=user, project__in=projects).order_by("-pk").values_list("project", flat=True).first()
    return next((budget for budget in budgets if budget.project_id == last), budgets[0])


def _warning(budget: Budget) -> str:
    """The highest threshold that is behind it: 90 %. Empty before the first."""
    taken = budget.spent + budget.held
    behind = [percent for percent in budget.thresholds if budget.amount > 0 and taken * 100 >= budget.amount * percent]
    return f"{max(behind)} % used" if behind else ""

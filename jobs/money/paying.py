"""Which budgets must pay for a workload, and whether they can: what the queue, the offers and New job ask before a start.

One idea: every budget that applies must allow it, and money is of use inside its dates only. A budget outside of its dates
steps aside where its target has another one of the same unit that is inside; where it has none, nothing starts on it.
Only the ledger offers it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db.models import F, Q
from django.utils import timezone

from ..models import Asks, Budget, Hold, Installation, Unit, Unpaid, insert
from ..models.fields import rounded
from ..models.roles import is_admin
from .books import HOUR, ZERO, as_money, rate


def budgets_for(owner: Any, project: Any, now: datetime | None = None) -> list[Budget]:
    """Every budget that must allow it: the member's, the project's, the organization's, in id order."""
    target = Q(member=owner) | Q(member__isnull=True, project__isnull=True)
    if project is not None:
        target |= Q(project=project)
    return in_force(list(Budget.objects.filter(target).order_by("pk")), now or timezone.now())


def in_force(budgets: Sequence[Budget], now: datetime) -> list[Budget]:
    """Without those outside of their dates that another one of the same target and unit stands in for."""
    inside = {(budget.target, budget.unit) for budget in budgets if not budget.early(now) and not budget.ended(now)}
    return [b for b in budgets if not (b.early(now) or b.ended(now)) or (b.target, b.unit) not in inside]


def may_run_unpaid(owner: Any) -> bool:
    """Whether this person may start what no budget pays for; it is booked to the installation."""
    return is_admin(owner) or everybody_runs_unpaid()


def everybody_runs_unpaid() -> bool:
    """By the setting, or because nobody was given any budget yet."""
    return Installation.who_runs_unpaid() == Unpaid.EVERYBODY or not Budget.objects.exists()


@dataclass(frozen=True)
class Short:
    """Why a workload cannot be paid: this budget needs more than it has free or, where `why` says so, something else.

    `never`: waiting does not help.
    """

    budget: Budget | None
    needed: Decimal
    why: str = ""
    never: bool = False


def short_of(budget: Budget, workload: Asks, now: datetime | None = None) -> bool:
    """Whether this budget, as it was loaded, cannot pay the first hour."""
    needed = rounded(rate(budget, workload.price, workload.total_cores))
    return _short(budget, needed, budget.left, now or timezone.now()) is not None


def why_unusable(budget: Budget, now: datetime) -> str:
    """Why nothing may start on it, whatever is left, as a sentence; empty if something may."""
    if not budget.active:
        return f"Budget {budget.name} is closed; ask its owner"
    if budget.early(now):
        return f"Budget {budget.name} begins {moment_of(budget, budget.begins)}; it starts then by itself"
    if budget.ended(now):
        return f"Budget {budget.name} ended {moment_of(budget, budget.ends)}; it needs a later end, or another budget"
    if budget.is_strict and budget.ends is not None and budget.ends - now < timedelta(seconds=HOUR):
        return f"Budget {budget.name} ends {moment_of(budget, budget.ends)}; the first hour does not fit in before that"
    return ""


def amount_of(budget: Budget, amount: Decimal) -> str:
    """An amount in words, in the unit of the budget."""
    return f"{settings.CURRENCY}{amount:,.2f}" if budget.unit == Unit.MONEY else f"{amount:,.2f} core-hours"


def moment_of(budget: Budget, at: datetime | None) -> str:
    """In the budget's own time zone: 2026-12-01 00:00 Europe/Berlin."""
    return f"{at.astimezone(ZoneInfo(budget.zone)):%Y-%m-%d %H:%M} {budget.zone}" if at else ""


def nobody_pays(project: Any) -> str:
    """Why what no budget pays for does not start."""
    whose = f"neither project {project} nor" if project else "it is in no project, and neither"
    return f"No budget applies: {whose} its owner or the organization has one. Choose a project with money, or ask an admin for a budget"


class Purse:
    """The budgets of many workloads, locked for one transaction: what is free in each while starts are decided."""

    def __init__(self, workloads: Sequence[Asks], now: datetime | None = None) -> None:
        self.now = now or timezone.now()
        self.budgets = list(Budget.objects.filter(_targets(workloads)).select_for_update().order_by("pk"))
        self.left = {budget.pk: budget.left for budget in self.budgets}
        self.holds: list[Hold] = []
        self._known: dict[tuple[int, int | None], list[Budget]] = {}
        self._told: dict[tuple[Any, ...], Short | None] = {}
        self._needs: dict[tuple[Any, ...], Decimal] = {}
        self._owners = {work.owner_id for work in workloads}
        self._unpaid: set[int] | None = None
        self._projects: dict[int | None, Any] = {None: None}

    def of(self, workload: Asks) -> list[Budget]:
        """Those that must allow it, in force now, in id order."""
        key = workload.owner_id, workload.project_id
        if key not in self._known:
            self._known[key] = in_force([budget for budget in self.budgets if _applies(budget, workload)], self.now)
        return self._known[key]

    def short(self, workload: Asks) -> Short | None:
        """The first budget that cannot pay the first hour of it, or None. The same for all alike, until money is held."""
        key = workload.owner_id, workload.project_id, workload.coretype_id, workload.economy, workload.total_cores
        if key not in self._told:
            self._told[key] = self._short(workload)
        return self._told[key]

    def _short(self, workload: Asks) -> Short | None:
        budgets = self.of(workload)
        for budget in budgets:
            if short := _short(budget, self._needed(budget, workload), self.left[budget.pk], self.now):
                return short
        if not budgets and not self._runs_unpaid(workload.owner_id):
            return Short(None, ZERO, nobody_pays(self._project(workload)))
        return None

    def hold(self, workload: Asks, now: datetime) -> None:
        """Reserve the first hour; `write` puts it down."""
        self._told.clear()
        for budget in self.of(workload):
            needed = self._needed(budget, workload)
            self.left[budget.pk] -= needed
            self.holds.append(Hold(budget_id=budget.pk, workload_id=workload.pk, attempt=workload.attempt, amount=needed, made=now))

    def write(self) -> None:
        """The holds of all starts, and the sums that budgets hold."""
        sums: dict[int, Decimal] = defaultdict(lambda: ZERO)
        for hold in self.holds:
            sums[hold.budget_id] += hold.amount
        for pk, amount in sorted(sums.items()):
            Budget.objects.filter(pk=pk).update(held=F("held") + as_money(amount))
        insert(self.holds)

    def _needed(self, budget: Budget, workload: Asks) -> Decimal:
        """For the first hour."""
        key = budget.unit, workload.coretype_id, workload.economy, workload.total_cores
        if key not in self._needs:
            self._needs[key] = rounded(rate(budget, workload.price, workload.total_cores))
        return self._needs[key]

    def _project(self, workload: Asks) -> Any:
        """One object a project, not one a row."""
        if workload.project_id not in self._projects:
            self._projects[workload.project_id] = workload.project
        return self._projects[workload.project_id]

    def _runs_unpaid(self, owner: int) -> bool:
        """Asked for once a purse, for all owners together."""
        if self._unpaid is None:
            self._unpaid = self._owners if everybody_runs_unpaid() else _admins(self._owners)
        return owner in self._unpaid


# --- private ----------------------------------------------------------------------------------------------------------
def _short(budget: Budget, needed: Decimal, left: Decimal, now: datetime) -> Short | None:
    if why := why_unusable(budget, now):
        return Short(budget, needed, why, never=not budget.active)
    return Short(budget, needed) if left < needed else None


def _targets(workloads: Sequence[Asks]) -> Q:
    owners = {work.owner_id for work in workloads}
    projects = {work.project_id for work in workloads if work.project_id}
    return Q(member__isnull=True, project__isnull=True) | Q(member__in=owners) | Q(project__in=projects)


def _applies(budget: Budget, workload: Asks) -> bool:
    if budget.member_id:
        return budget.member_id == workload.owner_id
    return budget.project_id is None or budget.project_id == workload.project_id


def _admins(ids: Iterable[int]) -> set[int]:
    return {user.pk for user in get_user_model().objects.filter(pk__in=ids) if is_admin(user)}

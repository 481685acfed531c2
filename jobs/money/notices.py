"""Mails about budgets: who is told that a threshold was passed or an end comes near. See mailing.py for how."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from ..mailing import AT_ONCE, mail_once
from ..models import Budget, BudgetNotice
from .granting import END
from .paying import amount_of, moment_of

PATIENCE = timedelta(days=1)


def send(now: datetime) -> int:
    """Mail what was not mailed yet; how many notices are done. Nothing where no mail server is set."""
    if not settings.EMAIL_HOST:
        return 0
    waiting = BudgetNotice.objects.filter(mailed__isnull=True, at__gt=now - PATIENCE).select_related("budget__project", "budget__member")
    return sum(_mail(notice, now) for notice in waiting[:AT_ONCE])


def told(budget: Budget) -> QuerySet[User]:
    """The member; the leads of the project; for the organization its admins."""
    people = User.objects.filter(is_active=True).exclude(email="")
    if budget.member_id:
        return people.filter(pk=budget.member_id)
    if budget.project_id:
        return people.filter(memberships__project=budget.project_id, memberships__role="lead")
    return people.filter(Q(is_superuser=True) | Q(is_staff=True))


def _mail(notice: BudgetNotice, now: datetime) -> bool:
    return mail_once(notice, now, list(told(notice.budget).values_list("email", flat=True)), *_letter(notice))


def _letter(notice: BudgetNotice) -> tuple[str, str]:
    """Subject and text."""
    budget = notice.budget
    spent, held, limit = (amount_of(budget, value) for value in (budget.spent, budget.held, budget.amount))
    sums, address = f"{spent} spent, {held} held of {limit}", f"{settings.PORTAL_URL.rstrip('/')}/budget/{budget.pk}/"
    subject, text = f"{budget.name}: {notice.percent} % used", f"Budget {budget.name} has passed {notice.percent} %: {sums}."
    if notice.percent == END:
        when = moment_of(budget, budget.ends)
        subject, text = f"{budget.name}: ends {when}", f"Budget {budget.name} ends {when}: {sums}. What is left then is of no use any more."
    return subject, f"{text}\n\n{address}\n"

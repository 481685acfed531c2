"""Mails about budgets: who is told that a threshold was passed.

One idea: the row of the notice is the queue. A mail that can't be sent is tried again with the next turn, for a day;
the page shows the notice at once, with mail or without.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db.models import Q, QuerySet

from ..models import Budget, BudgetNotice, Unit
from .granting import END
from .paying import moment_of

log = logging.getLogger(__name__)

PATIENCE = timedelta(days=1)
AT_ONCE = 20


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
    """Taken by compare-and-set, so that two beats mail once; given back if the mail server does not take it."""
    if not BudgetNotice.objects.filter(pk=notice.pk, mailed__isnull=True).update(mailed=now):
        return False
    budget = notice.budget
    subject, text = _letter(notice)
    try:
        send_mail(" ".join(subject.split()), text, None, list(told(budget).values_list("email", flat=True)))
    except OSError as error:
        log.warning("no mail about budget %s: %s", budget.pk, error)
        BudgetNotice.objects.filter(pk=notice.pk).update(mailed=None)
        return False
    return True


def _letter(notice: BudgetNotice) -> tuple[str, str]:
    """Subject and text."""
    budget = notice.budget
    spent, held, limit = (_amount(budget, value) for value in (budget.spent, budget.held, budget.amount))
    sums, address = f"{spent} spent, {held} held of {limit}", f"{settings.PORTAL_URL.rstrip('/')}/budget/{budget.pk}/"
    subject, text = f"{budget.name}: {notice.percent} % used", f"Budget {budget.name} has passed {notice.percent} %: {sums}."
    if notice.percent == END:
        when = moment_of(budget, budget.ends)
        subject, text = f"{budget.name}: ends {when}", f"Budget {budget.name} ends {when}: {sums}. What is left then is of no use any more."
    return subject, f"{text}\n\n{address}\n"


def _amount(budget: Budget, value: Decimal) -> str:
    return f"{settings.CURRENCY}{value:,.2f}" if budget.unit == Unit.MONEY else f"{value:,.2f} core-hours"

"""Mails of notices: to owners about their work here; those about budgets and webhooks are sent from here as well.

One idea: the row of a notice is the queue. A mail that can't be sent is tried again with the next turn, as long as it says
something: a warning that nobody could be told in time is left alone. The pages show a notice at once, with mail or without.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import send_mail

from .models import BudgetNotice, Webhook, WorkNotice

log = logging.getLogger(__name__)

PATIENCE = timedelta(hours=1)
AT_ONCE = 20
"""Mails a turn: a mail server may be slow."""


def send(now: datetime) -> int:
    """Mail owners what was not mailed yet; how many notices are done. Nothing where no mail server is set."""
    if not settings.EMAIL_HOST:
        return 0
    waiting = WorkNotice.objects.filter(mailed__isnull=True, at__gt=now - PATIENCE).select_related("workload__owner").order_by("pk")
    return sum(_mail(notice, now) for notice in waiting[:AT_ONCE])


def mail_once(notice: WorkNotice | BudgetNotice | Webhook, now: datetime, to: Sequence[str], subject: str, text: str) -> bool:
    """Taken by compare-and-set, so that two beats mail once; given back, and False, if the mail server does not take it.

    Nobody to mail it to: it is done.
    """
    row = type(notice).objects.filter(pk=notice.pk)
    if not row.filter(mailed__isnull=True).update(mailed=now):
        return False
    try:
        if to:
            send_mail(" ".join(subject.split()), text, None, to)
    except OSError as error:
        log.warning("no mail %r: %s", subject, error)
        row.update(mailed=None)
        return False
    return True


def _mail(notice: WorkNotice, now: datetime) -> bool:
    work, owner = notice.workload, notice.workload.owner
    address = f"{settings.PORTAL_URL.rstrip('/')}/{work.kind}s/{work.public_id}/"
    to = [owner.email] if owner.email and owner.is_active else []
    return mail_once(notice, now, to, notice.subject, f"{notice.text}\n\n{address}\n")

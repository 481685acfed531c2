"""Mails to owners about their work: what a rule will do to a workstation, told as long as it can be prevented.

One idea: the row of the notice is the queue, as for budgets (notices.py). A warning that nobody could be told in time says
nothing any more, so old ones are left alone.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import send_mail

from .models import WorkNotice

log = logging.getLogger(__name__)

PATIENCE = timedelta(hours=1)
AT_ONCE = 20


def send(now: datetime) -> int:
    """Mail what was not mailed yet; how many are done. Nothing where no mail server is set."""
    if not settings.EMAIL_HOST:
        return 0
    waiting = WorkNotice.objects.filter(mailed__isnull=True, at__gt=now - PATIENCE).select_related("workload__owner").order_by("pk")
    return sum(_mail(notice, now) for notice in waiting[:AT_ONCE])


def _mail(notice: WorkNotice, now: datetime) -> bool:
    """Taken by compare-and-set, so that two beats mail once; given back if the mail server does not take it."""
    if not WorkNotice.objects.filter(pk=notice.pk, mailed__isnull=True).update(mailed=now):
        return False
    work, owner = notice.workload, notice.workload.owner
    if not owner.email or not owner.is_active:
        return True
    address = f"{settings.PORTAL_URL.rstrip('/')}/{work.kind}s/{work.public_id}/"
    try:
        send_mail(notice.subject, f"{notice.text}\n\n{address}\n", None, [owner.email])
    except OSError as error:
        log.warning("no mail about %s: %s", work.public_id, error)
        WorkNotice.objects.filter(pk=notice.pk).update(mailed=None)
        return False
    return True

"""A hook that has failed for too long is disabled, and its maker told: on the page at once, by mail where there is a server."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import QuerySet

from ..models import Webhook

log = logging.getLogger(__name__)

PATIENCE = timedelta(days=3)
"""Without one good answer."""
GONE = 410
MAILS = timedelta(days=1)


def disable(hook: Webhook, why: str, now: datetime) -> None:
    """By the engine, with the reason."""
    if Webhook.objects.filter(pk=hook.pk, active=True).update(active=False, disabled=now, trouble=why, mailed=None):
        log.warning("%s is disabled: %s", hook, why)


def untold(now: datetime) -> QuerySet[Webhook]:
    """Disabled hooks whose makers still get a mail about it."""
    rows = Webhook.objects.filter(active=False, mailed__isnull=True, disabled__gt=now - MAILS, owner__is_active=True)
    return rows.exclude(owner__email="") if settings.EMAIL_HOST else rows.none()


def tell(now: datetime) -> int:
    """Mail those who were not told; how many. What the mail server does not take is tried with the next turn, for a day."""
    return sum(_mail(hook, now) for hook in untold(now).select_related("owner")[:20])


def _mail(hook: Webhook, now: datetime) -> bool:
    """Taken by compare-and-set, so that two turns mail once."""
    if not Webhook.objects.filter(pk=hook.pk, mailed__isnull=True).update(mailed=now):
        return False
    place = f"{settings.PORTAL_URL.rstrip('/')}/account/webhooks/{hook.public_id}/"
    text = f"Your webhook {hook.public_id} is disabled. {hook.trouble} What it should be told is no longer sent.\n\n{place}"
    try:
        send_mail("A webhook is disabled", text, None, [hook.owner.email])
    except OSError as error:
        log.warning("no mail about %s: %s", hook, error)
        Webhook.objects.filter(pk=hook.pk).update(mailed=None)
        return False
    return True

"""A hook that has failed for too long is disabled, and its maker told: on the page at once, by mail where there is a server."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from ..mailing import AT_ONCE, mail_once
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
    return sum(_mail(hook, now) for hook in untold(now).select_related("owner")[:AT_ONCE])


def _mail(hook: Webhook, now: datetime) -> bool:
    place = f"{settings.PORTAL_URL.rstrip('/')}/account/webhooks/{hook.public_id}/"
    text = f"Your webhook {hook.public_id} is disabled. {hook.trouble} What it should be told is no longer sent.\n\n{place}"
    return mail_once(hook, now, [hook.owner.email], "A webhook is disabled", text)

"""What people may do with webhooks, the same on the page and in the API; each deed is in the audit log.

One idea: nothing here calls anybody. A test and a message sent again are rows that the engine finds due.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from jobs.models import AuditEntry, Project, Webhook, WebhookDelivery
from jobs.webhooks.addresses import Forbidden, clean_url

MOST = 20
"""Webhooks that one person may have made, and messages of one that may wait to be sent again by hand."""
EVENTS = {"status": "on_status", "budget": "on_budget"}


def projects_of(user: Any) -> QuerySet[Project]:
    """Projects that this person may make webhooks for: those they lead; for admins all."""
    found = Project.objects.filter(active=True)
    if user.is_staff or user.is_superuser:
        return found
    return found.filter(memberships__user=user, memberships__role="lead")


def make(
    user: Any, url: str, events: list[str], address: str | None, project: Project | None = None, everything: bool = False
) -> tuple[Webhook, str]:
    """The webhook and its secret, which is not shown again. Raises ValidationError."""
    if everything and not (user.is_staff or user.is_superuser):
        raise ValidationError({"everything": ["Only admins may have everything told."]})
    if everything and project:
        raise ValidationError({"everything": ["It is either a project's or the installation's."]})
    if Webhook.objects.filter(owner=user).count() >= MOST:
        raise ValidationError(f"You have {MOST} webhooks; delete one first.")
    fields = {"project": project, "everything": everything, **_switches(events)}
    with transaction.atomic():
        hook, secret = Webhook.make(user, checked(url), **fields)
        AuditEntry.note(
            user, "make webhook", hook, address, url=_shown(hook.url), project=project.code if project else None, everything=everything
        )
    return hook, secret


def change(
    user: Any, hook: Webhook, address: str | None, url: str | None = None, events: list[str] | None = None, active: bool | None = None
) -> None:
    """Raises ValidationError."""
    values: dict[str, Any] = _switches(events) if events is not None else {}
    if url is not None:
        values["url"] = checked(url)
    with transaction.atomic():
        if values:
            Webhook.objects.filter(pk=hook.pk).update(**values)
        hook.refresh_from_db()
        if active is True and not hook.active:
            hook.enable()
        elif active is False:
            hook.disable()
        noted = {**values, **({"active": active} if active is not None else {}), **({"url": _shown(hook.url)} if url is not None else {})}
        AuditEntry.note(user, "change webhook", hook, address, values=noted)


def delete(user: Any, hook: Webhook, address: str | None) -> None:
    with transaction.atomic():
        AuditEntry.note(user, "delete webhook", hook, address, url=_shown(hook.url))
        hook.delete()


def test(hook: Webhook) -> WebhookDelivery | None:
    """None: too many wait already, or it is disabled."""
    return hook.test() if hook.active and _has_room(hook, Q(kind="test")) else None


def again(hook: Webhook, row: WebhookDelivery) -> bool:
    """Send a message once more; False while it still waits, or the hook is disabled."""
    if not hook.active or row.due is not None:
        return False
    row.again()
    return True


def checked(url: str) -> str:
    """The address as it will be called. Raises ValidationError."""
    try:
        return clean_url(url)
    except Forbidden as refused:
        raise ValidationError({"url": [str(refused)]}) from None


# --- private ----------------------------------------------------------------------------------------------------------
def _switches(events: list[str]) -> dict[str, bool]:
    if not events:
        raise ValidationError({"events": ["Choose what it is told."]})
    return {field: name in events for name, field in EVENTS.items()}


def _has_room(hook: Webhook, which: Q) -> bool:
    return hook.deliveries.filter(which, due__isnull=False).count() < MOST


def _shown(url: str) -> str:
    """Without its query, which may hold a password."""
    return url.partition("?")[0]

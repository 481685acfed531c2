"""Webhooks: addresses that are told what happens, and each message to one of them.

One idea: a message is a row, written in the transaction of what it tells (see telling.py), once for an event and a hook. Its
id goes along with every try, so that a receiver knows again what came twice.
"""

from __future__ import annotations

import base64
import secrets
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .. import sealed
from .installation import public_id
from .project import Membership

PATIENCE = timedelta(days=1)
"""After which a message is given up."""
SECRET = "whsec_"


def message_id() -> str:
    return f"msg_{uuid.uuid4().hex}"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def visible_to(self, user: Any) -> WebhookQuerySet:
        """One's own; those of projects that one leads; for admins those of all projects and of the installation."""
        if not user.is_authenticated:
            return self.none()
        shared = Q(project__isnull=False) | Q(everything=True)
        if not (user.is_staff or user.is_superuser):
            led = Membership.objects.filter(user=user, role=Membership.Role.LEAD)
            shared = Q(project__in=led.values("project"))
        return self.filter(Q(owner=user, project=None, everything=False) | shared)

    def asked_to_try(self, now: datetime) -> WebhookQuerySet:
        """Those that may be called: living, not resting after a failure, nobody at work on them."""
        free = Q(leased_until__isnull=True) | Q(leased_until__lte=now)
        rested = Q(rests_until__isnull=True) | Q(rests_until__lte=now)
        return self.filter(free & rested, active=True)


class Webhook(models.Model):
    """Of a person (their own jobs), of a project, or of the installation (`everything`). `secret` is sealed: it signs."""

    public_id = models.CharField(max_length=8, unique=True, default=public_id)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks", help_text="Who made it")
    project = models.ForeignKey("jobs.Project", models.CASCADE, null=True, related_name="webhooks")
    everything = models.BooleanField(default=False, help_text="Of the installation: every job and every budget")
    url = models.CharField(max_length=2000)
    secret = models.TextField()
    on_status = models.BooleanField(default=True)
    on_budget = models.BooleanField(default=True)
    active = models.BooleanField(default=True)
    made = models.DateTimeField(default=timezone.now)
    # how it goes: written by the engine
    failures = models.PositiveIntegerField(default=0, help_text="In a row")
    failing_since = models.DateTimeField(null=True)
    rests_until = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)
    disabled = models.DateTimeField(null=True, help_text="By the engine, after it failed for too long")
    trouble = models.CharField(max_length=200, blank=True)
    mailed = models.DateTimeField(null=True, help_text="Its maker was told that it is disabled")

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["active", "on_status", "owner"], name="webhook_living")]

    def __str__(self) -> str:
        return f"webhook {self.public_id}"

    @classmethod
    def make(cls, owner: Any, url: str, **fields: Any) -> tuple[Webhook, str]:
        """The row and its secret, which is not shown again."""
        text = SECRET + base64.b64encode(secrets.token_bytes(32)).decode()
        return cls.objects.create(owner=owner, url=url, secret=sealed.seal(text), **fields), text

    @property
    def key(self) -> bytes:
        """What signs. Raises sealed.Unreadable."""
        return base64.b64decode(sealed.opened(self.secret).removeprefix(SECRET))

    def may_tell(self) -> bool:
        """Whether its maker may still know what it tells: rights that were taken away silence it."""
        maker = self.owner
        if not maker.is_active:
            return False
        if maker.is_staff or maker.is_superuser:
            return True
        if self.project_id:
            return Membership.objects.filter(user=maker, project=self.project_id, role=Membership.Role.LEAD).exists()
        return not self.everything

    def enable(self) -> None:
        """By a person: as if it had never failed."""
        self.active, self.trouble, self.failures = True, "", 0
        self.failing_since = self.rests_until = self.disabled = self.mailed = None
        self.save()

    def disable(self) -> None:
        """By a person. What waits is sent if it is enabled again within a day."""
        type(self).objects.filter(pk=self.pk).update(active=False)
        self.active = False

    def test(self, now: datetime | None = None) -> WebhookDelivery:
        """A message that tells nothing, to see whether it arrives."""
        from .telling import test_body

        now = now or timezone.now()
        type(self).objects.filter(pk=self.pk).update(rests_until=None)
        return WebhookDelivery.objects.create(hook=self, kind="test", body=test_body(self, now), made=now, due=now, until=now + PATIENCE)


class WebhookDelivery(models.Model):
    """`due` None: it is over, delivered or given up. `log` has an entry a try: at, code, error, ms."""

    public_id = models.CharField(max_length=40, unique=True, default=message_id)
    hook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey("jobs.Event", models.SET_NULL, null=True, related_name="+")
    notice = models.ForeignKey("jobs.BudgetNotice", models.SET_NULL, null=True, related_name="+")
    kind = models.CharField(max_length=24, help_text="job.status, workstation.status, budget.threshold or test")
    body = models.TextField()
    made = models.DateTimeField()
    due = models.DateTimeField(null=True)
    until = models.DateTimeField(help_text="Given up then")
    tries = models.PositiveIntegerField(default=0)
    delivered = models.DateTimeField(null=True)
    log = models.JSONField(default=list)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(fields=["due"], condition=Q(due__isnull=False), name="webhook_delivery_due"),
            models.Index(fields=["hook", "-id"], name="webhook_delivery_log"),
            models.Index(fields=["made"], name="webhook_delivery_made"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["hook", "event"], name="one_message_a_hook_and_event"),
            models.UniqueConstraint(fields=["hook", "notice"], name="one_message_a_hook_and_notice"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def state(self) -> str:
        return "waiting" if self.due else "delivered" if self.delivered else "given up"

    @property
    def last(self) -> dict[str, Any]:
        return dict(self.log[-1]) if self.log else {}

    def again(self, now: datetime | None = None) -> None:
        """Send it once more, with the same id, for another day."""
        now = now or timezone.now()
        type(self).objects.filter(pk=self.pk).update(due=now, until=now + PATIENCE, tries=0, delivered=None)
        Webhook.objects.filter(pk=self.hook_id).update(rests_until=None)

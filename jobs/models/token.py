"""Tokens with which programs sign in: shown once, stored hashed, named, scoped, expiring; and what was asked for only once."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

SEEN_EVERY = timedelta(minutes=1)
"""How exact `last_used` is; a poll every second must not write a row every second."""


class Scope(models.TextChoices):
    READ = "read", "Read"
    RUN = "run", "Run: everything on one's own"
    ADMIN = "admin", "Admin: as the admin that one is"


class ApiToken(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=8, choices=Scope, default=Scope.RUN)
    made = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(null=True)
    last_used = models.DateTimeField(null=True)
    last_from = models.GenericIPAddressField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"

    @classmethod
    def make(cls, user: Any, name: str, scope: str = Scope.RUN, expires: datetime | None = None) -> tuple[ApiToken, str]:
        """The row and the token itself, which nobody can ask for again."""
        text = "hr_" + secrets.token_urlsafe(30)
        return cls.objects.create(user=user, name=name, digest=digest_of(text), scope=scope, expires=expires), text

    @classmethod
    def find(cls, text: str, address: str | None = None) -> ApiToken | None:
        """The living token of an active user, with its use noted."""
        now = timezone.now()
        living = cls.objects.filter(Q(expires__isnull=True) | Q(expires__gt=now), digest=digest_of(text), user__is_active=True)
        token = living.select_related("user").first()
        if token and (token.last_used is None or now - token.last_used > SEEN_EVERY or token.last_from != address):
            cls.objects.filter(pk=token.pk).update(last_used=now, last_from=address)
        return token


class Once(models.Model):
    """A request that must not be done twice: who asked, for what, by which key, and what came of it.

    The row is written in the transaction of the deed, so a second request with the key waits for the first, or finds it.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    action = models.CharField(max_length=40)
    key = models.CharField(max_length=64, help_text="SHA-256 of what the client sent as Idempotency-Key")
    body = models.CharField(max_length=64, help_text="SHA-256 of the request's body")
    target = models.CharField(max_length=8, blank=True, help_text="Public id of what came of it")
    made = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "action", "key"], name="one_deed_a_key")]
        indexes = [models.Index(fields=["user", "made"])]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

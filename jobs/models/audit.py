"""Who changed what: one row for every change by a person. Append-only."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from .append_only import AppendOnly, AppendOnlyQuerySet


class AuditEntry(AppendOnly):
    APPEND_ONLY = "the audit log is append-only"

    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    who = models.CharField(max_length=150, help_text="The user's name at that time")
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    address = models.GenericIPAddressField(null=True)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"

    @classmethod
    def note(cls, by: Any, action: str, target: object, address: str | None = None, **detail: object) -> None:
        """Write down that `by` did `action` to `target`. Call it in the transaction of the change."""
        cls.objects.create(
            by=by, who=getattr(by, "username", "") or "", action=action, target=str(target)[:200], detail=detail, address=address
        )

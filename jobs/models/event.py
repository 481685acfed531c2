"""What happened to a workload, a row each; only ever added."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from .workload import Workload


class Event(models.Model):
    """History: what happened, when, through whom. Stage times and the timeline come from here."""

    workload = models.ForeignKey("jobs.Workload", models.CASCADE, related_name="events", db_index=False)
    at = models.DateTimeField()
    attempt = models.PositiveIntegerField(default=1)
    before = models.CharField(max_length=12, blank=True)
    after = models.CharField(max_length=12, blank=True)
    source = models.CharField(max_length=10, help_text="user, engine, agent or backend")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", db_index=False)
    reason = models.CharField(max_length=40, blank=True)
    detail = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["workload", "id"]),
            models.Index(fields=["by"], condition=models.Q(by__isnull=False), name="event_by"),
        ]

    @classmethod
    def beside(cls, work: Workload, at: datetime, source: str, reason: str, detail: str = "", by: Any = None) -> Event:
        """A line of the history in which the status stays as it is; not saved yet."""
        return cls(
            workload=work, at=at, attempt=work.attempt, before=work.status, after=work.status, source=source, reason=reason, detail=detail,
            by=by,
        )

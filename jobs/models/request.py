"""What a person wants done on a backend: a row that the engine carries out, since no page may call a backend."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Request(models.Model):
    """`done` None: not carried out yet; `answer` says how it stands, or what came of it. One open request a kind and cluster.

    A look at a backend has no cluster: `details` holds what is wanted and what was found.
    """

    class Kind(models.TextChoices):
        RELEASE = "release", "Release"
        EXTEND = "extend", "Longer walltime"
        LOOK = "look", "Look at a backend"
        TRIAL = "trial", "Trial job"

    kind = models.CharField(max_length=12, choices=Kind)
    cluster = models.ForeignKey("jobs.Cluster", models.CASCADE, related_name="requests", null=True)
    backend = models.CharField(max_length=40, blank=True, help_text="Of a look and a trial")
    until = models.DateTimeField(null=True, help_text="The wanted end of a longer walltime; when a trial is given up")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    made = models.DateTimeField(default=timezone.now)
    claimed = models.DateTimeField(null=True, help_text="A worker is at it since")
    done = models.DateTimeField(null=True)
    details = models.JSONField(default=dict, blank=True)
    answer = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "cluster"], condition=Q(done__isnull=True), name="one_open_request_a_kind"),
            models.UniqueConstraint(
                fields=["kind", "backend"], condition=Q(done__isnull=True, cluster__isnull=True), name="one_open_look_a_backend"
            ),
        ]

    @classmethod
    def ask(cls, kind: str, cluster: Any, by: Any, until: Any = None) -> Request:
        """The open request; a second click is the same one."""
        return cls.objects.get_or_create(kind=kind, cluster=cluster, done=None, defaults={"by": by, "until": until})[0]

    @classmethod
    def look(cls, kind: str, backend: str, by: Any, until: Any = None, **details: Any) -> Request:
        """The open request of this kind to a backend; a second click is the same one."""
        values = {"by": by, "until": until, "details": details}
        return cls.objects.get_or_create(kind=kind, backend=backend, cluster=None, done=None, defaults=values)[0]

    def claim(self, now: datetime, seconds: float) -> bool:
        """Whether this worker may look at it now; by compare-and-set, so that a backend that hangs holds up one worker."""
        free = Q(claimed__isnull=True) | Q(claimed__lt=now - timedelta(seconds=seconds))
        return type(self).objects.filter(free, pk=self.pk, done__isnull=True).update(claimed=now) == 1

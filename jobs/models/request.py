"""What a person wants done to a cluster: a row that the engine carries out, since no page may call a backend."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Request(models.Model):
    """`done` None: not carried out yet; `answer` says how it stands, or what came of it. One open request a kind and cluster."""

    class Kind(models.TextChoices):
        RELEASE = "release", "Release"
        EXTEND = "extend", "Longer walltime"

    kind = models.CharField(max_length=12, choices=Kind)
    cluster = models.ForeignKey("jobs.Cluster", models.CASCADE, related_name="requests")
    until = models.DateTimeField(null=True, help_text="The wanted end of a longer walltime")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    made = models.DateTimeField(default=timezone.now)
    done = models.DateTimeField(null=True)
    answer = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "cluster"], condition=Q(done__isnull=True), name="one_open_request_a_kind"),
        ]

    @classmethod
    def ask(cls, kind: str, cluster: Any, by: Any, until: Any = None) -> Request:
        """The open request; a second click is the same one."""
        return cls.objects.get_or_create(kind=kind, cluster=cluster, done=None, defaults={"by": by, "until": until})[0]

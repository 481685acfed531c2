"""A file on its way from its owner's files into the home of a workstation."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .file import StoredFile
from .workstation import Workstation


class Sent(models.Model):
    """Waits while `arrived` is None and `trouble` empty. `name` is its path in the home, from `arrived` on the one that it got there."""

    workstation = models.ForeignKey(Workstation, models.CASCADE, related_name="sent")
    file = models.ForeignKey(StoredFile, models.PROTECT, related_name="sent")
    name = models.CharField(max_length=4200)
    made = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    arrived = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["workstation"], condition=Q(arrived__isnull=True), name="sent_not_arrived")]

    def __str__(self) -> str:
        return self.name

    @property
    def waits(self) -> bool:
        return self.arrived is None and not self.trouble

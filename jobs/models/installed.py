"""What software the machines of a coretype really have: the wish to look, and what was found there.

One idea: nobody believes the catalogue. A version row says what may be asked for; what answers on a machine stands here, and
where nobody looked nothing is claimed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from .catalogue import Coretype, SoftwareVersion


class Look(models.Model):
    """One row a coretype: when a look was asked for, when one was done, and why it could not be."""

    coretype = models.OneToOneField(Coretype, models.CASCADE, primary_key=True, related_name="look")
    asked = models.DateTimeField(default=timezone.now)
    done = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=300, blank=True)

    @classmethod
    def ask(cls, coretype: Coretype, now: datetime | None = None) -> None:
        """The engine looks soon; a second wish is the same one."""
        cls.objects.update_or_create(coretype=coretype, defaults={"asked": now or timezone.now()})

    @classmethod
    def open(cls) -> models.QuerySet[Look]:
        """Those that wait to be done."""
        return cls.objects.filter(Q(done__isnull=True) | Q(done__lt=F("asked")))

    @property
    def waits(self) -> bool:
        return self.done is None or self.done < self.asked


class Installed(models.Model):
    """What answered when a version's own set-up lines and the software's detection ran there; `found` empty: nothing did."""

    coretype = models.ForeignKey(Coretype, models.CASCADE, related_name="installed")
    version = models.ForeignKey(SoftwareVersion, models.CASCADE, related_name="installed")
    found = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["version__software__order", "version__order", "pk"]
        constraints = [models.UniqueConstraint(fields=["coretype", "version"], name="one_look_a_coretype_and_version")]

    def __str__(self) -> str:
        return f"{self.version.software} {self.found}" if self.found else f"no {self.version}"

    @classmethod
    def note(cls, coretype: Coretype, version: SoftwareVersion, found: str, at: Any) -> None:
        cls.objects.update_or_create(coretype=coretype, version=version, defaults={"found": found[:80], "at": at})

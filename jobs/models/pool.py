"""What the backends last said they have. The engine's poll writes it, pages read it: a page never calls a backend."""

from __future__ import annotations

from django.db import models


class PoolState(models.Model):
    """Cores of one pool as its backend told them `at`. A backend that does not answer leaves the figures; `asked` goes on."""

    backend = models.CharField(max_length=40)
    code = models.CharField(max_length=40, blank=True, help_text="Coretype; empty: shared by all coretypes of the backend")
    total = models.PositiveIntegerField(null=True)
    queues_itself = models.BooleanField(default=False)
    limit = models.PositiveIntegerField(null=True, help_text="Clusters that may wait in its own queue")
    at = models.DateTimeField(null=True, help_text="When it told these figures")
    asked = models.DateTimeField(help_text="When it was asked last")
    trouble = models.CharField(max_length=300, blank=True, help_text="Why there was no answer")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["backend", "code"], name="one_row_a_pool")]

    def __str__(self) -> str:
        return f"{self.backend} {self.code}".strip()

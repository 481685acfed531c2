"""What the face itself keeps: sign-ins that failed. Everything else belongs to the domain."""

from __future__ import annotations

from django.db import models


class SignInTry(models.Model):
    """One try to sign in that failed, or is being looked at. Forgotten after a while; see throttle.py."""

    name = models.CharField(max_length=150, help_text="As it was typed, in lower case")
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "sign-in tries"

    def __str__(self) -> str:
        return self.name

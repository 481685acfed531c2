"""Whose account on a cluster a person's jobs run under: written by admins only."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

ACCOUNT = r"[a-z_][a-z0-9_-]{0,31}"
"""What the name of a Unix account looks like: nothing that a shell, sudo or Slurm could take for something else."""


class Account(models.Model):
    """A portal user's Unix account. Nobody chooses it for themselves, or another's for somebody."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="account")
    name = models.CharField(
        max_length=32, validators=[RegexValidator(rf"^{ACCOUNT}\Z", "This is no name of a Unix account, such as anna.")]
    )
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["user__username"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def of(cls, user_id: int) -> str:
        """The account's name; "" if none is mapped."""
        return cls.objects.filter(user=user_id).values_list("name", flat=True).first() or ""

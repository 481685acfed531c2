"""What workstations can be asked for: a session, its software, and the rules that an admin sets. Owned by admins."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone

from .roles import is_admin

GIB = 1 << 30
HOUR, DAY = 3600, 86400


def usual_idle_warnings() -> list[int]:
    """Seconds before an idle workstation is suspended at which its owner is told."""
    return [900, 300]


def usual_suspended_warnings() -> list[int]:
    """Days before a long-suspended workstation is ended at which its owner is told."""
    return [7, 3, 1]


class KindQuerySet(models.QuerySet["WorkstationKind"]):
    def offered_to(self, user: Any) -> KindQuerySet:
        """What is on offer to this person: open to everybody, or to one of their groups; admins get all that is active."""
        found = self.filter(active=True)
        if is_admin(user):
            return found
        return found.filter(models.Q(groups__isnull=True) | models.Q(groups__in=user.groups.all())).distinct()


class WorkstationKind(models.Model):
    """`start` replaces the session's own start; `save_command` asks its programs to save before they end.

    Times are seconds unless the name says days; 0 switches a rule off. A rule that is switched on, or made stricter, counts
    for what exists from that moment (`suspended_rule`, `life_rule`).
    """

    class Session(models.TextChoices):
        DESKTOP = "desktop", "Desktop"
        JUPYTER = "jupyter", "JupyterLab"
        TERMINAL = "terminal", "Terminal"

    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    session = models.CharField(max_length=12, choices=Session)
    software = models.TextField(blank=True, help_text="What is on it, a line each")
    start = models.TextField(blank=True, help_text="Shell lines that start the session; empty: as usual for its kind")
    save_command = models.TextField(blank=True, help_text="Shell lines that ask programs to save, run before they are ended")
    grace = models.PositiveIntegerField(default=15, help_text="Seconds between the request to end and the kill")
    home_limit = models.BigIntegerField(default=20 * GIB, validators=[MinValueValidator(1 << 20)], help_text="Bytes of a home")
    copy_every = models.PositiveIntegerField(
        default=1800, validators=[MinValueValidator(60)], help_text="Seconds between copies of the home"
    )
    idle_after = models.PositiveIntegerField(default=2 * HOUR, help_text="Seconds without work until it is suspended; 0: never")
    idle_warnings = models.JSONField(default=usual_idle_warnings, blank=True, help_text="Seconds before that at which its owner is told")
    keep_limit = models.PositiveIntegerField(default=DAY, help_text="Seconds from now until which a user may keep an idle one on")
    max_life = models.PositiveIntegerField(default=0, help_text="Seconds from its first start after which it is ended; 0: never")
    suspended_days = models.PositiveIntegerField(default=0, help_text="Days suspended after which it is ended; 0: never")
    suspended_warnings = models.JSONField(
        default=usual_suspended_warnings, blank=True, help_text="Days before that at which its owner is told"
    )
    suspended_rule = models.DateTimeField(null=True, editable=False, help_text="The rule for suspended ones is as strict as now since")
    life_rule = models.DateTimeField(null=True, editable=False, help_text="The rule for the longest life is as strict as now since")
    groups = models.ManyToManyField("auth.Group", blank=True, related_name="workstation_kinds", help_text="None chosen: everybody")
    coretypes = models.ManyToManyField(
        "jobs.Coretype", blank=True, related_name="workstation_kinds", help_text="None chosen: every coretype"
    )
    order = models.PositiveIntegerField(default=100)
    active = models.BooleanField(default=True)

    objects = KindQuerySet.as_manager()

    class Meta:
        ordering = ["order", "name"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Notes since when its rules are as strict as they are."""
        before = type(self).objects.filter(pk=self.pk).first() if self.pk else None
        now = timezone.now()
        if stricter(before.suspended_days if before else 0, self.suspended_days):
            self.suspended_rule = now
        if stricter(before.max_life if before else 0, self.max_life):
            self.life_rule = now
        super().save(*args, **kwargs)

    def refuses(self, user: Any, coretype: Any) -> str:
        """Why this person may not have it on this coretype; empty if they may."""
        if not WorkstationKind.objects.offered_to(user).filter(pk=self.pk).exists():
            return f"{self} is not offered to you; choose another kind."
        if not type(coretype).objects.offered_to(user).filter(pk=coretype.pk).exists():
            return f"{coretype} is not offered to you; choose another coretype."
        if self.coretypes.exists() and not self.coretypes.filter(pk=coretype.pk).exists():
            names = ", ".join(str(one) for one in self.coretypes.all()[:5])
            return f"{self} is not offered on {coretype}, only on {names}."
        return ""

    def clean(self) -> None:
        for name in ("idle_warnings", "suspended_warnings"):
            value = getattr(self, name)
            if not isinstance(value, list) or not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in value):
                raise ValidationError({name: "A list of whole numbers above 0, such as [900, 300]."})
        if self.idle_after and self.idle_after < 60:
            raise ValidationError({"idle_after": "Less than a minute would suspend it under its user's hands."})


def stricter(before: int, after: int) -> bool:
    """Whether a limit was switched on or shortened; 0 is no limit."""
    return bool(after) and (not before or after < before)

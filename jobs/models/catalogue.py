"""What can be asked for: regions, coretypes, software and its versions. Owned by admins."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models, transaction

from .account import Account
from .fields import MoneyField, rounded
from .roles import is_admin

GIB = 1 << 30
DEAREST = 1_000_000
"""A price is below it, so that the hold of a start fits into its column."""
SHORTEST = 60
"""Seconds of a walltime."""


def known_backend(name: str) -> None:
    if name not in settings.BACKENDS:
        raise ValidationError(f"There is no backend {name}; known: {', '.join(settings.BACKENDS)}.")


def _for_accounts_alone() -> list[str]:
    """Backends on which nobody runs without a Unix account of their own."""
    return [name for name, entry in settings.BACKENDS.items() if entry.get("OPTIONS", {}).get("accounts") == "only"]


def _price_trouble(price: Decimal | None) -> str:
    """Why it can't be one; empty if it can. None: not offered."""
    if price is None:
        return ""
    if price < 0:
        return "A price cannot be negative."
    if price >= DEAREST:
        return f"A price is less than {DEAREST:,}."
    return "" if rounded(price) == price else "A price has at most six decimals."


class Region(models.Model):
    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class CoretypeQuerySet(models.QuerySet["Coretype"]):
    def offered_to(self, user: Any) -> CoretypeQuerySet:
        """What is on offer to this person: open to everybody, or to one of their groups; admins get all that is active."""
        found = self.filter(active=True)
        if (own := _for_accounts_alone()) and not Account.of(user.pk):
            found = found.exclude(backend__in=own)
        if is_admin(user):
            return found
        return found.filter(models.Q(groups__isnull=True) | models.Q(groups__in=user.groups.all())).distinct()


class Coretype(models.Model):
    """A kind of hardware in a region. `cores` and `memory` (bytes) are those of a node; `price` is per core and hour.

    A price holds for clusters asked for after it was set. Every change of one is a row of PriceChange, written by `save`;
    set `changed_by` first.
    """

    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    region = models.ForeignKey(Region, models.PROTECT, related_name="coretypes")
    backend = models.CharField(max_length=40, validators=[known_backend])
    options = models.JSONField(default=dict, blank=True, help_text="Options of the backend, as it documents them")
    processor = models.CharField(max_length=120, blank=True)
    cores = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    memory = models.BigIntegerField(validators=[MinValueValidator(1)], help_text="Bytes a node")
    gpu = models.CharField(max_length=120, blank=True, help_text="What graphics a node has, such as 4 x A100 40 GB")
    groups = models.ManyToManyField("auth.Group", blank=True, related_name="coretypes", help_text="Who may use it; none chosen: everybody")
    software = models.ManyToManyField(
        "jobs.Software", blank=True, related_name="coretypes", help_text="What may run on it; none chosen: everything"
    )
    max_nodes = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    price = MoneyField(default=Decimal(0), help_text="Per core and hour")
    economy_price = MoneyField(null=True, blank=True, help_text="Per core and hour of work that may be interrupted; empty: not offered")
    disk_price = MoneyField(default=Decimal(0), help_text="Per GiB and hour of a suspended workstation")
    walltime_default = models.PositiveIntegerField(default=4 * 3600, help_text="Seconds")
    walltime_max = models.PositiveIntegerField(default=7 * 24 * 3600, help_text="Seconds")
    order = models.PositiveIntegerField(default=100)
    active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1, editable=False, help_text="Counts edits by people")

    objects = CoretypeQuerySet.as_manager()
    changed_by: Any = None

    class Meta:
        ordering = ["order", "name"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Writes the history of its prices too."""
        now = self.price, self.economy_price
        before = Coretype.objects.filter(pk=self.pk).values_list("price", "economy_price").first() if self.pk else None
        with transaction.atomic():
            super().save(*args, **kwargs)
            if now != before:
                PriceChange.objects.create(coretype=self, by=self.changed_by, price=now[0], economy_price=now[1])

    def price_of(self, economy: bool) -> Decimal:
        """Per core and hour, on demand or as work that may be interrupted."""
        return self.economy_price if economy and self.economy_price is not None else self.price

    def refuses(self, user: Any, software: Software) -> str:
        """Why this person may not run this software here; empty if they may."""
        if self.backend in _for_accounts_alone() and not Account.of(user.pk):
            return f"Jobs on {self} run under their owner's own account on the cluster, and you have none there; ask an admin to map it."
        if not Coretype.objects.offered_to(user).filter(pk=self.pk).exists():
            return f"{self} is not offered to you; choose another coretype."
        if self.software.exists() and not self.software.filter(pk=software.pk).exists():
            names = ", ".join(str(one) for one in self.software.all()[:5])
            return f"{software} is not offered on {self}, only {names}."
        return ""

    def hourly(self, nodes: int, cores: int) -> Decimal:
        """What `nodes` nodes of `cores` cores cost in an hour."""
        return self.price * nodes * cores

    def clean(self) -> None:
        for name in ("price", "economy_price", "disk_price"):
            if why := _price_trouble(getattr(self, name)):
                raise ValidationError({name: why})
        for name in ("walltime_default", "walltime_max"):
            if getattr(self, name) < SHORTEST:
                raise ValidationError({name: f"A walltime is at least {SHORTEST} seconds."})
        if not isinstance(self.options, dict):
            raise ValidationError({"options": 'Options are names with values, such as {"partition": "long"}.'})
        if self.walltime_default > self.walltime_max:
            raise ValidationError({"walltime_default": "The default walltime is longer than the longest."})


class PriceChange(models.Model):
    """What a coretype cost from `at` on; append-only."""

    coretype = models.ForeignKey(Coretype, models.CASCADE, related_name="prices")
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    price = MoneyField()
    economy_price = MoneyField(null=True)

    class Meta:
        ordering = ["-pk"]


class Software(models.Model):
    """A program that jobs run. `streams` names the files a solver writes beside stdout; `stop_command` asks it to end."""

    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    command = models.TextField(blank=True, help_text="Template of the launch command")
    streams = models.JSONField(default=dict, blank=True)
    stop_command = models.TextField(blank=True)
    detection = models.JSONField(default=dict, blank=True, help_text="How its version is told: a command and a pattern with one group")
    grace = models.PositiveIntegerField(default=60, help_text="Seconds between the stop signal and the kill")
    order = models.PositiveIntegerField(default=100)
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["order", "name"]
        verbose_name_plural = "software"

    def __str__(self) -> str:
        return self.name


class SoftwareVersion(models.Model):
    """Newest first by `order`."""

    software = models.ForeignKey(Software, models.CASCADE, related_name="versions")
    code = models.CharField(max_length=60)
    name = models.CharField(max_length=120)
    command = models.TextField(blank=True, help_text="Overrides the template of the software")
    setup = models.TextField(blank=True, help_text="Shell lines run before the command, such as module load")
    order = models.PositiveIntegerField(default=100)

    class Meta:
        ordering = ["order", "pk"]
        constraints = [models.UniqueConstraint(fields=["software", "code"], name="one_version_code_a_software")]

    def __str__(self) -> str:
        return f"{self.software} {self.name}" if self.name else str(self.software)

"""What can be asked for: regions, coretypes, software and its versions. Owned by admins."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models

from .fields import MoneyField

GIB = 1 << 30


def known_backend(name: str) -> None:
    if name not in settings.BACKENDS:
        raise ValidationError(f"There is no backend {name}; known: {', '.join(settings.BACKENDS)}.")


class Region(models.Model):
    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Coretype(models.Model):
    """A kind of hardware in a region. `cores` and `memory` (bytes) are those of a node; `price` is per core and hour."""

    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    region = models.ForeignKey(Region, models.PROTECT, related_name="coretypes")
    backend = models.CharField(max_length=40, validators=[known_backend])
    options = models.JSONField(default=dict, blank=True, help_text="Options of the backend, as it documents them")
    processor = models.CharField(max_length=120, blank=True)
    cores = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    memory = models.BigIntegerField(validators=[MinValueValidator(1)], help_text="Bytes a node")
    max_nodes = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    price = MoneyField(default=Decimal(0), help_text="Per core and hour")
    disk_price = MoneyField(default=Decimal(0), help_text="Per GiB and hour of a suspended workstation")
    walltime_default = models.PositiveIntegerField(default=4 * 3600, help_text="Seconds")
    walltime_max = models.PositiveIntegerField(default=7 * 24 * 3600, help_text="Seconds")
    order = models.PositiveIntegerField(default=100)
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["order", "name"]

    def __str__(self) -> str:
        return self.name

    def hourly(self, nodes: int, cores: int) -> Decimal:
        """What `nodes` nodes of `cores` cores cost in an hour."""
        return self.price * nodes * cores

    def clean(self) -> None:
        if self.price is not None and self.price < 0:
            raise ValidationError({"price": "A price cannot be negative."})
        if self.walltime_default > self.walltime_max:
            raise ValidationError({"walltime_default": "The default walltime is longer than the longest."})


class Software(models.Model):
    """A program that jobs run. `streams` names the files a solver writes beside stdout; `stop_command` asks it to end."""

    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    command = models.TextField(blank=True, help_text="Template of the launch command")
    streams = models.JSONField(default=dict, blank=True)
    stop_command = models.TextField(blank=True)
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

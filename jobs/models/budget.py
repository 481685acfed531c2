"""Money that someone may spend: budgets, holds, charges. Written by ledger.py alone."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .fields import MoneyField


class Unit(models.TextChoices):
    MONEY = "money", "Money"
    CORE_HOURS = "core-hours", "Core-hours"


class Strictness(models.TextChoices):
    STRICT = "strict", "Strict: never exceeded"
    SOFT = "soft", "Soft: running work may exceed it, with a warning"


class Budget(models.Model):
    """What a member, a project or the whole organization may spend.

    Target: `member` set, or `project` set, or neither (the organization). `spent` and `held` are sums kept beside the rows
    of Charge and Hold so that one conditional UPDATE decides a race.
    """

    name = models.CharField(max_length=120)
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="budgets")
    project = models.ForeignKey("jobs.Project", models.PROTECT, null=True, blank=True, related_name="budgets")
    unit = models.CharField(max_length=12, choices=Unit, default=Unit.MONEY)
    strictness = models.CharField(max_length=8, choices=Strictness, default=Strictness.STRICT)
    amount = MoneyField()
    spent = MoneyField(default=Decimal(0), editable=False)
    held = MoneyField(default=Decimal(0), editable=False)
    active = models.BooleanField(default=True)
    made = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(member__isnull=True) | Q(project__isnull=True), name="one_target_a_budget"),
            models.CheckConstraint(condition=Q(spent__gte=0, held__gte=0), name="money_is_not_negative"),
            models.CheckConstraint(
                condition=~Q(strictness="strict") | Q(amount__gte=F("spent") + F("held")), name="strict_is_never_exceeded"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def left(self) -> Decimal:
        """What is neither spent nor held."""
        return self.amount - self.spent - self.held

    @property
    def is_strict(self) -> bool:
        return self.strictness == Strictness.STRICT


class Hold(models.Model):
    """Reserved money of one budget for one attempt; shrinks as charges are taken from it."""

    budget = models.ForeignKey(Budget, models.PROTECT, related_name="holds")
    workload = models.ForeignKey("jobs.Workload", models.PROTECT, related_name="holds")
    attempt = models.PositiveIntegerField()
    amount = MoneyField()
    made = models.DateTimeField()
    released = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["budget", "workload", "attempt"], name="one_hold_an_attempt")]


class Charge(models.Model):
    """Spent money; append-only. `budget` None is the installation's own account."""

    budget = models.ForeignKey(Budget, models.PROTECT, null=True, related_name="charges")
    workload = models.ForeignKey("jobs.Workload", models.SET_NULL, null=True, related_name="charges")
    label = models.CharField(max_length=200, help_text="Name of the workload, kept when it is deleted")
    attempt = models.PositiveIntegerField()
    amount = MoneyField()
    cores = models.PositiveIntegerField()
    price = MoneyField()
    start = models.DateTimeField()
    end = models.DateTimeField()
    made = models.DateTimeField()
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["workload", "attempt"]), models.Index(fields=["budget", "-made"])]

    def save(self, *args: object, **kwargs: object) -> None:
        if self.pk:
            raise TypeError("charges are append-only; book an adjustment")
        super().save(*args, **kwargs)

    def delete(self, *args: object, **kwargs: object) -> tuple[int, dict[str, int]]:
        raise TypeError("charges are append-only; book an adjustment")

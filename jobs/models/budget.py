"""Money that someone may spend: budgets, holds, charges. Written by ledger.py alone."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, Q

from .append_only import AppendOnly, AppendOnlyQuerySet
from .fields import MoneyField
from .many import insert
from .spend import Spend


def usual_thresholds() -> list[int]:
    """Percent of the limit at which people are told."""
    return [75, 90, 100]


def known_zone(name: str) -> None:
    if name not in available_timezones():
        raise ValidationError(f"There is no time zone {name}; names are like Europe/Berlin.")


class Unit(models.TextChoices):
    MONEY = "money", "Money"
    CORE_HOURS = "core-hours", "Core-hours"


class Strictness(models.TextChoices):
    STRICT = "strict", "Strict: never exceeded"
    SOFT = "soft", "Soft: running work may exceed it, with a warning"


class Recurrence(models.TextChoices):
    ONCE = "", "Once"
    MONTH = "month", "Every month"
    QUARTER = "quarter", "Every quarter"
    YEAR = "year", "Every year"


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
    recurrence = models.CharField(max_length=8, choices=Recurrence, default=Recurrence.ONCE, blank=True)
    zone = models.CharField(max_length=40, default="UTC", validators=[known_zone], help_text="Time zone in which its periods turn")
    grant = MoneyField(default=Decimal(0), help_text="What every period begins with")
    carry = models.BooleanField(default=False, help_text="What is left goes over to the next period")
    turns = models.DateTimeField(null=True, blank=True, editable=False, help_text="The period ends here")
    begins = models.DateTimeField(null=True, blank=True, editable=False, help_text="Of use from here on; empty: at once")
    ends = models.DateTimeField(null=True, blank=True, editable=False, help_text="Of use up to here; empty: until it is used up")
    thresholds = models.JSONField(default=usual_thresholds, blank=True, help_text="Percent of the limit at which people are told")
    active = models.BooleanField(default=True)
    made = models.DateTimeField(auto_now_add=True)
    version = models.PositiveIntegerField(default=1, editable=False, help_text="Counts edits by people")

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["turns"], condition=Q(turns__isnull=False), name="budget_turns")]
        constraints = [
            models.CheckConstraint(condition=Q(member__isnull=True) | Q(project__isnull=True), name="one_target_a_budget"),
            models.CheckConstraint(condition=Q(spent__gte=0, held__gte=0), name="money_is_not_negative"),
            models.CheckConstraint(
                condition=~Q(strictness="strict") | Q(amount__gte=F("spent") + F("held")), name="strict_is_never_exceeded"
            ),
            models.CheckConstraint(condition=Q(begins=None) | Q(ends=None) | Q(ends__gt=F("begins")), name="budget_ends_after_it_begins"),
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

    @property
    def target(self) -> tuple[int | None, int | None]:
        """Whose it is: ids of the member and of the project; neither is the organization."""
        return self.member_id, self.project_id

    def early(self, now: datetime) -> bool:
        """Whether its first day is still to come."""
        return self.begins is not None and now < self.begins

    def ended(self, now: datetime) -> bool:
        """Whether its last day is over."""
        return self.ends is not None and now >= self.ends


class BudgetPeriod(models.Model):
    """One period of a recurring budget; its key is there once, so two beats begin it once. `spent` is known at its end."""

    budget = models.ForeignKey(Budget, models.CASCADE, related_name="periods")
    key = models.CharField(max_length=16, help_text="2026-11, 2026-Q4 or 2026")
    start = models.DateTimeField()
    end = models.DateTimeField()
    amount = MoneyField()
    carried = MoneyField(default=Decimal(0))
    spent = MoneyField(null=True)

    class Meta:
        ordering = ["-start"]
        constraints = [models.UniqueConstraint(fields=["budget", "key"], name="one_row_a_period")]


class BudgetNotice(models.Model):
    """A threshold that was passed, told once in a period. `mailed` None: its mails have not been sent yet."""

    budget = models.ForeignKey(Budget, models.CASCADE, related_name="notices")
    period = models.CharField(max_length=16, blank=True)
    percent = models.PositiveIntegerField()
    at = models.DateTimeField()
    mailed = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["budget", "period", "percent"], name="told_once_a_period")]


class Hold(models.Model):
    """Reserved money of one budget for one attempt; shrinks as charges are taken from it."""

    budget = models.ForeignKey(Budget, models.PROTECT, related_name="holds", db_index=False)
    workload = models.ForeignKey("jobs.Workload", models.PROTECT, related_name="holds")
    attempt = models.PositiveIntegerField()
    amount = MoneyField()
    made = models.DateTimeField()
    since = models.DateTimeField(null=True, help_text="Pays from here on, in place of a budget that ends then; empty: from the start")
    released = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["budget", "workload", "attempt"], name="one_hold_an_attempt")]

    def early(self, now: datetime) -> bool:
        """Whether its turn to pay is still to come."""
        return self.since is not None and now < self.since


class ChargeQuerySet(AppendOnlyQuerySet):
    """What is used is added up with it."""

    def bulk_create(self, objs: Any) -> list[Charge]:  # type: ignore[override]
        with transaction.atomic(savepoint=False):
            made = insert(objs)
            Spend.add(made)
        return made


class Charge(AppendOnly):
    """One row of the ledger; append-only, on PostgreSQL by the database itself. `budget` None: the installation's own account.

    `amount` is what it takes from the budget: less than nothing for what it gives (a grant, a refund). `left` is what the
    budget had neither spent nor lost after it, holds aside. Who, where and with what are kept when the workload is deleted.
    """

    APPEND_ONLY = "charges are append-only; book an adjustment"

    class Kind(models.TextChoices):
        USE = "use", "Use"
        DISK = "disk", "Disk"
        ADJUSTMENT = "adjustment", "Adjustment"
        LIMIT = "limit", "Limit"
        PERIOD = "period", "Period"

    budget = models.ForeignKey(Budget, models.PROTECT, null=True, related_name="charges", db_index=False)
    workload = models.ForeignKey("jobs.Workload", models.SET_NULL, null=True, related_name="charges", db_index=False)
    label = models.CharField(max_length=200, help_text="Name of the workload, kept when it is deleted")
    attempt = models.PositiveIntegerField()
    amount = MoneyField()
    cores = models.PositiveIntegerField()
    price = MoneyField()
    start = models.DateTimeField()
    end = models.DateTimeField()
    made = models.DateTimeField()
    note = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.USE)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", db_index=False)
    left = MoneyField(null=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    project = models.ForeignKey("jobs.Project", models.SET_NULL, null=True, related_name="+")
    coretype = models.ForeignKey("jobs.Coretype", models.SET_NULL, null=True, related_name="+")
    software = models.CharField(max_length=120, blank=True)

    objects = ChargeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["workload", "attempt"]),
            models.Index(fields=["budget", "-made"]),
            models.Index(fields=["budget", "-id"], name="ledger_of_a_budget"),
            models.Index(fields=["by"], condition=models.Q(by__isnull=False), name="charge_by"),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        with transaction.atomic():
            super().save(*args, **kwargs)
            Spend.add([self])
